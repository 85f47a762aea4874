import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.sentences import hard_pieces, sentences
from tests.ingest.strategies import few, markdown_documents


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("저장한다. 검색해요? 네.", ["저장한다.", "검색해요?", "네."]),
        ("これは本。あれも「本。」です！", ["これは本。", "あれも「本。」", "です！"]),
        ('He said "stop." Then (he left.) **Done.** End', ['He said "stop."', "Then (he left.)", "**Done.**", "End"]),
        ("version 3.11 of x.y is out", ["version 3.11 of x.y is out"]),
        ("Wait... what?!  Yes… no", ["Wait...", "what?!", "Yes…", "no"]),
        ("a line\nthat goes on", ["a line\nthat goes on"]),
        ("intro\n- one\n- two\n1) three\n* four", ["intro", "- one", "- two", "1) three", "* four"]),
        ("| a |\n|---|\n| b |", ["| a |", "|---|", "| b |"]),
        ("# Head\n\ntext\n```\nx", ["# Head", "text", "```\nx"]),
        (" \n\t ", []),
    ],
)
def test_sentences_end_where_readers_stop(text: str, parts: list[str]) -> None:
    assert split(text) == parts


@few
@given(markdown_documents | st.text())
def test_sentences_hold_everything_but_white_space_in_order(text: str) -> None:
    assert "".join("".join(split(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("text", [".", "。", '."', "\n", " ", "\n ", "- \n", "a. ", "\t"])
def test_time_is_linear(text: str) -> None:
    start = time.perf_counter()
    list(sentences(text * 300_000 + "x"))

    assert time.perf_counter() - start < 2


def hard(text: str, limit: int) -> list[str]:
    return [text[start:end] for start, end in hard_pieces(text, 0, len(text), limit)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("short", ["short"]),
        ("abc de\nf hijklm", ["abc de", "f hijklm"]),  # a line end goes before the later space
        ("one two three", ["one two", "three"]),
        ("a bcdefghijklmnop", ["a bcdefghi", "jklmnop"]),  # a piece would be less than half as long as it may be
        ("0123456789  x", ["0123456789", "x"]),
        ("01234567👩‍👧x", ["01234567", "👩‍👧x"]),
    ],
)
def test_what_is_too_long_is_cut_late_but_at_good_places(text: str, parts: list[str]) -> None:
    assert hard(text, 10) == parts


@few
@given(st.text().map(str.strip).filter(bool), st.integers(1, 20))
def test_hard_pieces_hold_everything_but_white_space_in_order(text: str, limit: int) -> None:
    parts = hard(text, limit)

    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(0 < len(part) <= limit and part == part.strip() for part in parts)
