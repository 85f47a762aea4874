"""Read one TOML file, and say where in it the fault is."""

from pathlib import Path

from kebab_stream.config.keys import printable
from kebab_stream.errors import ConfigInvalidError

MAX_BYTES = 1 << 20
"""A config file is written by hand; anything larger is some other file."""


def read_toml(file: Path) -> dict[str, object] | None:
    """The parsed file, None where there is none.

    Raises:
        ConfigInvalidError: the file cannot be read, is too large, is not UTF-8 or is no TOML; names line and column.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unusable(file, f"cannot be read: {error.strerror}") from error
    except ValueError as error:  # a NUL in the name
        raise _unusable(file, f"cannot be read: {error}") from error
    if len(content) > MAX_BYTES:
        raise _unusable(file, f"is larger than {MAX_BYTES} bytes, so it is no config file")
    return _parsed(file, content)


def _parsed(file: Path, content: bytes) -> dict[str, object]:
    import tomllib  # 5 ms that a run without a config file need not spend

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", "replace")
        raise _unusable(file, f"is not UTF-8 ({_end_of(before)})") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = str(error).replace("at end of document", _end_of(text))
        raise _unusable(file, f"is not valid TOML: {problem}") from error
    except (RecursionError, ValueError) as error:  # Python limits nesting and digits, TOML does not
        raise _unusable(file, "is not usable TOML: nested too deeply, or a number is too long") from error


def _end_of(text: str) -> str:
    """Where the next character would stand; lines and columns count from 1."""
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    return f"at line {line}, column {column}"


def _unusable(file: Path, problem: str) -> ConfigInvalidError:
    path = printable(str(file))
    return ConfigInvalidError(
        f"config file {path} {problem}", "correct the file, or name another with --config", {"path": path}
    )
