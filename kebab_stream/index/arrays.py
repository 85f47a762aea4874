"""Reading the `.npy` files of a generation."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kebab_stream.errors import IndexCorruptError


def load_array(path: Path) -> NDArray[Any]:
    """A memory-mapped array (an empty one cannot be mapped and is read).

    Raises:
        IndexCorruptError: the file is missing or is no array.
    """
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise IndexCorruptError(str(path), "missing") from None
    except (ValueError, OSError, EOFError):
        return _load_unmapped(path)
    return array


def _load_unmapped(path: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise IndexCorruptError(str(path), str(error)) from error
    return array
