"""What is ours in a data folder. A folder chosen by mistake may hold anything else, which nobody touches.

Symbolic links below the data folder are not followed: we make none, so what is behind them is not ours. One in the
place of the index folder is refused by all, before anything is read, written or removed.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kebab_stream.errors import StorageError
from kebab_stream.index.cache import CACHE_FILE
from kebab_stream.index.durable import no_folder, sync
from kebab_stream.index.lock import LOCK_FILE, PID_FILE
from kebab_stream.index.snapshot import index_folder
from kebab_stream.index.store import STORE_FILE
from kebab_stream.index.store_writer import STORE_COPY

_FILES = (
    STORE_FILE,  # first: without it nothing is indexed, so a removal that is cut short leaves no damaged index
    *(f"{STORE_FILE}-{suffix}" for suffix in ("journal", "wal", "shm")),  # of a program that opened it
    STORE_COPY,
    CACHE_FILE,
    *(f"{CACHE_FILE}-{suffix}" for suffix in ("journal", "wal", "shm")),
)
_GENERATION = re.compile(r"\d{8,}-[0-9a-f]{12}|\.\d{8,}-[0-9a-f]{12}\.partial")


def own_paths(data_dir: Path) -> list[Path]:
    """The files and index folders of ours that are there, the store first; without those of the write lock.

    Raises:
        IndexCorruptError: the index folder is a link.
        StorageError: the folder cannot be listed, or is none.
    """
    with _listing(data_dir):
        if not data_dir.is_dir() and os.path.lexists(data_dir):
            raise no_folder(data_dir, "read")
        files = [path for name in _FILES if (path := data_dir / name).is_symlink() or path.is_file()]
        return [*files, *generations(data_dir)]


def leftovers(data_dir: Path, revision: str | None) -> list[Path]:
    """What runs that were killed left: the next writer removes it. Meaningless while somebody writes.

    Args:
        revision: the current `corpus_revision`.

    Raises:
        IndexCorruptError: the index folder is a link.
        StorageError: the folder cannot be listed.
    """
    with _listing(data_dir):
        copy = data_dir / STORE_COPY
        old = [folder for folder in generations(data_dir) if folder.name != revision]
        return [copy, *old] if copy.is_file() else old


def size_of(path: Path) -> int:
    """Bytes in a file, or in the files of a folder. What vanishes meanwhile counts as nothing."""
    try:
        return sum(map(size_of, path.iterdir())) if path.is_dir() else path.lstat().st_size
    except OSError:
        return 0


def remove_own(data_dir: Path) -> list[str]:
    """Remove what is ours; the names that were removed. The caller holds the write lock, whose files go last.

    If it is cut short, there is no store any more, or everything is still there.

    Raises:
        IndexCorruptError: the index folder is a link; everything is still there.
        StorageError: something cannot be removed.
    """
    removed = []
    for path in own_paths(data_dir):
        with _removing(path):
            _remove(path)
            if path.name == STORE_FILE:
                sync(data_dir)
        removed.append(str(path.relative_to(data_dir)))
    index = index_folder(data_dir)
    with _removing(index):
        if index.is_dir() and not any(index.iterdir()):
            index.rmdir()
    for name in (PID_FILE, LOCK_FILE):
        with _removing(data_dir / name):
            (data_dir / name).unlink(missing_ok=True)
    return removed


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def generations(data_dir: Path) -> list[Path]:
    """The folders of index files, whole and partial, by name. Raises IndexCorruptError: the index folder is a link."""
    folder = index_folder(data_dir)
    if not folder.is_dir():
        return []
    names = sorted(path.name for path in folder.iterdir() if _GENERATION.fullmatch(path.name))
    return [path for name in names if (path := folder / name).is_dir() and not path.is_symlink()]


@contextmanager
def _listing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot read {folder}: {error.strerror or error}") from error


@contextmanager
def _removing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot remove {path}: {error.strerror or error}") from error
