"""Cutting an input into batches, and going on where one ends."""

from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.bulk.validate import LIMITS
from kebab_stream.ndjson import JSON_SPACE, Line
from kebab_stream.replay.lines import BATCH_BYTES, BATCH_LINES, Batch, BatchCutter, LongLine, Position, batches

START = Position()

pieces = st.sampled_from(
    [b"", b" ", b"\r", b'{"query":"a"}', b"x", b"\xff\xfe", b"\xef\xbb\xbf", "커피".encode(), b"{}\r"]
)
inputs = st.tuples(st.lists(pieces, max_size=130), st.booleans()).map(
    lambda drawn: b"\n".join(drawn[0]) + (b"\n" if drawn[1] else b"")
)


def cut(data: bytes, start: Position = START, step: int = 1 << 16) -> list[Batch]:
    cutter = BatchCutter(start)
    rest = data[start.offset :]
    found = [batch for at in range(0, len(rest), step) for batch in cutter.feed(rest[at : at + step])]
    return found + cutter.flush()


def plainly(data: bytes) -> list[Line]:
    """The lines that are not blank, in a straightforward way."""
    lines = enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
    return [Line(number, line.removesuffix(b"\r")) for number, line in lines if line.strip(JSON_SPACE)]


@given(inputs, st.integers(1, 40))
def test_batches_hold_all_lines_wherever_the_stream_is_cut(data: bytes, step: int) -> None:
    found = cut(data, step=step)

    lines = [line for batch in found for line in batch.lines]
    assert [line.data.strip(JSON_SPACE) for line in lines if isinstance(line, Line)] == [
        line.data.strip(JSON_SPACE) for line in plainly(data)
    ]
    assert [line.number for line in lines] == [line.number for line in plainly(data)]
    assert all(0 < len(batch.lines) <= BATCH_LINES for batch in found[:-1])


@given(inputs)
def test_lines_and_blank_lines_are_counted(data: bytes) -> None:
    found = cut(data)

    physical = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    assert sum(len(batch.lines) + batch.blank_lines for batch in found) == physical
    assert (found[-1].end if found else Position()) == Position(len(data), physical)


@given(inputs, st.data())
def test_going_on_at_the_end_of_a_batch_gives_the_other_batches(data: bytes, draw: st.DataObject) -> None:
    whole = cut(data)
    if not whole:
        return
    done = draw.draw(st.integers(1, len(whole)))

    assert cut(data, start=whole[done - 1].end) == whole[done:]


def test_a_byte_order_mark_counts_as_one_at_the_start_of_the_input_only() -> None:
    data = b"1\n" * BATCH_LINES + b"\xef\xbb\xbf2\n"
    first, second = cut(data)

    assert second.lines == (Line(BATCH_LINES + 1, b"\xef\xbb\xbf2"),)
    assert cut(data, start=first.end) == [second]


def test_of_a_line_that_is_too_long_the_beginning_is_kept() -> None:
    long = b"a" * (LIMITS.line_bytes + 1)
    (batch,) = cut(b"1\n" + long + b"\n3")

    assert [line.number for line in batch.lines] == [1, 2, 3]
    kept = batch.lines[1]
    assert isinstance(kept, LongLine)
    assert (len(kept.head), set(kept.head)) == (4096, {ord("a")})


def test_a_batch_of_long_lines_is_cut_early() -> None:
    line = b"[" + b" " * (LIMITS.line_bytes - 100) + b"]\n"
    found = cut(line * 4)

    assert [len(batch.lines) for batch in found] == [2, 2]
    assert 2 * len(line) > BATCH_BYTES


async def test_what_arrives_of_a_stream_is_passed_on_at_once() -> None:
    async def typed() -> AsyncIterator[bytes]:
        yield b'{"query":"a"}\n{"qu'
        yield b'ery":"b"}\n'

    found = [len(batch.lines) async for batch in batches(typed(), Position(), at_once=True)]

    assert found == [1, 1]
