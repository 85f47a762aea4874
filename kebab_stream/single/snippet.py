"""The part of a chunk that shows why it was found, cut from the original text.

A snippet grows with its length limit: what a shorter one shows, a longer one shows too. Fitting a page into a budget
relies on that. Two windows are chosen first, the best of the full length and, inside it, the best of the least length;
every length between is a step from one to the other. Cuts then move inwards, to the border of a word or at least of a
grapheme, but not past the words that the windows were chosen for.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kebab_stream.analyser import terms

ELLIPSIS = "…"
FLOOR_CHARS = 60
"""Snippets are not cut below this to fit a budget."""

# What stands between white space and punctuation, up to the longest term; combining marks are part of a word.
_WORD = re.compile(
    r"[^\s!-&(-/:-@\[-^`{-~\u00a1\u00ab\u00b7\u00bb\u2010-\u205f\u3001-\u3003\u3008-\u3020"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]{1,64}"
)
_LONG_WORD = 20
"""Longer ones are mostly sentences in a script without spaces: they are looked at in pairs of characters."""
_PIECE = re.compile(r"([A-Za-z0-9_]+)|(?=([^A-Za-z0-9_]{1,2}))[^A-Za-z0-9_]")

_SEPARATE = (
    ("\0", "\x0c"),  # a carriage return joins a line feed
    ("\x0e", "\u02ff"),
    ("\u2010", "\u2027"),  # dashes, quotation marks, bullets
    ("\u2030", "\u205e"),
    ("\u2190", "\u21ff"),  # arrows
    ("\u2500", "\u25ff"),  # boxes and shapes
    ("\u3000", "\u3029"),
    ("\u3041", "\u3096"),
    ("\u30a1", "\u30ff"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7a3"),
    ("\uff01", "\uff9d"),
)
"""ASCII, Latin, punctuation, Kana, Han and Hangul syllables: characters that never join the one before."""

Window = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A chunk's text and the windows it can be cut to."""

    text: str
    outer: Window
    inner: Window
    cores: tuple[Window, Window]
    """From the first to the last word that each window was chosen for; empty where no word matches."""
    reach: int
    """How far a cut may move inwards to fall between words; not past an end of a core."""
    borders: Sequence[int]
    """Ascending: all borders of graphemes in the outer window, and some before it."""

    def at(self, cap: int) -> tuple[str, bool]:
        """The snippet in at most `cap` code points, and whether it is the whole text."""
        if len(self.text) <= cap:
            return self.text, True
        start, end = self._window(max(0, cap - 2))
        starts = [start + self.reach, *(first for first, _ in self.cores if first >= start)]
        ends = [end - self.reach, *(last for _, last in self.cores if last <= end)]
        start, end = self._start_cut(start, min(starts)), self._end_cut(end, max(ends))
        if start >= end:
            return ELLIPSIS, False
        before = ELLIPSIS if start > 0 else ""
        after = ELLIPSIS if end < len(self.text) else ""
        return before + self.text[start:end] + after, False

    def _window(self, length: int) -> Window:
        (outer_start, outer_end), (inner_start, inner_end) = self.outer, self.inner
        spare = outer_end - outer_start - (inner_end - inner_start)
        steps = min(max(outer_end - outer_start - length, 0), spare)
        start = outer_start + ((inner_start - outer_start) * steps // spare if spare else 0)
        return start, min(start + length, outer_end)

    def _start_cut(self, place: int, last: int) -> int:
        """The first place from here to `last` after white space, or else outside of a word, or the next grapheme."""
        if place <= 0:
            return 0
        candidates = [each for each in range(place, last + 1) if not self.text[each].isspace()]
        for is_good in (lambda each: self.text[each - 1].isspace(), self._is_outside_words):
            for candidate in candidates:
                if is_good(candidate) and self._is_border(candidate):
                    return candidate
        return self.borders[bisect_left(self.borders, place)]

    def _end_cut(self, place: int, first: int) -> int:
        """The last place from here back to `first` before white space, or else outside of a word, or a grapheme."""
        if place >= len(self.text):
            return place
        candidates = [each for each in range(place, max(first, 1) - 1, -1) if not self.text[each - 1].isspace()]
        for is_good in (lambda each: self.text[each].isspace(), self._is_outside_words):
            for candidate in candidates:
                if is_good(candidate) and self._is_border(candidate):
                    return candidate
        return self.borders[bisect_right(self.borders, place) - 1]

    def _is_outside_words(self, place: int) -> bool:
        return not (self.text[place - 1].isalnum() and self.text[place].isalnum())

    def _is_border(self, place: int) -> bool:
        return self.borders[bisect_left(self.borders, place)] == place


def snippet_of(text: str, weights: Mapping[str, int], width: int) -> Snippet:
    """Choose where to cut a text.

    Args:
        weights: the query's terms and what each is worth.
        width: the longest snippet, in code points.
    """
    matches = list(_matches(text, weights)) if len(text) > min(FLOOR_CHARS, width) else []
    # Two code points are kept for the ellipses.
    outer_length = len(text) if len(text) <= width else max(0, width - 2)
    outer, outer_core = _best_window(matches, weights, outer_length, (0, len(text)))
    inner, inner_core = _best_window(matches, weights, min(FLOOR_CHARS - 2, outer_length), outer)
    borders = _borders(text, outer)
    return Snippet(text, outer, inner, (outer_core, inner_core), reach=min(20, width // 5), borders=borders)


class _Match(NamedTuple):
    start: int
    end: int
    terms: frozenset[str]
    """Terms of the query that the word holds."""


def _matches(text: str, weights: Mapping[str, int]) -> Iterator[_Match]:
    # Most words are none of the query's, and many stand there twice: each is looked at once.
    matching = {word for word in set(_WORD.findall(text)) if not _terms_of(word).isdisjoint(weights)}
    for word in _WORD.finditer(text) if matching else ():
        if word.group() not in matching:
            continue
        whole = _Match(*word.span(), _terms_of(word.group()) & weights.keys())
        if whole.end - whole.start > _LONG_WORD:
            yield from _pieces(text, whole, weights) or [whole]
        else:
            yield whole


def _pieces(text: str, word: _Match, weights: Mapping[str, int]) -> list[_Match]:
    """Where in a long word the matches are; none where only the word as a whole is one."""
    spans = (piece.span(piece.lastindex or 0) for piece in _PIECE.finditer(text, word.start, word.end))
    found = ((start, end, _terms_of(text[start:end]) & weights.keys()) for start, end in spans)
    return [_Match(start, end, some) for start, end, some in found if some]


@lru_cache(maxsize=1 << 14)
def _terms_of(word: str) -> frozenset[str]:
    # The same words come again and again, within a page and from query to query.
    return frozenset(terms(word))


def _best_window(
    matches: list[_Match], weights: Mapping[str, int], length: int, bounds: Window
) -> tuple[Window, Window]:
    """The window of a length, inside bounds, whose distinct terms weigh most, and the stretch of the words that do.

    Ties: more matches, then the first. A word longer than the window is shown from its beginning.
    """
    low, high = bounds
    inside = [match for match in matches if low <= match.start and match.end <= high]
    best_score, core = (0, 0), (low, low)
    counts: Counter[str] = Counter()
    worth = first = 0
    for last, match in enumerate(inside):
        worth += sum(weights[term] for term in match.terms if not counts[term])
        counts.update(match.terms)
        while match.end - inside[first].start > length and first < last:
            counts.subtract(inside[first].terms)
            worth -= sum(weights[term] for term in inside[first].terms if not counts[term])
            first += 1
        if (worth, last - first) > best_score:
            best_score, core = (worth, last - first), (inside[first].start, match.end)
    margin = max(0, length - (core[1] - core[0])) // 2
    start = max(low, min(core[0] - margin, high - length))
    return (start, min(high, start + length)), core


def _borders(text: str, window: Window) -> Sequence[int]:
    """All borders of graphemes in a window, in ascending order, and some before it."""
    start, end = window
    if all(map(_is_separate, set(text[max(start - 1, 0) : end + 1]))):
        return range(len(text) + 1)
    import regex  # late: only odd text needs it

    line = text.rfind("\n", 0, start) + 1  # nothing joins a line to the one before
    borders = [0, line]
    for grapheme in regex.finditer(r"\X", text, pos=line):
        borders.append(grapheme.end())
        if grapheme.end() >= end:
            break
    return borders


@lru_cache(maxsize=1 << 12)
def _is_separate(character: str) -> bool:
    return any(low <= character <= high for low, high in _SEPARATE)
