"""Quoted parts of a query: they raise what contains them, and exclude nothing."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.analyser import fold
from kebab_stream.engine import Engine
from kebab_stream.model import SearchQuery
from kebab_stream.single.phrases import MAX_PHRASES, find_phrases, phrase_pattern
from tests.corpora import config_of, ingest_files

FILES = {
    "apart.md": "retry after the error policy\n\npolicy of a retry, retry policies, policy\n",
    "together.md": "our Retry\nPolicy is short; an error is tried again\n",
    "spaced.md": "하이브리드 검색을 켠다\n",
    "joined.md": "하이브리드검색을 켠다\n",
    "other.md": "하이브리드 자동차와 검색 엔진\n",
    "signs.md": "we write C++ and say what is `S` and 我在东京都\n",
}

KOREAN = "docker를 API가 할 수 있다 하이브리드 검색 하이브리드검색 검 색"
OTHERS = "getUser2 fooBar_baz user_name user api utf8 HTTPServer2 C++ café the water ΑΒΓ Straße кофе tiết"
SPACELESS = "東京都 京 ٣كتاب الكتاب กาแฟ"
WORDS = f"{KOREAN} {OTHERS} {SPACELESS}".split()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("phrases")
    config = config_of(folder / "data", provider="none")
    ingest_files(config, folder / "notes", FILES)
    return Engine.open(config)


@pytest.fixture(scope="module")
def mixture(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Chunks of words in many scripts and ways of writing."""
    folder, random = tmp_path_factory.mktemp("mixture"), Random(5)
    config = config_of(folder / "data", provider="none")
    files = {f"{number}.md": " ".join(random.choices(WORDS, k=8)) for number in range(100)}
    ingest_files(config, folder / "notes", files)
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


@pytest.mark.parametrize(
    ("phrase", "text", "contained"),
    [
        ("docker", "docker를 쓴다", True),
        ("api", "rest api가 있다", True),
        ("api", "이api", True),
        ("東京", "東京api", True),
        ("كتاب", "الكتاب", True),
        ("user", "get_user", False),
        ("user", "users", False),
        ("8", "utf8", False),
        ("кофе", "кофейня", False),
        ("ết", "tiết", False),
    ],
)
def test_a_word_is_whole_in_its_own_script_and_may_go_on_in_another(phrase: str, text: str, contained: bool) -> None:
    assert bool(phrase_pattern(phrase).search(text)) is contained


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2), st.sampled_from(["", " "]))
def test_a_phrase_is_found_in_just_the_chunks_whose_text_fits_its_pattern(
    mixture: Engine, words: list[str], between: str
) -> None:
    generation, phrase = mixture.snapshot.generation, fold(between.join(words))
    texts = [generation.texts.raw(number).decode() for number in range(generation.texts.n_chunks)]
    counts = {number: len(phrase_pattern(phrase).findall(text)) for number, text in enumerate(texts)}

    (found,) = find_phrases(generation, f'"{phrase}"')

    assert dict(zip(found.chunks.tolist(), found.frequencies.tolist(), strict=True)) == {
        number: count for number, count in counts.items() if count
    }


def test_only_the_first_different_phrases_of_a_query_are_looked_for(engine: Engine) -> None:
    query = " ".join(f'"number {number}" "error"' for number in range(100))

    assert len(find_phrases(engine.snapshot.generation, query)) == MAX_PHRASES


def test_a_quote_that_is_never_closed_is_literal(engine: Engine) -> None:
    assert paths(engine, 'retry "policy') == paths(engine, "retry policy")


@given(st.text(st.sampled_from('ab 가나"“”「.')), st.text(st.sampled_from("ab 가나.")))
def test_a_pattern_finds_its_own_phrase_and_ignores_spaces_between_syllables(query: str, text: str) -> None:
    phrase = fold(text)
    if phrase:
        assert phrase_pattern(phrase).search(phrase)
        assert phrase_pattern(phrase).search(phrase.replace("가나", "가 나"))
