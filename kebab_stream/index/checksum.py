"""Checksums: what tells stored bytes that were damaged from those that were written.

CRC-32 finds every flip of up to 32 neighbouring bits and misses one in four billion of all other damages. Reading and
comparing takes 0.1 ms/MiB, so whatever is small is looked at each time it is opened. Against forgery it is no help.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from isal import isal_zlib

from kebab_stream.errors import IndexCorruptError, StorageError

CHECKED_BYTES = 16 << 20
"""So much of the store, and of the index files, is compared whenever they are opened: at most 4 ms for both, of the
150 that a search takes from the shell."""

_BLOCK_BYTES = 1 << 17


def checksum(blocks: Iterable[bytes | memoryview]) -> int:
    """The CRC-32 of bytes that come in blocks."""
    value = 0
    for block in blocks:
        value = isal_zlib.crc32(block, value)
    return value


def blocks(file: FileIO) -> Iterator[memoryview]:
    """The rest of a file, piece by piece; each is overwritten by the next."""
    buffer = bytearray(_BLOCK_BYTES)
    while count := file.readinto(buffer):
        yield memoryview(buffer)[:count]


def written(value: int) -> str:
    """A checksum as a manifest has it: hexadecimal."""
    return f"{value:08x}"


def open_at_once(path: str, flags: int) -> int:
    """An opener for `open` that never waits, as opening a named pipe would for its writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def is_regular(file: BinaryIO) -> bool:
    """Whether an open file is none of the things, such as a pipe or a device, that only share its kind of name."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def file_checksum(path: Path) -> str:
    """The CRC-32 of a file, in hexadecimal.

    Raises:
        IndexCorruptError: it is missing, or no file.
        StorageError: it cannot be read.
    """
    try:
        with open(path, "rb", buffering=0, opener=open_at_once) as file:  # Path.open takes no opener
            if not is_regular(file):
                raise IndexCorruptError(str(path), "no regular file")
            return written(checksum(blocks(file)))
    except (FileNotFoundError, NotADirectoryError):
        raise IndexCorruptError(str(path), "missing") from None
    except IsADirectoryError:
        raise IndexCorruptError(str(path), "a folder") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def check_file(path: Path, expected: str) -> None:
    """Compare a file with the checksum taken when it was written.

    Raises:
        IndexCorruptError: it is not what was written, or missing.
        StorageError: it cannot be read.
    """
    if file_checksum(path) != expected:
        raise IndexCorruptError(str(path), "its bytes are not those that were written")
