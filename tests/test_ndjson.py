"""Framing and decoding: where a line ends, what is JSON, and that neither depends on how the bytes arrive."""

import json
import re
from itertools import pairwise
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ndjson import JSON_SPACE, Line, LineDecoder, Malformed, Oversized, parse_json
from tests.paths import SHARED

TORTURE = SHARED / "data" / "torture" / "ndjson"
needs_torture = pytest.mark.skipif(not TORTURE.is_dir(), reason="the shared data sets are not here")


def lines_of(*chunks: bytes, limit: int = 1 << 20) -> list[Line | Oversized]:
    decoder = LineDecoder(limit)
    return [line for chunk in chunks for line in decoder.feed(chunk)] + decoder.flush()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def test_lines_are_numbered_from_one_and_blank_ones_count() -> None:
    assert lines_of(b"1\n\n \t\r\n2\n") == [Line(1, b"1"), Line(4, b"2")]


def test_the_last_line_needs_no_newline() -> None:
    assert lines_of(b"1\n2") == [Line(1, b"1"), Line(2, b"2")]


def test_a_carriage_return_before_the_newline_is_not_part_of_the_line() -> None:
    assert lines_of(b"1\r\n2\r\n") == [Line(1, b"1"), Line(2, b"2")]


@pytest.mark.parametrize("character", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_the_newline_character_ends_a_line(character: str) -> None:
    assert lines_of(f'"a{character}b"\n'.encode()) == [Line(1, f'"a{character}b"'.encode())]


def test_white_space_around_a_value_is_kept() -> None:
    assert lines_of(b"  1\t\n") == [Line(1, b"  1\t")]


def test_a_byte_order_mark_at_the_start_is_removed_and_only_there() -> None:
    assert lines_of(b"\xef\xbb", b"\xbf1\n\xef\xbb\xbf2\n") == [Line(1, b"1"), Line(2, b"\xef\xbb\xbf2")]


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b" \r\n\t\n "])
def test_a_stream_of_nothing_has_no_lines(data: bytes) -> None:
    assert lines_of(data) == []


def test_a_line_of_exactly_the_limit_passes_and_one_byte_more_does_not() -> None:
    assert lines_of(b"1234\n12345\n1\n", limit=4) == [Line(1, b"1234"), Oversized(2, 5), Line(3, b"1")]


def test_a_last_line_without_newline_may_be_oversized() -> None:
    assert lines_of(b"1\n", b"123", b"456", limit=4) == [Line(1, b"1"), Oversized(2, 6)]


def test_an_unfinished_line_shows_as_overflowing_before_it_ends() -> None:
    decoder = LineDecoder(4)
    decoder.feed(b"1\n1234")
    assert decoder.overflowing is None

    decoder.feed(b"5")

    assert decoder.overflowing == Oversized(2, 5)


def test_the_decoder_never_holds_more_than_its_limit() -> None:
    decoder = LineDecoder(1000)
    for _ in range(100):
        decoder.feed(b"x" * 300)
        assert len(decoder._held) <= 1000

    assert decoder.feed(b"\n") == [Oversized(1, 30_000)]


@given(
    data=st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b" ", b"\xef\xbb\xbf", b"abc", b"{}", "가".encode()])).map(
        b"".join
    ),
    places=st.lists(st.integers(min_value=0, max_value=1000)),
    limit=st.integers(min_value=1, max_value=12),
)
def test_lines_do_not_depend_on_how_the_bytes_are_cut(data: bytes, places: list[int], limit: int) -> None:
    assert lines_of(*cut(data, places), limit=limit) == lines_of(data, limit=limit)


@given(st.binary())
def test_every_byte_is_accounted_for(data: bytes) -> None:
    numbered = {line.number: line.data for line in lines_of(data) if isinstance(line, Line)}

    for number, physical in enumerate(data.split(b"\n"), 1):
        expected = physical.removeprefix(b"\xef\xbb\xbf") if number == 1 else physical
        assert numbered.get(number, b"").strip(JSON_SPACE) == expected.strip(JSON_SPACE)


@given(st.binary())
def test_parsing_never_raises_whatever_the_bytes(data: bytes) -> None:
    parse_json(data)


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists))
def test_what_is_json_is_parsed_to_the_same_value(value: object) -> None:
    assert parse_json(orjson.dumps(value)) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"{",
        b"[1,]",
        b"NaN",
        b"Infinity",
        b"1e400",
        b"1 2",
        b"{}{}",
        b"'a'",
        b"\x001",
        b'"\\ud83d"',
        b"[" * 2000,
    ],
)
def test_what_is_not_one_json_value_is_malformed(data: bytes) -> None:
    assert isinstance(parse_json(data), Malformed)


def test_a_problem_says_where_it_is_without_quoting_the_line() -> None:
    result = parse_json('{"가": \x1b}'.encode())
    assert isinstance(result, Malformed)
    assert re.fullmatch("not valid JSON: [a-zA-Z ,]+ at character 7", result.problem)

    assert parse_json(b'"a\xff"') == Malformed("not valid UTF-8 at byte 3")


@needs_torture
@pytest.mark.parametrize("path", sorted(TORTURE.glob("*.ndjson")), ids=lambda path: path.stem)
def test_every_line_of_the_torture_files_is_judged_as_expected(path: Path) -> None:
    expected = json.loads(path.with_suffix(".expect.json").read_bytes())
    found = {
        line.number: isinstance(line, Line) and not isinstance(parse_json(line.data), Malformed)
        for line in lines_of(path.read_bytes(), limit=4 << 20)
    }

    assert sorted(found) == [judged["line"] for judged in expected["lines"]]
    assert len(found) == expected["records"]
    wrong = [judged for judged in expected["lines"] if judged["ok"] not in ("either", found[judged["line"]])]
    assert wrong == []
