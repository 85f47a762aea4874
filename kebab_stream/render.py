"""Results to bytes: the one serializer behind single search, bulk and MCP, and text made safe for a terminal."""

import re
from typing import Any

import orjson

from kebab_stream.errors import KebabError
from kebab_stream.model import ErrorRecord

# C0 and C1 controls (among them ESC and CSI), DEL, and the invisible marks that reorder or hide text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def to_json(value: object) -> bytes:
    """One value as compact UTF-8 JSON, keys in field order, without a newline."""
    return orjson.dumps(value)


def error_record(error: KebabError) -> ErrorRecord:
    """The wire form of an error of ours."""
    hint = None if error.hint is None else encodable(error.hint)
    return ErrorRecord(code=error.code, message=encodable(str(error)), details=_encodable(error.details), hint=hint)


def generic_record(error: BaseException) -> ErrorRecord:
    """The wire form of an error nobody foresaw: a bug to be looked at."""
    return ErrorRecord(
        code="generic",
        message=encodable(f"{type(error).__name__}: {error}"),
        details={},
        hint="this is a bug; please report it with the command that caused it",
    )


def error_text(record: ErrorRecord, *, with_hint: bool = True) -> str:
    """An error for people: `error: [code] message`, and its hint on a second line."""
    text = f"error: [{record.code}] {printable(record.message)}"
    return f"{text}\nhint: {printable(record.hint)}" if record.hint and with_hint else text


def encodable(text: str) -> str:
    """The text with what UTF-8 cannot hold (lone surrogates) as backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _encodable(value: Any) -> Any:
    """A JSON value with all its texts encodable."""
    match value:
        case str():
            return encodable(value)
        case dict():
            return {encodable(key): _encodable(part) for key, part in value.items()}
        case list() | tuple():
            return [_encodable(part) for part in value]
        case _:
            return value


def printable(text: str) -> str:
    """The text with control characters, escape sequences and reordering marks made visible and harmless.

    White space becomes one space each, so that the result is a single line.
    """
    return _UNSAFE.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    char = match.group()
    if char in "\t\n\r\x0b\x0c\x85\u2028\u2029":
        return " "
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"
