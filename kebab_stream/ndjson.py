"""NDJSON without I/O: bytes in, numbered lines out; a line in, its JSON value or the reason why it has none."""

from dataclasses import dataclass
from typing import Final, TypeAlias

import orjson

JSON_SPACE: Final = b" \t\r\n"
"""What JSON allows around a value; a line of nothing else is blank."""
_BOM: Final = b"\xef\xbb\xbf"

Json: TypeAlias = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Line:
    """One physical line, counted from 1, without its `\\n` or `\\r\\n`; other white space is kept."""

    number: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line longer than the limit, its `size` bytes dropped as they came."""

    number: int
    size: int


@dataclass(frozen=True, slots=True)
class Malformed:
    """Why some bytes are not one JSON value; `problem` quotes nothing of them."""

    problem: str


class LineDecoder:
    """Cuts a stream into lines at `\\n` and nowhere else, wherever its chunks end.

    Blank lines are counted and left out. A byte order mark at the very start is removed.
    Holds at most `limit` bytes, whatever arrives; the limit counts every byte before the `\\n`, so also a
    byte order mark and a `\\r`.
    """

    __slots__ = ("_held", "_limit", "_number", "_size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._number = 1
        self._size = 0

    @property
    def overflowing(self) -> Oversized | None:
        """The unfinished line, if it is already too long; `size` is what came so far."""
        return Oversized(self._number, self._size) if self._size > self._limit else None

    def feed(self, chunk: bytes) -> list[Line | Oversized]:
        """Take the next bytes; return the lines that end in them."""
        *ended, rest = chunk.split(b"\n")
        lines: list[Line | Oversized] = []
        for piece in ended:
            if piece or self._size:
                self._hold(piece)
                lines += self._take(b"\r")
            else:
                self._number += 1  # megabytes of bare newlines take this way
        self._hold(rest)
        return lines

    def flush(self) -> list[Line | Oversized]:
        """The stream has ended; return its last line if that had no newline."""
        return self._take(b"")

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._limit:
            self._held += piece
        else:
            self._held.clear()

    def _take(self, line_end: bytes) -> list[Line | Oversized]:
        number, size, data = self._number, self._size, bytes(self._held)
        self._held.clear()
        self._number, self._size = number + 1, 0
        if size > self._limit:
            return [Oversized(number, size)]
        if number == 1:
            data = data.removeprefix(_BOM)
        return [Line(number, data.removesuffix(line_end))] if data.strip(JSON_SPACE) else []


def parse_json(data: bytes) -> Json | Malformed:
    """Decode one JSON value. Never raises on bad input: a bad line is a result.

    Accepts what `orjson.loads` accepts: UTF-8, one value, no NaN, no number beyond a double, no lone
    surrogates, at most 1,024 levels. Integers beyond 64 bits become floats; the last of equal keys wins.
    """
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return Malformed(_problem(data, error))
    return value


def _problem(data: bytes, error: orjson.JSONDecodeError) -> str:
    # orjson does not say where bad UTF-8 stands.
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        return f"not valid UTF-8 at byte {bad.start + 1}"
    return f"not valid JSON: {error.msg} at character {error.pos + 1}"
