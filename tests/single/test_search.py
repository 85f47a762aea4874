"""One query from text to response: pages, budgets and shape, in every mode."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from kebab_stream.analyser import terms
from kebab_stream.config import Embedding, Search
from kebab_stream.embed import Embedder, load_embedder
from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError, KebabError, StaleCursorError
from kebab_stream.model import MODES, Filters, Fusion, Mode, SearchHit, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.render import to_json
from kebab_stream.single.cursor import encode_cursor, fingerprint
from kebab_stream.single.search import search, term_weights
from tests.corpora import config_of, ingest_files
from tests.single.library import ITEMS

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
TEXT = "coffee 커피"


def ask(
    engine: Engine, query: SearchQuery, opts: SearchOpts | None = None, settings: Search | None = None
) -> SearchResponse:
    settings = settings or engine.config.search
    return search(engine.snapshot, engine._embedder, query, opts or SearchOpts(), settings, now=NOW)


def pages(
    engine: Engine, query: SearchQuery, settings: Search, looks: Iterator[tuple[int, SearchOpts]]
) -> list[SearchResponse]:
    """All pages of a query, each looked at in another way."""
    responses: list[SearchResponse] = []
    cursor = None
    for k, opts in looks:
        responses.append(ask(engine, replace(query, k=k), replace(opts, cursor=cursor), settings))
        cursor = responses[-1].next_cursor
        if cursor is None:
            return responses
    raise AssertionError("the pages never end")


looks = st.tuples(
    st.integers(1, 20) | st.just(1000),
    st.builds(
        SearchOpts,
        max_tokens=st.none() | st.integers(1, 3000),
        snippet_chars=st.none() | st.integers(1, 400),
        trace=st.booleans(),
    ),
)
settings = st.builds(
    Search,
    fusion=st.sampled_from(["convex", "rrf"]),
    candidate_depth=st.integers(1, 60),
    chars_per_token=st.sampled_from([4, 1.5, 0.37, 3.3]),
)


@given(
    st.data(), st.sampled_from(MODES), settings, st.sampled_from([Filters(), Filters(lang="ko"), Filters(tag=("x",))])
)
def test_pages_of_any_sizes_and_budgets_visit_every_hit_once_in_order(
    library: Engine, data: st.DataObject, mode: Mode, settings: Search, filters: Filters
) -> None:
    query = SearchQuery(query=TEXT, mode=mode, filters=filters)
    whole = ask(library, replace(query, k=1000), settings=settings)
    taken: list[tuple[int, SearchOpts]] = []

    def drawn() -> Iterator[tuple[int, SearchOpts]]:
        for _ in range(len(whole.hits) + 1):
            taken.append(data.draw(looks))
            yield taken[-1]

    responses = pages(library, query, settings, drawn())

    hits = [hit for response in responses for hit in response.hits]
    assert [without_snippet(hit) for hit in hits] == [without_snippet(hit) for hit in whole.hits]
    assert [hit.rank for hit in hits] == list(range(1, len(whole.hits) + 1))
    assert all(response.next_cursor for response in responses[:-1])
    for (k, opts), response in zip(taken, responses, strict=True):
        size = len(to_json(replace(response, trace=None)).decode())
        assert len(response.hits) <= k
        assert opts.max_tokens is None or size <= opts.max_tokens * settings.chars_per_token or len(response.hits) <= 1
        assert (response.trace is not None) == opts.trace
        assert not (response.truncated and opts.max_tokens is None)


def without_snippet(hit: SearchHit) -> SearchHit:
    return replace(hit, snippet="", snippet_full_text=False)


@pytest.mark.parametrize("mode", MODES)
def test_the_last_full_page_knows_that_it_is_the_last(library: Engine, mode: Mode) -> None:
    query = SearchQuery(query=TEXT, mode=mode, k=len(ITEMS))

    assert ask(library, query).next_cursor is None
    assert ask(library, replace(query, k=len(ITEMS) - 1)).next_cursor is not None


@pytest.mark.parametrize("offset", [len(ITEMS), len(ITEMS) + 1, 10**6, 2**63, 2**64 - 1])
@pytest.mark.parametrize("mode", MODES)
def test_beyond_the_end_there_is_an_empty_last_page(library: Engine, mode: Mode, offset: int) -> None:
    query = SearchQuery(query=TEXT, mode=mode)
    floor = 0.0 if mode == "hybrid" else None
    print_of = fingerprint(query, mode, library.config.search, score_floor=floor)
    cursor = encode_cursor(offset, library.snapshot.corpus_revision, print_of)

    response = ask(library, query, SearchOpts(cursor=cursor, max_tokens=1))

    assert (response.hits, response.next_cursor, response.truncated) == ((), None, False)


def test_a_cursor_continues_only_its_own_query_on_its_own_revision(library: Engine, plain_library: Engine) -> None:
    query = SearchQuery(query=TEXT, k=5)
    cursor = ask(library, query).next_cursor
    later = SearchOpts(cursor=cursor, max_tokens=500, snippet_chars=50, trace=True)

    assert ask(library, replace(query, k=9), later).hits[0].rank == 6
    for reason, engine, other in (
        ("query", library, replace(query, query="coffee")),
        ("query", library, replace(query, mode="lexical")),
        ("query", library, replace(query, filters=Filters(lang="ko"))),
        ("revision", plain_library, query),
        ("revision", plain_library, replace(query, query="coffee")),
    ):
        with pytest.raises(StaleCursorError) as caught:
            ask(engine, other, later)

        assert caught.value.details == {"reason": reason}


@pytest.mark.parametrize("changed", [Search(fusion="rrf"), Search(fusion_weight=0.5), Search(candidate_depth=9)])
def test_other_ranking_settings_refuse_a_cursor(library: Engine, changed: Search) -> None:
    cursor = ask(library, SearchQuery(query=TEXT)).next_cursor
    with pytest.raises(StaleCursorError) as caught:
        ask(library, SearchQuery(query=TEXT), SearchOpts(cursor=cursor), changed)

    assert caught.value.details == {"reason": "query"}


@pytest.mark.parametrize(
    ("mode", "fusion", "refused"), [("hybrid", "convex", True), ("hybrid", "rrf", False), ("vector", "convex", False)]
)
def test_another_floor_refuses_a_cursor_where_it_changes_the_ranking(
    library: Engine, mode: Mode, fusion: Fusion, refused: bool
) -> None:
    settings = Search(fusion=fusion)
    query = SearchQuery(query=TEXT, mode=mode)
    later = SearchOpts(cursor=ask(library, query, settings=settings).next_cursor)
    raised = load_embedder(Embedding(score_floor=0.5))

    def look() -> SearchResponse:
        return search(library.snapshot, lambda: raised, query, later, settings, now=NOW)

    if refused:
        with pytest.raises(StaleCursorError):
            look()
    else:
        assert look().hits[0].rank == 11


def test_a_change_of_the_corpus_refuses_old_cursors(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    query = SearchQuery(query="coffee", mode="lexical", k=1)
    ingest_files(config, tmp_path / "source", {"a.md": "coffee", "b.md": "coffee"})
    with Engine.open(config) as engine:
        cursor = ask(engine, query).next_cursor
    ingest_files(config, tmp_path / "source", {"c.md": "coffee"})
    with Engine.open(config) as engine, pytest.raises(StaleCursorError) as caught:
        ask(engine, query, SearchOpts(cursor=cursor))

    assert caught.value.details == {"reason": "revision"}


@pytest.mark.parametrize(
    ("changes", "opts", "code"),
    [
        ({"mode": "foo"}, SearchOpts(), "invalid_input"),
        ({"filters": Filters(must="esru")}, SearchOpts(), "invalid_input"),  # type: ignore[arg-type]  # a mistake
        ({"filters": Filters(path_glob="[")}, SearchOpts(), "invalid_input"),
        ({}, SearchOpts(max_tokens=0), "invalid_input"),
        ({}, SearchOpts(cursor="x"), "stale_cursor"),
        ({}, SearchOpts(cursor=encode_cursor(1, "another revision", "")), "stale_cursor"),
    ],
)
def test_what_can_be_refused_is_before_a_model_is_loaded(
    library: Engine, changes: dict[str, Any], opts: SearchOpts, code: str
) -> None:
    def never_loaded() -> Embedder | None:
        raise AssertionError("nobody needs the model")

    query = replace(SearchQuery(query=TEXT), **changes)
    with pytest.raises(KebabError) as caught:
        search(library.snapshot, never_loaded, query, opts, library.config.search, now=NOW)

    assert caught.value.code == code


def test_lists_in_filters_are_as_good_as_tuples(library: Engine) -> None:
    listed = Filters(source=["left"], must=["coffee"])  # type: ignore[arg-type]  # as people write it
    query = SearchQuery(query=TEXT, k=3, filters=Filters(source=("left",), must=("coffee",)))

    assert ask(library, replace(query, filters=listed)) == ask(library, query)


# --- limits and defaults ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 0])
def test_without_a_page_size_the_configured_one_holds(library: Engine, k: int | None) -> None:
    assert len(ask(library, SearchQuery(query=TEXT, k=k), settings=Search(default_k=7)).hits) == 7


@pytest.mark.parametrize(("asked", "configured", "longest"), [(None, 60, 60), (150, 60, 150), (40, 60, 40), (1, 60, 1)])
def test_the_asked_snippet_length_may_be_smaller_or_larger_than_the_configured_one(
    tmp_path: Path, asked: int | None, configured: int, longest: int
) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest_files(config, tmp_path / "source", {"a.md": "tea and coffee " * 100})
    with Engine.open(config) as engine:
        opts = SearchOpts(snippet_chars=asked)
        (hit,) = ask(engine, SearchQuery(query="coffee"), opts, Search(snippet_chars=configured)).hits

    assert longest - 15 < len(hit.snippet) <= longest
    assert not hit.snippet_full_text


@pytest.mark.parametrize("max_tokens", [10**6, 10**400])
def test_a_budget_beyond_all_measure_cuts_nothing(library: Engine, max_tokens: int) -> None:
    query = SearchQuery(query=TEXT, k=1000)

    assert ask(library, query, SearchOpts(max_tokens=max_tokens)) == ask(library, query)


def test_no_more_than_a_thousand_chunks_are_found(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data")
    text = "\n\n".join(f"## Number {number}\n\ncoffee" for number in range(1100))
    ingest_files(config, tmp_path / "source", {"a.md": text})
    with Engine.open(config) as engine:
        found = {}
        for mode in MODES:
            response = ask(engine, SearchQuery(query="coffee", mode=mode, k=1000))
            found[mode] = (len(response.hits), response.next_cursor)

    assert found["lexical"] == found["vector"] == (1000, None)
    assert 200 <= found["hybrid"][0] <= 400
    assert found["hybrid"][1] is None


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000"])
def test_a_blank_query_is_refused(library: Engine, text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ask(library, SearchQuery(query=text))

    assert caught.value.details["key"] == "query"


def test_a_malformed_glob_is_refused_before_anything_is_ranked(library: Engine) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ask(library, SearchQuery(query=TEXT, filters=Filters(path_glob="a[")))

    assert caught.value.details["key"] == "path_glob"


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_index_finds_nothing(tmp_path: Path, mode: Mode) -> None:
    config = config_of(tmp_path / "data")
    ingest_files(config, tmp_path / "source", {"empty.md": "\n\n"})
    with Engine.open(config) as engine:
        response = ask(engine, SearchQuery(query="coffee", mode=mode), SearchOpts(trace=True))

    assert (response.hits, response.next_cursor, response.truncated) == ((), None, False)


# --- shape ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opts", [SearchOpts(), SearchOpts(max_tokens=700, trace=True), SearchOpts(snippet_chars=5)])
@pytest.mark.parametrize("text", [TEXT, "?!"])
def test_a_response_fits_its_schema(library: Engine, mode: Mode, opts: SearchOpts, text: str) -> None:
    adapter = TypeAdapter(SearchResponse)
    schema = adapter.json_schema(mode="serialization")
    query = SearchQuery(query=text, mode=mode, filters=Filters(source=("left", "right")))

    written = to_json(ask(library, query, opts))

    Draft202012Validator(schema).validate(TypeAdapter(object).validate_json(written))
    assert to_json(adapter.validate_json(written)) == written


@pytest.mark.parametrize("mode", MODES)
def test_the_same_query_has_the_same_answer_to_the_last_byte(library: Engine, mode: Mode) -> None:
    first, second = (to_json(ask(library, SearchQuery(query=TEXT, mode=mode, k=1000))) for _ in range(2))

    assert first == second


def test_hits_are_stale_by_the_given_time(library: Engine) -> None:
    hits = ask(library, SearchQuery(query=TEXT, k=1000), settings=Search(stale_threshold_days=3)).hits

    indexed = {(item.source, item.path): item.indexed_at for item in ITEMS}
    assert {hit.stale for hit in hits} == {True, False}
    for hit in hits:
        assert hit.stale == (NOW - indexed[hit.source_id, hit.doc_path] > timedelta(days=3))


def test_snippets_show_the_query(library: Engine) -> None:
    for hit in ask(library, SearchQuery(query="strasse", mode="lexical"), SearchOpts(snippet_chars=60)).hits:
        assert "Straße" in hit.snippet


def test_rare_terms_weigh_more_in_a_snippet_and_unknown_ones_nothing(library: Engine) -> None:
    weights = term_weights(library.snapshot.generation, terms("coffee strasse unbekannt") * 100_000)

    assert weights.keys() == {"coffe", "strass"}
    assert 0 < weights["coffe"] < weights["strass"]


def test_two_hints_are_told_together(plain_library: Engine) -> None:
    response = ask(plain_library, SearchQuery(query=TEXT, filters=Filters(lang="xx")))

    assert response.hint
    assert "no vectors" in response.hint
    assert 'lang "xx"' in response.hint


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("how is the zanzibar coffee poured over", 'no document has "zanzibar"'),
        ("커피는 어떻게 내린다 말린다", None),
        ("무엇입니까", 'no document has "무엇입니까"'),
    ],
)
def test_a_hint_names_absent_words_that_were_looked_for(library: Engine, query: str, hint: str | None) -> None:
    assert ask(library, SearchQuery(query=query)).hint == hint
