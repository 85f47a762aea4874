"""Fitting a page of hits into a budget of characters: shorter snippets first, then fewer hits, never less metadata."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kebab_stream.model import SearchHit, SearchResponse
from kebab_stream.render import to_json
from kebab_stream.single.settings import SearchSettings
from kebab_stream.single.snippet import FLOOR_CHARS, Snippet

_BOUNDLESS = 10**12
"""More tokens than any response has; a whole number may be too large for a float."""

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


def max_chars_of(max_tokens: int | None, settings: SearchSettings) -> float | None:
    """The budget in code points; None is none."""
    return None if max_tokens is None else min(max_tokens, _BOUNDLESS) * settings.chars_per_token


def fit(page: Page, *, snippet_chars: int, max_chars: float | None) -> SearchResponse:
    """Cut a page so that its JSON has at most `max_chars` code points, or one hit.

    Contract §5: as many hits as fit with the shortest snippets (60 code points), then the longest snippets with which
    these hits fit. `truncated` tells whether the budget changed anything, or could not be met.
    """
    whole = page.cut(len(page.hits), snippet_chars)
    if max_chars is None or not whole.hits or length(whole) <= max_chars:
        return whole

    def cut(count: int, cap: int) -> SearchResponse:
        response = page.cut(count, cap)
        return replace(response, truncated=response != whole)

    # Both searches may halve: a longer snippet never takes less room, and a hit takes more than the cursor that the
    # last one saves.
    floor = min(FLOOR_CHARS, snippet_chars)
    counts = range(1, len(page.hits) + 1)
    count = max(1, bisect_right(counts, max_chars, key=lambda count: length(cut(count, floor))))
    caps = range(floor + 1, snippet_chars + 1)
    cap = floor + bisect_right(caps, max_chars, key=lambda cap: length(cut(count, cap)))
    response = cut(count, cap)
    return response if length(response) <= max_chars else replace(response, truncated=True)


def length(response: SearchResponse) -> int:
    """What a budget counts: code points of the response as it is written, its trace counted as null."""
    return len(to_json(replace(response, trace=None)).decode("utf-8"))


def _with_snippet(hit: SearchHit, snippet: Snippet, cap: int) -> SearchHit:
    text, whole = snippet.at(cap)
    return replace(hit, snippet=text, snippet_full_text=whole)
