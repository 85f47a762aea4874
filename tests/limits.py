"""What the operating system can refuse, for real: a full disk, a folder that may not be read or written."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

NOBODY = 65534


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Files cannot grow beyond `size` bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def public_folder() -> Iterator[Path]:
    """A folder that every user may reach, unlike those that pytest makes."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def restricted(path: Path, mode: int) -> Iterator[None]:
    """A file or folder has this mode, and it counts: root, whom modes do not stop, becomes nobody."""
    before = path.stat().st_mode
    is_root = os.geteuid() == 0
    path.chmod(mode)
    try:
        if is_root:
            os.seteuid(NOBODY)
        yield
    finally:
        if is_root:
            os.seteuid(0)
        path.chmod(before)
