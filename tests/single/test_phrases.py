"""Quoted parts of a query: they raise what contains them, and exclude nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.analyser import fold
from kebab_stream.engine import Engine
from kebab_stream.model import SearchQuery
from kebab_stream.single.phrases import find_phrases, phrase_pattern
from tests.corpora import config_of, ingest_files

FILES = {
    "apart.md": "retry after the error policy\n\npolicy of a retry, retry policies, policy\n",
    "together.md": "our Retry\nPolicy is short; an error is tried again\n",
    "spaced.md": "하이브리드 검색을 켠다\n",
    "joined.md": "하이브리드검색을 켠다\n",
    "other.md": "하이브리드 자동차와 검색 엔진\n",
    "signs.md": "we write C++ and say what is `S` and 我在东京都\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("phrases")
    config = config_of(folder / "data", provider="none")
    ingest_files(config, folder / "notes", FILES)
    return Engine.open(config)


def paths(engine: Engine, query: str) -> list[str]:
    return [hit.doc_path for hit in engine.search(SearchQuery(query=query))]


def found(engine: Engine, query: str) -> list[set[str]]:
    """The documents that contain each quoted part."""
    generation, store = engine.snapshot.generation, engine.snapshot.store
    ids = [[generation.chunk_id(int(number)) for number in one.chunks] for one in find_phrases(generation, query)]
    return [{path for _, path in store.chunk_paths(some).values()} for some in ids]


def test_a_quoted_part_raises_what_contains_it_and_excludes_nothing(engine: Engine) -> None:
    assert paths(engine, "retry policy")[0] == "apart.md"
    assert paths(engine, '"retry policy"') == ["together.md", "apart.md"]


@pytest.mark.parametrize("query", ['"하이브리드 검색"', "「하이브리드검색」", "“하이브리드 검색”"])
def test_korean_matches_whatever_the_spacing(engine: Engine, query: str) -> None:
    assert found(engine, query) == [{"spaced.md", "joined.md"}]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"RETRY   policy"', [{"together.md"}]),
        ('"retry polic"', [set()]),  # words are whole
        ('"c++" "s"', [{"signs.md"}, {"signs.md"}]),
        ('"东京"', [{"signs.md"}]),
        ('"京"', [{"signs.md"}]),
        ('"색"', [{"spaced.md", "joined.md", "other.md"}]),
        ('"no such words"', [set()]),
        ('"retry" "retry"', [{"apart.md", "together.md"}]),  # each once
        ('"" "!?" what is "S', []),
    ],
)
def test_what_counts_as_containing(engine: Engine, query: str, expected: list[set[str]]) -> None:
    assert found(engine, query) == expected


def test_a_quote_that_is_never_closed_is_literal(engine: Engine) -> None:
    assert paths(engine, 'retry "policy') == paths(engine, "retry policy")


@given(st.text(st.sampled_from('ab 가나"“”「.')), st.text(st.sampled_from("ab 가나.")))
def test_a_pattern_finds_its_own_phrase_and_ignores_spaces_between_syllables(query: str, text: str) -> None:
    phrase = fold(text)
    if phrase:
        assert phrase_pattern(phrase).search(phrase)
        assert phrase_pattern(phrase).search(phrase.replace("가나", "가 나"))
