"""The part of a chunk that is shown: short enough, verbatim, whole graphemes, and where the match is."""

import re
from collections.abc import Iterator
from time import perf_counter

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.analyser import terms
from kebab_stream.render import to_json
from kebab_stream.single.snippet import FLOOR_CHARS, Snippet, _is_separate, snippet_of
from tests.corpora import long_odd_text, odd_text, prose

texts = prose | odd_text | long_odd_text | st.lists(prose | long_odd_text, min_size=1, max_size=4).map("\n\n".join)
"""None of them has an ellipsis of its own."""


def queries_for(text: str) -> st.SearchStrategy[str]:
    return st.sampled_from([text[-200:], *text.split()]) | prose | odd_text


@st.composite
def snippets(draw: st.DrawFn) -> tuple[Snippet, int]:
    """A snippet of some text for some query, and the width it was made for."""
    text = draw(texts)
    width = draw(st.integers(1, 300))
    return snippet_of(text, weights_of(draw(queries_for(text))), width), width


def weights_of(query: str) -> dict[str, int]:
    return {term: 100 + len(term) for term in terms(query)}


def uncut(shown: str) -> str:
    return shown.removeprefix("…").removesuffix("…")


def places_of(part: str, text: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


@given(snippets())
def test_a_snippet_is_verbatim_text_within_the_limit_with_an_ellipsis_at_each_cut(made: tuple[Snippet, int]) -> None:
    snippet, width = made
    for cap in range(1, width + 1):
        shown, whole = snippet.at(cap)

        assert len(shown) <= cap
        assert whole == (len(snippet.text) <= cap)
        assert whole == (shown == snippet.text)
        assert uncut(shown) in snippet.text
        if not whole:
            assert snippet.text.startswith(shown.removesuffix("…")) or shown.startswith("…")
            assert snippet.text.endswith(shown.removeprefix("…")) or shown.endswith("…")


@given(snippets())
def test_a_cut_falls_between_graphemes(made: tuple[Snippet, int]) -> None:
    snippet, width = made
    borders = {0, *(match.end() for match in regex.finditer(r"\X", snippet.text))}
    for cap in range(1, width + 1):
        part = uncut(snippet.at(cap)[0])

        assert any({place, place + len(part)} <= borders for place in places_of(part, snippet.text))


@given(snippets())
def test_a_longer_limit_shows_all_that_a_shorter_one_shows_and_takes_no_less_room(made: tuple[Snippet, int]) -> None:
    snippet, width = made
    before, size_before = "", 0
    for cap in range(min(FLOOR_CHARS, width), width + 1):
        shown, whole = snippet.at(cap)
        size = len(to_json([shown, whole]).decode())

        assert uncut(before) in uncut(shown)
        assert size >= size_before
        before, size_before = shown, size


@given(texts, st.data(), st.integers(FLOOR_CHARS, 300))
def test_a_term_of_the_query_is_shown_if_the_text_has_one(text: str, data: st.DataObject, width: int) -> None:
    wanted = weights_of(data.draw(queries_for(text)))
    snippet = snippet_of(text, wanted, width)
    if wanted.keys() & set(terms(text)):
        for cap in (FLOOR_CHARS, (FLOOR_CHARS + width) // 2, width):
            assert wanted.keys() & set(terms(snippet.at(cap)[0]))


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("getUserNameFromDatabaseConnection", "db.getUserNameFromDatabaseConnection(id)"),
        ("database", "getUserNameFromDatabaseConnection"),
        ("재시도", "(재시도)"),
        ("検索", "このエンジンは全文書の中から検索語を含むものを探し出して順位を付ける"),
        ("réglages", "re\u0301glages"),
        ("example", "exam\u00adple"),
        ("Überwachungsgesellschaften", "«Überwachungsgesellschaften»"),
        ("python", "このプログラムはPythonで書かれていて非同期で動作する"),
        ("विकास", "सतत-विकास-लक्ष्य"),
        ("user", "user's"),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 40, 300])
@pytest.mark.parametrize("width", [60, 61, 100, 220])
def test_the_match_is_shown_wherever_and_however_it_is_written(query: str, word: str, place: int, width: int) -> None:
    text = "x" * 30 + "-" + "y-" * place + word + "-z" * 200

    shown, _ = snippet_of(text, weights_of(query), width).at(FLOOR_CHARS)

    assert set(terms(query)) <= set(terms(shown))


def test_the_window_with_the_most_valuable_terms_wins_and_the_first_of_equal_ones() -> None:
    filler = "lorem ipsum dolor " * 20
    text = f"{filler} common common common {filler} rare first {filler} rare second {filler}"

    shown, _ = snippet_of(text, {"common": 1, "rare": 2}, 80).at(80)

    assert "rare first" in shown


@pytest.mark.parametrize(("alpha", "beta"), [(3, 2), (2, 3)])
def test_a_match_at_the_edge_of_the_window_is_not_cut_away(alpha: int, beta: int) -> None:
    between = "it is so " * 11
    text = f"{'-' * 200}(alpha {between[:87]} beta){'-' * 200}"
    snippet = snippet_of(text, {"alpha": alpha, "beta": beta}, 100)

    assert snippet.at(100)[0].startswith("…alpha ")
    assert snippet.at(100)[0].endswith(" beta…")
    assert ("alpha" if alpha > beta else "beta") in snippet.at(60)[0]


def test_words_are_not_cut_where_a_border_is_near() -> None:
    text = " ".join(f"word{number:03}" for number in range(100))

    for cap in range(FLOOR_CHARS, 220):
        shown, _ = snippet_of(text, {"word050": 1}, 220).at(cap)

        assert all(len(word) == len("word000") for word in uncut(shown).split())


def test_without_a_match_the_beginning_is_shown() -> None:
    assert snippet_of("가나다라 " * 100, {"x": 1}, 20).at(20) == ("가나다라 가나다라 가나다라…", False)


def test_a_short_text_is_cut_around_its_match_too() -> None:
    assert snippet_of("one two three four five six seven", {"five": 1}, 20).at(20) == ("…four five six…", False)


@pytest.mark.parametrize("text", ["", "coffee", "c" * 300])
def test_a_text_that_fits_is_shown_whole(text: str) -> None:
    assert snippet_of(text, {"coffe": 1}, 300).at(300) == (text, True)


def test_long_rows_of_flags_are_cut_between_flags() -> None:
    text = "x" + "🇰🇷" * 150

    for cap in range(3, 200):
        assert uncut(snippet_of(text, {}, cap).at(cap)[0]).removeprefix("x").replace("🇰🇷", "") == ""


LONG = {
    "ASCII": " ".join(f"w{number % 700}" for number in range(3200)),
    "Cyrillic": " ".join(f"слово{number % 700}" for number in range(3200)),
    "Thai": "".join(f"กาแฟ{number % 700}" for number in range(3200)),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_the_time_is_linear_where_every_word_matches(text: str) -> None:
    weights = weights_of(text)
    started = perf_counter()
    for _ in range(5):
        snippet_of(text, weights, 10_000).at(10_000)

    assert perf_counter() - started < 3  # 30 ms each, where a quadratic way takes seconds


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_graphemes_are_looked_for_once_however_often_a_text_is_cut(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, finditer = [], regex.finditer

    def counted(pattern: str, text: str, pos: int) -> Iterator[regex.Match[str]]:
        for grapheme in finditer(pattern, text, pos=pos):
            seen.append(grapheme.start())
            yield grapheme

    monkeypatch.setattr(regex, "finditer", counted)
    snippet = snippet_of(text, weights_of(text[9_000:9_020]), 220)
    for cap in range(FLOOR_CHARS, 221):
        snippet.at(cap)

    assert len(seen) == len(set(seen)) <= 10_000
    assert bool(seen) == (not text.isascii())


def test_no_two_characters_taken_as_separate_make_one_grapheme() -> None:
    separate = [chr(point) for point in range(0x10000) if _is_separate(chr(point))]
    text = "a".join(separate) + "".join(separate) + "".join(character * 2 for character in separate)
    assert regex.findall(r"\X", text) == list(text)


@pytest.mark.parametrize("cap", range(60, 121, 7))
def test_where_no_white_space_is_near_a_cut_falls_between_words(cap: int) -> None:
    words = ("alpha", "베타", "gamma", "델타(delta)")
    text = "/".join(words * 20 + ("coffee",) + words * 20)

    shown, _ = snippet_of(text, weights_of("coffee"), 120).at(cap)

    assert set(re.findall(r"\w+", shown)) <= {"alpha", "베타", "gamma", "델타", "delta", "coffee"}
