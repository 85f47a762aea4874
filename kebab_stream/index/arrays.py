"""The files of a generation as arrays: raw little-endian numbers without a header, mapped into memory."""

import os
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kebab_stream.errors import IndexCorruptError, StorageError

Scalar = TypeVar("Scalar", bound=np.generic)


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write the numbers of an array, in C order, to a file that must not exist yet: others may have it mapped.

    Raises:
        OSError: with the system's own reason, which `ndarray.tofile` would hide.
    """
    with path.open("xb") as file:
        file.write(np.ascontiguousarray(array).data)


def mapped(path: Path, dtype: "np.dtype[Scalar]") -> NDArray[Scalar]:
    """A whole file as a read-only array of one axis, which stays readable when the file is removed.

    Raises:
        IndexCorruptError: the file is missing, or ends within a number.
        StorageError: it cannot be read.
    """
    content = mapped_bytes(path)
    if len(content) % dtype.itemsize:
        raise IndexCorruptError(str(path), "cut short")
    return np.frombuffer(content, dtype) if content else np.empty(0, dtype)


def mapped_bytes(path: Path) -> mmap | bytes:
    """A whole file as a read-only map, which stays readable when the file is removed.

    Raises:
        IndexCorruptError: the file is missing.
        StorageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return mmap(file.fileno(), size, access=ACCESS_READ) if size else b""  # nothing cannot be mapped
    except (FileNotFoundError, NotADirectoryError) as error:
        raise IndexCorruptError(str(path), "missing") from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
