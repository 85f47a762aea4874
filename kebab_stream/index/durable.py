"""Bringing what was written to disk, and telling why it cannot be written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kebab_stream.errors import StorageError


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def no_folder(path: Path, attempt: str) -> StorageError:
    """The error where the data folder is something else, and `attempt`, such as "read", must fail."""
    return StorageError(f"cannot {attempt} {path}: it is no folder", "set storage.data_dir to a folder")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the operating system says against writing into an error of ours.

    Raises:
        StorageError: names the path and the reason, such as a full disk.
    """
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
