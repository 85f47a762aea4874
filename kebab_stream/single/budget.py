"""Fitting a page of hits into a budget of characters: shorter snippets first, then fewer hits, never less metadata."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kebab_stream.model import SearchHit, SearchResponse
from kebab_stream.render import to_json
from kebab_stream.single.snippet import FLOOR_CHARS, Snippet

NextCursor = Callable[[int], str | None]
"""The cursor after so many returned hits of this page."""


@dataclass(frozen=True, slots=True)
class Page:
    """Hits of one page, each with the text its snippet is cut from."""

    hits: Sequence[SearchHit]
    snippets: Sequence[Snippet]
    next_cursor: NextCursor
    hint: str | None

    def cut(self, count: int, cap: int) -> SearchResponse:
        """The first `count` hits with snippets of at most `cap` code points."""
        shown = zip(self.hits[:count], self.snippets, strict=False)
        return SearchResponse(
            hits=tuple(_with_snippet(hit, snippet, cap) for hit, snippet in shown),
            next_cursor=self.next_cursor(count),
            truncated=False,
            trace=None,
            hint=self.hint,
        )


def fit(page: Page, *, snippet_chars: int, max_chars: float | None) -> SearchResponse:
    """Cut a page so that its JSON has at most `max_chars` code points, or one hit.

    Contract §5: as many hits as fit with the shortest snippets (60 code points), then the longest snippets with which
    these hits fit. `truncated` tells whether the budget changed anything, or could not be met.
    """
    whole = page.cut(len(page.hits), snippet_chars)
    if max_chars is None or length(whole) <= max_chars:
        return whole
    floor = min(FLOOR_CHARS, snippet_chars)
    count = _most_hits(page, floor, max_chars)
    cap = _longest_cap(page, count, floor, snippet_chars, max_chars)
    response = page.cut(count, cap)
    truncated = response != whole or length(response) > max_chars
    return replace(response, truncated=truncated)


def length(response: SearchResponse) -> int:
    """What a budget counts: code points of the response as it is written, its trace counted as null."""
    return len(to_json(replace(response, trace=None)).decode("utf-8"))


def _most_hits(page: Page, cap: int, max_chars: float) -> int:
    """The most hits that fit with snippets of at most `cap`; at least one if there is any."""
    shortest = page.cut(len(page.hits), cap)
    sizes = [len(to_json(hit).decode("utf-8")) for hit in shortest.hits]
    for count in range(len(sizes), 1, -1):
        envelope = length(replace(shortest, hits=(), next_cursor=page.next_cursor(count), truncated=count < len(sizes)))
        if envelope + sum(sizes[:count]) + count - 1 <= max_chars:
            return count
    return min(1, len(sizes))


def _longest_cap(page: Page, count: int, floor: int, snippet_chars: int, max_chars: float) -> int:
    """The longest snippet limit with which `count` hits fit, `floor` if none does. Longer limits never need less."""
    low, high = floor, snippet_chars
    whole = page.cut(len(page.hits), snippet_chars)
    while low < high:
        middle = (low + high + 1) // 2
        response = page.cut(count, middle)
        if length(replace(response, truncated=response != whole)) <= max_chars:
            low = middle
        else:
            high = middle - 1
    return low


def _with_snippet(hit: SearchHit, snippet: Snippet, cap: int) -> SearchHit:
    text, whole = snippet.at(cap)
    return replace(hit, snippet=text, snippet_full_text=whole)
