import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.windows import windows
from tests.ingest.strategies import few, markdown_documents


def test_whole_sentences_are_packed() -> None:
    assert windows("One two. Three four! Five six? Seven.", 20) == ["One two. Three four!", "Five six? Seven."]


def test_a_long_sentence_is_cut_between_words() -> None:
    assert windows("Short. alpha beta gamma delta epsilon. End.", 12) == [
        "Short.",
        "alpha beta",
        "gamma delta",
        "epsilon.",
        "End.",
    ]


def test_a_long_sentence_is_rather_cut_at_a_line_end() -> None:
    assert windows("let a = 1\nlet bb = 2", 12) == ["let a = 1", "let bb = 2"]


def test_a_long_word_is_cut_anywhere() -> None:
    assert windows("가" * 25, 10) == ["가" * 10, "가" * 10, "가" * 5]


def test_no_grapheme_is_cut() -> None:
    assert windows("x" * 7 + "e\u0301" * 3, 10) == ["x" * 7 + "e\u0301", "e\u0301" * 2]


def test_a_text_that_fits_is_its_own_window() -> None:
    assert windows("  한 문장. 두 문장.\n") == ["한 문장. 두 문장."]
    assert windows("x" * 200) == ["x" * 200]


@pytest.mark.parametrize("text", ["", " ", "\n\t\n\u3000"])
def test_a_blank_text_has_none(text: str) -> None:
    assert windows(text) == []


@few
@given(markdown_documents | st.text(), st.integers(1, 300))
def test_windows_hold_everything_but_white_space_in_order(text: str, size: int) -> None:
    assert "".join("".join(windows(text, size)).split()) == "".join(text.split())


@few
@given(markdown_documents | st.text(), st.integers(1, 300))
def test_windows_are_small_and_never_blank(text: str, size: int) -> None:
    assert all(0 < len(window.strip()) == len(window) <= size for window in windows(text, size))


@pytest.mark.parametrize("text", ["가", ".", " ", "가 ", "가나다. ", "\n", "a\n"])
def test_time_is_linear(text: str) -> None:
    start = time.perf_counter()
    windows("x" + text * 300_000 + "x")

    assert time.perf_counter() - start < 2
