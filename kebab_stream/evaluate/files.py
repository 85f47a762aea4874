"""Opens what an evaluation reads."""

from pathlib import Path
from typing import BinaryIO

from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.index.checksum import is_regular, open_at_once


def opened(path: Path, hint: str) -> BinaryIO:
    """A file to read; a pipe is none, as nobody may ever write to it.

    Raises:
        InvalidInputError: it is not there, or no file.
        StorageError: it cannot be read.
    """
    try:
        file = open(path, "rb", opener=open_at_once)  # noqa: SIM115  # the caller closes it
    except FileNotFoundError as error:
        raise InvalidInputError(f"{path} does not exist", hint, {"path": str(path)}) from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}", None, {"path": str(path)}) from error
    if not is_regular(file):
        file.close()
        raise InvalidInputError(f"{path} is no file", hint, {"path": str(path)})
    return file
