"""The part of a chunk that shows why it was found, cut from the original text.

A snippet grows with its length limit: what a shorter one shows, a longer one shows too. Fitting a page into a budget
relies on that. Two windows are chosen first, the best of the full length and, inside it, the best of the least length;
every length between is a step from one to the other.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kebab_stream.analyser import terms

ELLIPSIS = "…"
FLOOR_CHARS = 60
"""Snippets are not cut below this to fit a budget."""

_WORD = re.compile(r"\w+")
_LONG_RUN = 20
"""Runs of letters longer than this (Chinese, Japanese) are looked at in pairs of characters."""
_CONTEXT = 64
"""How far around a cut graphemes are looked at; longer ones do not occur in text."""

Window = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A chunk's text and the windows it can be cut to."""

    text: str
    outer: Window
    inner: Window
    reach: int
    """How far a cut may move inwards to fall between words."""

    def at(self, cap: int) -> tuple[str, bool]:
        """The snippet in at most `cap` code points, and whether it is the whole text."""
        if len(self.text) <= cap:
            return self.text, True
        start, end = self._window(max(0, cap - 2))
        start, end = _start_cut(self.text, start, self.reach), _end_cut(self.text, end, self.reach)
        if start >= end:
            return ELLIPSIS, False
        before = ELLIPSIS if start > 0 else ""
        after = ELLIPSIS if end < len(self.text) else ""
        return before + self.text[start:end] + after, False

    def _window(self, length: int) -> Window:
        (outer_start, outer_end), (inner_start, inner_end) = self.outer, self.inner
        outer_length, inner_length = outer_end - outer_start, inner_end - inner_start
        if outer_length <= inner_length or length >= outer_length:
            return outer_start, min(outer_end, outer_start + length)
        steps = max(0, outer_length - max(length, inner_length))
        start = outer_start + (inner_start - outer_start) * steps // (outer_length - inner_length)
        return start, start + length


def snippet_of(text: str, weights: Mapping[str, float], width: int) -> Snippet:
    """Choose where to cut a text.

    Args:
        weights: the query's terms and what each is worth (its idf).
        width: the longest snippet, in code points.
    """
    matches = list(_matches(text, weights)) if len(text) > FLOOR_CHARS else []
    everything = (0, len(text))
    # Two code points are kept for the ellipses.
    outer = everything if len(text) <= width else _best_window(matches, weights, max(0, width - 2), everything)
    inner = _best_window(matches, weights, min(FLOOR_CHARS - 2, outer[1] - outer[0]), outer)
    return Snippet(text, outer, inner, reach=min(20, width // 5))


Match = tuple[int, int, frozenset[str]]


def _matches(text: str, weights: Mapping[str, float]) -> Iterator[Match]:
    """(start, end, query terms) of each word that holds a query term."""
    for word in _WORD.finditer(text):
        for start, end in _pieces(*word.span()):
            found = frozenset(term for term in terms(text[start:end]) if term in weights)
            if found:
                yield start, end, found


def _pieces(start: int, end: int) -> Iterator[Window]:
    if end - start <= _LONG_RUN:
        yield start, end
    else:
        yield from ((place, place + 2) for place in range(start, end - 1))


def _best_window(matches: list[Match], weights: Mapping[str, float], length: int, bounds: Window) -> Window:
    """The window of a length, inside bounds, whose distinct terms weigh most; ties: more matches, then the first."""
    low, high = bounds
    inside = [match for match in matches if low <= match[0] and match[1] <= high]
    best_score, best = (0.0, 0), (low, low)
    first = 0
    for last, (_, end, _) in enumerate(inside):
        while end - inside[first][0] > length and first < last:
            first += 1
        group = inside[first : last + 1]
        distinct = frozenset[str]().union(*(match[2] for match in group))
        score = (sum(sorted(weights[term] for term in distinct)), len(group))
        if score > best_score:
            best_score, best = score, (inside[first][0], end)
    middle = (best[0] + best[1]) // 2 if best_score[1] else low
    start = max(low, min(middle - length // 2, high - length))
    return start, min(high, start + length)


def _start_cut(text: str, place: int, reach: int) -> int:
    """The first place from here on where a word begins; a grapheme border where none is near."""
    if place <= 0:
        return 0
    for candidate in range(place, min(place + reach, len(text))):
        if text[candidate - 1].isspace() and not text[candidate].isspace():
            return candidate
    while place < len(text) and not _is_grapheme_border(text, place):
        place += 1
    return place


def _end_cut(text: str, place: int, reach: int) -> int:
    """The last place up to here where a word ends; a grapheme border where none is near."""
    if place >= len(text):
        return len(text)
    for candidate in range(place, max(place - reach, 0), -1):
        if text[candidate].isspace() and not text[candidate - 1].isspace():
            return candidate
    while place > 0 and not _is_grapheme_border(text, place):
        place -= 1
    return place


def _is_grapheme_border(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if _stands_alone(before) and _stands_alone(after):
        return (before, after) != ("\r", "\n")
    import regex  # late: only odd text needs it

    # Begin where a grapheme surely begins, so that the borders found are real ones.
    start = max(0, place - _CONTEXT)
    while start < place - 1 and not _stands_alone(text[start]):
        start += 1
    return any(match.end() + start == place for match in regex.finditer(r"\X", text[start : place + _CONTEXT]))


def _stands_alone(char: str) -> bool:
    """True for characters that never join their neighbours: ASCII, Latin, Han, Hangul syllables."""
    return char < "\u0300" or "\u4e00" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3"
