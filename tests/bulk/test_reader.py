"""What a batch may be: every rule of the input, and which problem is told when there are several."""

from collections.abc import AsyncIterator

import pytest

from kebab_stream.bulk.reader import read_batch
from kebab_stream.bulk.validate import Limits
from kebab_stream.errors import ConfigInvalidError
from tests.bulk.fakes import arriving

ITEM = b'{"query":"x"}\n'
MEBIBYTE = 1 << 20


async def problem_of(*chunks: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(ConfigInvalidError) as caught:
        await read_batch(arriving(*chunks), limits or Limits())
    return caught.value.message


async def test_items_keep_their_own_bytes_and_their_value() -> None:
    lines = await read_batch(arriving(b'\xef\xbb\xbf {"id": 1.0, "id": 2} \r\n\n', b"  \n[1", b"]"))

    assert [line.data for line in lines] == [b'{"id": 1.0, "id": 2}', b"[1]"]
    assert [line.value for line in lines] == [{"id": 2}, [1]]


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \r\n\t\n", b"\xef\xbb\xbf"])
async def test_a_stream_of_blanks_is_an_empty_batch(data: bytes) -> None:
    assert await read_batch(arriving(data)) == []


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b"nope", "not valid JSON: "),
        (b'{"query":"x",}', "not valid JSON: "),
        (b"{} {}", "not valid JSON: "),
        (b'{"query":NaN}', "not valid JSON: "),
        (b'{"query":"\xc7\xd1"}', "not valid UTF-8 at byte 11"),
        (b'"' + b"x" * MEBIBYTE + b'"', "longer than 1,048,576 bytes"),
    ],
    ids=["text", "comma", "two", "nan", "bytes", "long"],
)
async def test_a_bad_line_is_named_by_its_physical_number(bad: bytes, problem: str) -> None:
    assert (await problem_of(ITEM, b"\r\n  \n", bad + b"\n", ITEM)).startswith(f"stdin line 4: {problem}")


async def test_a_line_of_exactly_one_mebibyte_is_fine() -> None:
    line = b'{"query":"x"}'.ljust(MEBIBYTE)

    assert [len(item.data) for item in await read_batch(arriving(line + b"\n", line))] == [13, 13]


async def test_a_hundred_items_are_fine() -> None:
    assert len(await read_batch(arriving(ITEM * 100, b"\n \n"))) == 100


@pytest.mark.parametrize(
    "last", [ITEM, b"not json\n", b"\xff", b"x" * (MEBIBYTE + 1)], ids=["good", "bad", "utf8", "long"]
)
async def test_one_more_than_a_hundred_items_is_too_many_whatever_it_holds(last: bytes) -> None:
    assert await problem_of(ITEM * 100, last) == "queries: max 100 items, got more than 100"


async def test_a_bad_line_before_the_hundred_and_first_is_told_first() -> None:
    assert (await problem_of(ITEM * 99 + b"nope\n" + ITEM * 5)).startswith("stdin line 100: ")


async def test_reading_stops_at_the_first_problem() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield ITEM

    with pytest.raises(ConfigInvalidError, match="max 100 items"):
        await read_batch(endless())


async def test_an_endless_line_is_refused_before_it_ends() -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"\n"
        while True:
            yield b"x" * (1 << 16)

    with pytest.raises(ConfigInvalidError, match=r"^stdin line 2: longer than"):
        await read_batch(endless())


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_the_whole_input_is_limited_however_it_is_cut(size: int) -> None:
    limits = Limits(total_bytes=50)
    data = ITEM + b"\n" * 36
    assert len(data) == 50
    assert len(await read_batch(arriving(*pieces(data, size)), limits)) == 1

    assert await problem_of(*pieces(data + b"\n", size), limits=limits) == "stdin: longer than 50 bytes"
    assert (await problem_of(*pieces(b"nope\n" + data, size), limits=limits)).startswith("stdin line 1: ")


async def test_what_lies_beyond_the_limit_is_not_looked_at() -> None:
    assert await problem_of(ITEM + b"nope\n", limits=Limits(total_bytes=len(ITEM))) == "stdin: longer than 14 bytes"


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
