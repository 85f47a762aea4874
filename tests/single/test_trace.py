"""The trace of a query: what each side returned and what fusion made of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from kebab_stream.config import Search
from kebab_stream.engine import Engine
from kebab_stream.model import MODES, Filters, Mode, SearchOpts, SearchQuery, SearchResponse, Trace
from kebab_stream.render import to_json
from tests.corpora import config_of, ingest_files

TRACED = SearchOpts(trace=True)


def trace_of(
    engine: Engine, mode: Mode, *, depth: int = 200, text: str = "coffee 커피"
) -> tuple[SearchResponse, Trace]:
    shallow = Engine(replace(engine.config, search=Search(candidate_depth=depth)), engine.snapshot)
    shallow._embedder = engine._embedder  # loaded once
    response = shallow.search_with_opts(SearchQuery(query=text, mode=mode, k=1000), TRACED)
    assert response.trace is not None
    return response, response.trace


def test_the_sides_are_what_the_single_modes_answer(library: Engine) -> None:
    _, trace = trace_of(library, "hybrid", depth=7)
    for rows, mode in ((trace.lexical, MODES[0]), (trace.vector, MODES[1])):
        hits = library.search(SearchQuery(query="coffee 커피", mode=mode, k=7))

        assert [(row.chunk_id, row.doc_id, row.doc_path, row.rank, row.score) for row in rows] == [
            (hit.chunk_id, hit.doc_id, hit.doc_path, hit.rank, hit.score) for hit in hits
        ]


@pytest.mark.parametrize("mode", MODES)
def test_the_union_says_of_each_chunk_what_its_hit_says(library: Engine, mode: Mode) -> None:
    response, trace = trace_of(library, mode, depth=7)

    assert [
        (row.chunk_id, row.lexical_rank, row.vector_rank, row.lexical_score, row.vector_score, row.fusion_score)
        for row in trace.rrf_inputs
    ] == [
        (
            hit.chunk_id,
            hit.retrieval.lexical_rank,
            hit.retrieval.vector_rank,
            hit.retrieval.lexical_score,
            hit.retrieval.vector_score,
            hit.score,
        )
        for hit in response.hits
    ]


def test_a_side_that_did_not_run_has_no_rows_and_took_no_time(library: Engine) -> None:
    _, lexical = trace_of(library, "lexical")
    _, vector = trace_of(library, "vector")

    assert lexical.lexical
    assert (lexical.vector, lexical.timing.vector_ms, lexical.timing.fusion_ms) == ((), 0, 0)
    assert vector.vector
    assert (vector.lexical, vector.timing.lexical_ms, vector.timing.fusion_ms) == ((), 0, 0)


def test_times_are_fractions_of_milliseconds_within_the_total(library: Engine) -> None:
    _, trace = trace_of(library, "hybrid")
    timing = trace.timing
    parts = (timing.lexical_ms, timing.vector_ms, timing.fusion_ms)

    assert all(part > 0 for part in parts)
    assert sum(parts) <= timing.total_ms
    assert all(isinstance(part, float) and part != int(part) for part in (*parts, timing.total_ms))


@pytest.mark.parametrize("mode", MODES)
def test_a_query_that_finds_nothing_has_an_empty_trace(library: Engine, mode: Mode) -> None:
    response, trace = trace_of(library, mode, text="?!")

    assert response.hits == ()
    assert (trace.lexical, trace.vector, trace.rrf_inputs) == ((), (), ())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("max_tokens", [None, 1, 600, 5000])
def test_a_trace_changes_nothing_else(library: Engine, mode: Mode, max_tokens: int | None) -> None:
    query = SearchQuery(query="coffee 커피", mode=mode, filters=Filters(lang="ko"))
    opts = SearchOpts(max_tokens=max_tokens)

    traced = library.search_with_opts(query, replace(opts, trace=True))

    assert traced.trace is not None
    assert replace(traced, trace=None) == library.search_with_opts(query, opts)


def test_the_trace_covers_the_result_set_whatever_the_page(library: Engine) -> None:
    first = library.search_with_opts(SearchQuery(query="coffee", k=2), TRACED)
    second = library.search_with_opts(SearchQuery(query="coffee", k=2), replace(TRACED, cursor=first.next_cursor))
    assert first.trace is not None
    assert second.trace is not None

    assert replace(first.trace, timing=second.trace.timing) == second.trace


def test_more_chunks_than_sqlite_has_variables_are_traced(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    text = "\n\n".join(f"## Number {number}\n\ncoffee" for number in range(1100))
    ingest_files(config, tmp_path / "source", {"a.md": text})
    with Engine.open(config) as engine:
        response = engine.search_with_opts(SearchQuery(query="coffee", mode="lexical", k=1000), TRACED)

    assert response.trace is not None
    assert len(response.hits) == len(response.trace.lexical) == len(response.trace.rrf_inputs) == 1000
    assert len(to_json(response)) > 1_000_000
