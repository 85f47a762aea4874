"""At most so many hits of one document: of the whole ranking, in all modes, and on every page."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab_stream.config import Search
from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError, StaleCursorError
from kebab_stream.model import MODES, Mode, SearchHit, SearchOpts, SearchQuery
from kebab_stream.single.per_doc import within_limit
from kebab_stream.single.retrieve import vector_path
from tests.corpora import config_of, ingest_files
from tests.single.test_search import ask

SECTIONS = 1_020
"""More than a lexical search returns."""
MANUAL = "".join(f"# Part {number}\n\ncoffee coffee coffee\n\n" for number in range(SECTIONS))
FILLER = "the kettle stands beside the window and nobody has asked for it since the morning "
SHORT = {
    f"short{number}.md": f"# Kitchen\n\nOne coffee. {FILLER * 3}\n\n# Hall\n\n{FILLER} No coffee {number}.\n"
    for number in range(9)
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A document whose many chunks are better than those of all others."""
    folder = tmp_path_factory.mktemp("shelf")
    config = config_of(folder / "data")
    ingest_files(config, folder / "notes", {"manual.md": MANUAL, **SHORT})
    with Engine.open(config) as engine:
        yield engine


def all_hits(engine: Engine, query: SearchQuery, search: Search | None = None) -> list[SearchHit]:
    first = ask(engine, replace(query, k=1000), settings=search)
    rest = (
        ask(engine, replace(query, k=1000), SearchOpts(cursor=first.next_cursor), search) if first.next_cursor else None
    )
    return [*first.hits, *(rest.hits if rest else ())]


def paths(hits: list[SearchHit]) -> Counter[str]:
    return Counter(hit.doc_path for hit in hits)


@given(st.lists(st.integers(0, 5)), st.integers(1, 4))
def test_the_first_chunks_of_each_document_stay_in_their_order(documents: list[int], limit: int) -> None:
    numbers = np.arange(len(documents))[::-1].copy()
    kept = [n for at, n in enumerate(numbers) if [documents[m] for m in numbers[:at]].count(documents[n]) < limit]

    assert within_limit(numbers, np.array(documents, dtype=np.int32), limit).tolist() == kept


@pytest.mark.parametrize("mode", MODES)
def test_a_document_with_many_good_chunks_leaves_room_for_the_others(shelf: Engine, mode: Mode) -> None:
    without = all_hits(shelf, SearchQuery(query="coffee", mode=mode))
    hits = all_hits(shelf, SearchQuery(query="coffee", mode=mode, per_doc=1))

    assert paths(without).keys() == {"manual.md"}  # all that a search returns is of one document
    assert paths(hits) == Counter(["manual.md", *SHORT])
    assert [hit.rank for hit in hits] == list(range(1, 11))
    assert hits[0].chunk_id == without[0].chunk_id


@pytest.mark.parametrize("fusion", ["convex", "rrf"])
@pytest.mark.parametrize("depth", [1, 3, 8])
def test_each_side_brings_as_many_documents_as_it_may_bring_chunks(shelf: Engine, fusion: str, depth: int) -> None:
    search = Search(fusion=fusion, candidate_depth=depth)  # type: ignore[arg-type]  # one of two
    hits = all_hits(shelf, SearchQuery(query="coffee", per_doc=1), search)

    assert paths(hits).most_common(1)[0][1] == 1
    assert len(hits) >= depth
    assert [(-hit.score, hit.chunk_id) for hit in hits] == sorted((-hit.score, hit.chunk_id) for hit in hits)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_where_all_fits_it_is_the_ranking_without_what_is_too_much(shelf: Engine, mode: Mode, limit: int) -> None:
    query = SearchQuery(
        query="kettle window coffee", mode=mode, filters=replace(SearchQuery(query="x").filters, path_glob="short*")
    )
    seen: Counter[str] = Counter()
    kept = []
    for hit in all_hits(shelf, query):
        seen[hit.doc_path] += 1
        if seen[hit.doc_path] <= limit:
            kept.append(hit)

    hits = all_hits(shelf, replace(query, per_doc=limit))

    assert [replace(hit, rank=0) for hit in hits] == [replace(hit, rank=0) for hit in kept]
    assert len(hits) == 9 * min(limit, 2)


@pytest.mark.parametrize("fusion", ["convex", "rrf"])
def test_ranks_of_a_side_are_those_without_the_limit(shelf: Engine, fusion: str) -> None:
    search = Search(fusion=fusion)  # type: ignore[arg-type]  # one of two
    query = SearchQuery(query="kettle coffee", filters=replace(SearchQuery(query="x").filters, path_glob="short*"))
    ranks = {hit.chunk_id: hit.retrieval for hit in all_hits(shelf, query, search)}

    hits = all_hits(shelf, replace(query, per_doc=1), replace(search, candidate_depth=3))

    assert len(hits) >= 3
    for hit in hits:
        assert hit.retrieval.lexical_rank in (None, ranks[hit.chunk_id].lexical_rank)
        assert hit.retrieval.vector_rank in (None, ranks[hit.chunk_id].vector_rank)
    beyond = all_hits(shelf, SearchQuery(query="coffee", mode="lexical", per_doc=1))
    assert [hit.retrieval.lexical_rank for hit in beyond] == [1, *range(SECTIONS + 1, SECTIONS + 10)]


@settings(max_examples=25)
@given(
    st.sampled_from(MODES),
    st.integers(1, 3),
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(1, 8), st.none() | st.integers(1, 2000)), min_size=40, max_size=40),
)
def test_pages_of_any_sizes_and_budgets_visit_every_hit_once(
    shelf: Engine, mode: Mode, limit: int, depth: int, looks: list[tuple[int, int | None]]
) -> None:
    query = SearchQuery(query="coffee kettle", mode=mode, per_doc=limit)
    search = Search(candidate_depth=depth)
    visited: list[str] = []
    cursor = None
    for k, max_tokens in looks:
        page = ask(shelf, replace(query, k=k), SearchOpts(cursor=cursor, max_tokens=max_tokens), search)
        visited += [hit.chunk_id for hit in page.hits]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert visited == [hit.chunk_id for hit in all_hits(shelf, query, search)]


def test_a_cursor_goes_on_under_the_same_limit_only(shelf: Engine) -> None:
    query = SearchQuery(query="coffee", k=2, per_doc=1)
    later = SearchOpts(cursor=ask(shelf, query).next_cursor)

    assert ask(shelf, replace(query, k=5), later).hits[0].rank == 3
    for other in (None, 0, 2):
        with pytest.raises(StaleCursorError) as caught:
            ask(shelf, replace(query, per_doc=other), later)
        assert caught.value.details == {"reason": "query"}


def test_none_and_zero_are_the_same_no_limit(shelf: Engine) -> None:
    query = SearchQuery(query="coffee", k=2)

    assert ask(shelf, replace(query, per_doc=0)) == ask(shelf, query)


@pytest.mark.parametrize("number", [-1, 1001, True, 1.0])
def test_a_limit_out_of_range_is_refused_with_its_value(shelf: Engine, number: int) -> None:
    with pytest.raises(InvalidInputError, match=r"per_doc: expected a whole number from 0 to 1000.*, got ") as caught:
        ask(shelf, SearchQuery(query="coffee", per_doc=number))

    assert caught.value.details["key"] == "per_doc"


def test_no_graph_is_walked_for_a_limit_as_it_may_see_one_document_only(shelf: Engine) -> None:
    class WithGraph:
        graph = object()
        manifest = replace(shelf.snapshot.generation.manifest, n_windows=10**7)

    walk = Search(vector_index="hnsw")
    assert vector_path("hybrid", WithGraph, walk) == "hnsw"  # type: ignore[arg-type]  # what is looked at
    assert vector_path("hybrid", WithGraph, walk, 1) == "exact"  # type: ignore[arg-type]  # the same


@pytest.mark.parametrize("mode", MODES)
def test_a_trace_shows_what_each_side_found_before_the_limit(shelf: Engine, mode: Mode) -> None:
    query = SearchQuery(query="coffee", mode=mode, per_doc=1)
    plain, traced = ask(shelf, query), ask(shelf, query, SearchOpts(trace=True))

    assert traced.hits == plain.hits
    assert traced.trace
    rows = traced.trace.lexical or traced.trace.vector
    assert len(rows) > len(traced.trace.rrf_inputs)
