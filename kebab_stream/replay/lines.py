"""Cuts the input into batches of lines, each knowing where the input goes on after it. No I/O, but for `batches`."""

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from typing import Final

from kebab_stream.bulk.validate import LIMITS
from kebab_stream.ndjson import Line, LineDecoder, Oversized

BATCH_LINES: Final = 50
"""Half of what a bulk run may bring: less is held while answers wait for those before them."""
BATCH_BYTES: Final = 1 << 20
ECHO_CHARS: Final = 1024
"""The most that is echoed of a bad line."""
_HEAD_BYTES: Final = 4 * ECHO_CHARS


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line beyond the limit, of which only the beginning is kept."""

    number: int
    head: bytes


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the input, at the beginning of a line: bytes and physical lines before it."""

    offset: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Some lines that are not blank, at most `BATCH_LINES`; none where only blank lines were left."""

    lines: tuple[Line | LongLine, ...]
    blank_lines: int
    """Blank lines before, between and after them."""
    end: Position
    """Where the next batch begins."""


class BatchCutter:
    """Cuts a stream into batches, wherever its chunks end. Holds one batch and one line at most."""

    def __init__(self, start: Position = Position()) -> None:
        self._decoder = LineDecoder(LIMITS.line_bytes)
        self._before = start.lines
        if start.lines:
            # Line 1 of the decoder loses a byte order mark; here only line 1 of the input may.
            self._decoder.feed(b"\n")
            self._before -= 1
        self._begun = self._end = start
        self._pending = 0
        self._head = b""
        self._lines: list[Line | LongLine] = []
        self._bytes = 0

    def feed(self, chunk: bytes) -> list[Batch]:
        """Take the next bytes; return the batches that are full with them."""
        full = []
        start = 0
        while end := chunk.find(b"\n", start) + 1:
            self._take(chunk[start:end])
            if len(self._lines) == BATCH_LINES or self._bytes >= BATCH_BYTES:
                full.append(self._cut())
            start = end
        if rest := chunk[start:]:
            self._decoder.feed(rest)
            self._hold(rest)
        return full

    def rest(self) -> list[Batch]:
        """What is there of a batch that is not full. A line without its end stays."""
        return [self._cut()] if self._lines else []

    def flush(self) -> list[Batch]:
        """The stream has ended; return what is left, be it blank lines."""
        if self._pending:
            self._end_line(self._decoder.flush())
        return [self._cut()] if self._end.lines > self._begun.lines else []

    def _take(self, piece: bytes) -> None:
        """The next bytes, up to a newline and with it."""
        self._hold(piece)
        self._end_line(self._decoder.feed(piece))

    def _hold(self, piece: bytes) -> None:
        self._pending += len(piece)
        if len(self._head) < _HEAD_BYTES:
            self._head += piece[: _HEAD_BYTES - len(self._head)]

    def _end_line(self, found: list[Line | Oversized]) -> None:
        for line in found:  # one, or none where it is blank
            number = line.number + self._before
            if isinstance(line, Oversized):
                self._lines.append(LongLine(number, self._head))
            else:
                self._lines.append(Line(number, line.data))
                self._bytes += len(line.data)
        self._end = Position(self._end.offset + self._pending, self._end.lines + 1)
        self._pending, self._head = 0, b""

    def _cut(self) -> Batch:
        blank = self._end.lines - self._begun.lines - len(self._lines)
        batch = Batch(tuple(self._lines), blank, self._end)
        self._begun = self._end
        self._lines, self._bytes = [], 0
        return batch


async def batches(chunks: AsyncIterable[bytes], start: Position, *, at_once: bool) -> AsyncIterator[Batch]:
    """The batches of a stream that begins at `start`.

    Args:
        at_once: pass on what has arrived without waiting until a batch is full, for streams that somebody types or
            follows.
    """
    cutter = BatchCutter(start)
    async for chunk in chunks:
        for batch in cutter.feed(chunk):
            yield batch
        if at_once:
            for batch in cutter.rest():
                yield batch
    for batch in cutter.flush():
        yield batch
