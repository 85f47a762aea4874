"""Fitting a page into a budget: as many hits as fit, then the longest snippets, never less metadata (contract §5)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kebab_stream.analyser import terms
from kebab_stream.config import Search
from kebab_stream.model import ChunkId, Retrieval, SearchResponse, Timing, Trace
from kebab_stream.render import to_json
from kebab_stream.single.budget import Page, fit, length
from kebab_stream.single.cursor import encode_cursor
from kebab_stream.single.hits import hit_of
from kebab_stream.single.snippet import snippet_of
from tests.corpora import chunk, document, odd_text, prose

QUOTES = '"\\\n' * 50
"""Characters that JSON writes as two."""

texts = st.lists(prose | odd_text | st.sampled_from(["short", QUOTES, "가나다 " * 40, "x" * 200]), max_size=5)


def page_of(texts: list[str], *, width: int, more: bool = False, hint: str | None = None, offset: int = 0) -> Page:
    """A page with a hit for each text, and perhaps more hits after them."""
    retrieval = Retrieval(
        method="lexical", fusion_score=1.5, lexical_score=1.5, vector_score=None, lexical_rank=1, vector_rank=None
    )
    hits = [
        hit_of(
            chunk(chunk_id=ChunkId(f"{number:032x}"), text=text, heading_path=("제목", "Heading")),
            document(doc_path=f"폴더/file {number}.md"),
            rank=offset + number + 1,
            score_kind="bm25",
            retrieval=retrieval,
            embedding=None,
            settings=Search(),
            now=datetime(2026, 1, 2, tzinfo=UTC),
        )
        for number, text in enumerate(texts)
    ]
    weights = dict.fromkeys(terms("검색 coffee"), 1)

    def next_cursor(count: int) -> str | None:
        is_last = count == len(texts) and not more
        return None if is_last else encode_cursor(offset + count, "00000007-0123456789ab", "0123456789abcdef")

    return Page(hits, [snippet_of(text, weights, width) for text in texts], next_cursor, hint)


def exhaustive_fit(page: Page, snippet_chars: int, max_chars: float) -> SearchResponse:
    """What the contract says, by trying every number of hits and every length of snippets."""
    whole = page.cut(len(page.hits), snippet_chars)

    def cut(count: int, cap: int) -> SearchResponse:
        response = page.cut(count, cap)
        return replace(response, truncated=response != whole)

    def fits(count: int, cap: int) -> bool:
        return len(to_json(cut(count, cap)).decode()) <= max_chars

    if not page.hits:
        return whole
    floor = min(60, snippet_chars)
    count = max((count for count in range(1, len(page.hits) + 1) if fits(count, floor)), default=1)
    cap = max((cap for cap in range(floor, snippet_chars + 1) if fits(count, cap)), default=floor)
    response = cut(count, cap)
    return replace(response, truncated=response.truncated or not fits(count, cap))


@given(
    texts,
    st.integers(1, 220),
    st.booleans(),
    st.sampled_from([None, "an advice"]),
    st.sampled_from([0, 7, 95]),
    st.floats(0, 1.05),
    st.integers(-3, 3),
)
def test_a_page_is_fitted_as_if_every_cut_had_been_tried(
    texts: list[str], width: int, more: bool, hint: str | None, offset: int, share: float, shift: int
) -> None:
    page = page_of(texts, width=width, more=more, hint=hint, offset=offset)
    max_chars = share * length(page.cut(len(texts), width)) + shift

    response = fit(page, snippet_chars=width, max_chars=max_chars)

    assert response == exhaustive_fit(page, width, max_chars)
    assert length(response) <= max_chars or len(response.hits) <= 1


def sizes(page: Page, width: int) -> tuple[int, int, int]:
    """The size of the whole page, of all hits with the shortest snippets, and of one hit with the shortest one."""
    whole = page.cut(len(page.hits), width)
    shortest = [replace(cut, truncated=cut != whole) for cut in (page.cut(len(page.hits), 60), page.cut(1, 60))]
    return length(whole), length(shortest[0]), length(shortest[1])


def test_a_page_that_just_fits_is_left_whole() -> None:
    page = page_of([QUOTES, QUOTES], width=150)
    size, _, _ = sizes(page, 150)

    assert fit(page, snippet_chars=150, max_chars=size) == page.cut(2, 150)
    assert not fit(page, snippet_chars=150, max_chars=size).truncated


def test_one_character_less_cuts_snippets_first_and_keeps_the_page_complete() -> None:
    page = page_of([QUOTES, QUOTES], width=150)
    size, _, _ = sizes(page, 150)

    response = fit(page, snippet_chars=150, max_chars=size - 1)

    assert len(response.hits) == 2
    assert response.truncated
    assert response.next_cursor is None
    assert not any(hit.snippet_full_text for hit in response.hits)


def test_hits_are_dropped_only_below_the_shortest_snippets_and_come_on_the_next_page() -> None:
    page = page_of(["가나다라 " * 60] * 3, width=220)
    _, all_short, one_short = sizes(page, 220)

    assert len(fit(page, snippet_chars=220, max_chars=all_short).hits) == 3
    fewer = fit(page, snippet_chars=220, max_chars=all_short - 1)
    assert len(fewer.hits) == 2
    assert fewer.truncated
    assert fewer.next_cursor == page.next_cursor(2)
    assert len(fit(page, snippet_chars=220, max_chars=one_short).hits) == 1


@pytest.mark.parametrize("text", ["short", "가나다라 " * 60])
def test_one_hit_is_always_shown_and_truncated_says_that_it_is_over_budget(text: str) -> None:
    page = page_of([text], width=220)

    response = fit(page, snippet_chars=220, max_chars=4)

    assert len(response.hits) == 1
    assert response.truncated
    assert len(response.hits[0].snippet) <= 60


def test_nothing_is_truncated_where_there_is_no_hit() -> None:
    page = page_of([], width=220, hint="nothing in the index passes")

    assert fit(page, snippet_chars=220, max_chars=4) == page.cut(0, 220)


def test_snippets_of_less_than_sixty_characters_are_not_cut_further() -> None:
    page = page_of(["가나다라 " * 60] * 2, width=40)

    assert [hit.snippet for hit in fit(page, snippet_chars=40, max_chars=4).hits] == [page.snippets[0].at(40)[0]]


def test_without_a_budget_nothing_is_truncated() -> None:
    page = page_of(["가나다라 " * 60] * 3, width=100)

    assert fit(page, snippet_chars=100, max_chars=None) == page.cut(3, 100)


@given(texts, st.booleans())
@example(["한글"], True)
def test_the_size_is_that_of_the_json_text_in_code_points_without_a_trace(texts: list[str], traced: bool) -> None:
    trace = Trace(
        lexical=(), vector=(), rrf_inputs=(), timing=Timing(lexical_ms=1, vector_ms=1, fusion_ms=1, total_ms=1)
    )
    response = page_of(texts, width=100).cut(len(texts), 100)

    size = length(replace(response, trace=trace) if traced else response)

    assert size == len(to_json(response).decode())
    assert b'"trace":null' in to_json(response)
