"""Every filter keeps what a look at each document would keep, in every mode, before the best are chosen."""

import dataclasses
from collections.abc import Iterator
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Search
from kebab_stream.engine import Engine
from kebab_stream.model import MODES, TRUST_LEVELS, Filters, Mode, SearchHit, SearchQuery
from kebab_stream.single.filters import FILTERS
from kebab_stream.single.glob import glob_pattern
from tests.corpora import config_of, ingest_files
from tests.single.library import EPOCH, ITEMS, LANGS, PHRASES, TAGS, TYPES, Item, passes

BY_PLACE = {(item.source, item.path): item for item in ITEMS}


def found(engine: Engine, filters: Filters, mode: Mode = "lexical") -> list[SearchHit]:
    query = SearchQuery(query="coffee 커피", mode=mode, k=1000, filters=filters)
    return list(engine.search(query))


def item_of(hit: SearchHit) -> Item:
    return BY_PLACE[hit.source_id, hit.doc_path]


def kept(hits: list[SearchHit], filters: Filters) -> list[tuple[str, float]]:
    """Chunk and score of the hits that the filters should keep."""
    glob = glob_pattern(filters.path_glob or "**")
    return [
        (hit.chunk_id, hit.score)
        for hit in hits
        if passes(item_of(hit), hit.doc_id, filters) and glob.match(hit.doc_path)
    ]


def test_the_table_has_every_field_of_filters_in_order() -> None:
    assert [definition.name for definition in FILTERS] == [field.name for field in dataclasses.fields(Filters)]
    assert all((definition.values == "one") == (getattr(Filters(), definition.name) is None) for definition in FILTERS)
    assert FILTERS[3].flag == "--path-glob"


def test_the_library_is_what_its_items_say(library: Engine) -> None:
    hits = found(library, Filters(), "vector")

    assert len(hits) == len(ITEMS)
    for hit in hits:
        item = item_of(hit)
        assert (hit.lang, hit.code_lang, hit.repo, hit.trust_level, hit.source_type) == (
            item.lang,
            item.code_lang,
            item.repo,
            item.trust,
            item.source_type,
        )
        assert hit.indexed_at == item.indexed_at.strftime("%Y-%m-%dT%H:%M:%SZ")


SOME: list[dict[str, Any]] = [
    {"tag": ("alpha",)},
    {"tag": ("alpha", "가나", "none")},
    {"tag": ("c,d",)},
    {"lang": "ko"},
    {"lang": "ja"},
    {"path_glob": "docs/*"},
    {"path_glob": "**/한글/**"},
    {"path_glob": "{*,src/**}.py"},
    {"trust_min": "secondary"},
    {"trust_min": "primary"},
    {"media": ("md",)},
    {"media": ("markdown", "code")},
    {"code_lang": ("rust",)},
    {"repo": ("right", "wrong")},
    {"source": ("left",)},
    {"source_type": ("wiki", "log")},
    {"ingested_after": ITEMS[50].indexed_at},
    {"ingested_after": ITEMS[50].indexed_at + timedelta(microseconds=1)},
    {"ingested_after": (ITEMS[50].indexed_at - timedelta(microseconds=1)).astimezone(timezone(timedelta(hours=9)))},
    {"must": ("pour over",)},
    {"must": ("POUR over coffee",)},
    {"must": ("strasse", "커피")},
    {"must": ("한글 각설탕",)},
    {"must_not": ("pour over", "한글")},
    {"source": ("left",), "lang": "ko", "trust_min": "primary", "must": ("word1",)},
]
NONE: list[dict[str, Any]] = [
    {"tag": ("c", "d", "ALPHA", "", "alph%", "a' OR 1=1 --")},
    {"lang": "KO"},
    {"lang": "xx"},
    {"path_glob": ""},
    {"path_glob": "DOCS/**"},
    {"media": ("MD", "pdf", "nothing")},
    {"code_lang": ("Rust",)},
    {"repo": ("left",)},
    {"ingested_after": ITEMS[-1].indexed_at + timedelta(seconds=1)},
    {"must": ("no such text",)},
    {"must": ("coffee",), "must_not": ("COFFEE",)},
    {"lang": "ko", "code_lang": ("rust",)},
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("given_filters", SOME, ids=str)
def test_each_filter_keeps_what_passes_it_in_the_same_order(
    library: Engine, mode: Mode, given_filters: dict[str, Any]
) -> None:
    filters = Filters(**given_filters)

    hits = [(hit.chunk_id, hit.score) for hit in found(library, filters, mode)]

    assert hits == kept(found(library, Filters(), mode), filters)
    assert 0 < len(hits) < len(ITEMS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("given_filters", NONE, ids=str)
def test_what_no_document_has_finds_nothing_and_a_hint_says_so(
    library: Engine, mode: Mode, given_filters: dict[str, Any]
) -> None:
    query = SearchQuery(query="coffee", mode=mode, filters=Filters(**given_filters))
    response = library.search_with_opts(query)

    assert response.hits == ()
    assert response.next_cursor is None
    assert response.hint


def test_a_moment_counts_to_the_fraction_of_a_second(library: Engine) -> None:
    moment = ITEMS[50].indexed_at
    one_later = moment + timedelta(microseconds=1)

    assert len(found(library, Filters(ingested_after=moment))) == 6
    assert len(found(library, Filters(ingested_after=one_later))) == 5


def test_every_document_is_at_least_generated(library: Engine) -> None:
    assert len(found(library, Filters(trust_min="generated"))) == len(ITEMS)


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.just(()) | st.lists(st.sampled_from(values), max_size=2).map(tuple)


any_filters = st.builds(
    Filters,
    tag=some(*TAGS, "none"),
    lang=st.sampled_from([None, None, *LANGS]),
    path_glob=st.sampled_from([None, None, "docs/**", "**/*1*", "{docs,src}/**", "*", "**/file?.*"]),
    trust_min=st.sampled_from([None, *TRUST_LEVELS]),
    media=some("md", "text", "code"),
    code_lang=some("python", "rust"),
    repo=some("right", "left"),
    source=some("right", "left"),
    source_type=some(*TYPES),
    ingested_after=st.none() | st.integers(0, 8 * 56).map(lambda hours: EPOCH + timedelta(hours=hours)),
    must=some(*PHRASES, "word1", "WORD2"),
    must_not=some(*PHRASES, "word1", "WORD2"),
)


@given(any_filters, st.sampled_from(MODES))
def test_filters_together_keep_what_passes_each(library: Engine, filters: Filters, mode: Mode) -> None:
    hits = [(hit.chunk_id, hit.score) for hit in found(library, filters, mode)]

    assert hits == kept(found(library, Filters(), mode), filters)


def test_a_document_is_found_by_its_id_as_it_is_written(library: Engine) -> None:
    hit = found(library, Filters())[7]

    assert [one.chunk_id for one in found(library, Filters(doc_id=hit.doc_id))] == [hit.chunk_id]


@pytest.mark.parametrize(
    "change", [str.upper, lambda one: one[:-1], lambda one: f" {one}", lambda _: "", lambda _: "x'"]
)
def test_what_is_no_id_of_a_document_finds_nothing(library: Engine, change: Any) -> None:
    doc_id = next(hit.doc_id for hit in found(library, Filters()) if hit.doc_id != hit.doc_id.upper())

    assert found(library, Filters(doc_id=change(doc_id))) == []


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A document that barely has the word beside thousands of chunks that are full of it."""
    folder = tmp_path_factory.mktemp("crowded")
    config = config_of(folder / "data", search=Search(candidate_depth=50))
    crowd = "\n\n".join(f"## Number {number}\n\ncoffee coffee coffee" for number in range(2500))
    needle = "---\ntags: [rare]\n---\n" + "Something else is written here, about tea. " * 30 + "And coffee."
    ingest_files(config, folder / "source", {"crowd.md": crowd, "needle/only.md": needle})
    with Engine.open(config) as engine:
        yield engine


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "filters", [Filters(tag=("rare",)), Filters(path_glob="needle/*"), Filters(must=("about TEA.",))], ids=str
)
def test_a_selective_filter_never_loses_its_match(crowded: Engine, mode: Mode, filters: Filters) -> None:
    everything = crowded.search(SearchQuery(query="coffee", mode=mode, k=1000))
    hits = crowded.search(SearchQuery(query="coffee", mode=mode, filters=filters))

    assert {hit.doc_path for hit in everything} == {"crowd.md"}
    assert [hit.doc_path for hit in hits] == ["needle/only.md"]
