"""Reads a whole batch before anything is searched, so that a bad one has no half answers."""

from collections.abc import AsyncIterable, Iterable

from kebab_stream.bulk.validate import LIMITS, BatchLine, Limits, batch_line, too_big, too_many
from kebab_stream.ndjson import Line, LineDecoder, Oversized


async def read_batch(chunks: AsyncIterable[bytes], limits: Limits = LIMITS) -> list[BatchLine]:
    """Read lines until the stream ends; return the non-blank ones.

    Stops at the first problem, without waiting for the rest of the stream. The line beyond the last allowed item is
    not looked at: it is one too many, whatever it holds.

    Raises:
        ConfigInvalidError: a line is too long or not one JSON value; too many items; too many bytes in all.
    """
    decoder = LineDecoder(limits.line_bytes)
    batch: list[BatchLine] = []
    room = limits.total_bytes
    async for chunk in chunks:
        _extend(batch, decoder.feed(chunk[:room]), limits)
        if decoder.overflowing:
            _extend(batch, [decoder.overflowing], limits)
        room -= len(chunk)
        if room < 0:
            raise too_big(limits)
    _extend(batch, decoder.flush(), limits)
    return batch


def _extend(batch: list[BatchLine], lines: Iterable[Line | Oversized], limits: Limits) -> None:
    for line in lines:
        if len(batch) == limits.items:
            raise too_many(limits)
        batch.append(batch_line(line, limits))
