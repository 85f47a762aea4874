"""Where sentences end, in Korean, English and other languages that use these signs, and where to cut longer ones."""

import re
from collections.abc import Iterator

import regex

_GRAPHEME_REACH = 64
"""Characters before a cut in which the last border between graphemes is looked for."""

# Every repetition is bounded: a run of a million full stops or spaces takes linear time.
_END = re.compile(
    r"""
    [.!?…]["'”’»)\]*_`]{0,4}(?=\s)                         # . ! ? and what closes with them, then white space
    | [。！？]["'”’」』）*_`]{0,4}                           # full-width signs need no white space
    | \n(?=[ \t]{0,40}(?:\n|[-*+][ \t]|[|>\#]|\d{1,9}[.)][ \t]|```|~~~))  # before a blank line, item, row
    """,
    re.VERBOSE,
)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Offsets [start, end) of the sentences of a text, in order, without the white space around them.

    List items, table rows and paragraphs end sentences too; a line end alone does not. Together the sentences
    hold every character that is not white space.
    """
    start = 0
    for match in _END.finditer(text):
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    if start < end:
        yield start, start + len(piece.strip())


def hard_pieces(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Cut a stretch that is too long and has no better places: offsets of pieces of at most `limit` characters.

    The cut is at the last line end, else at the last white space, of the second half of what fits, else after a
    grapheme. The stretch begins and ends without white space, and so do its pieces; nothing else is lost.
    """
    while end - start > limit:
        border = _border(text, start, start + limit)
        yield start, start + len(text[start:border].rstrip())
        start = border
        while text[start].isspace():  # ends: the last character is not white space
            start += 1
    yield start, end


def _border(text: str, start: int, limit: int) -> int:
    middle = start + (limit - start) // 2
    line_end = text.rfind("\n", middle + 1, limit + 1)
    if line_end > 0:
        return line_end
    for place in range(limit, middle, -1):
        if text[place].isspace():
            return place
    reach = max(start, limit - _GRAPHEME_REACH)
    borders = (reach + match.end() for match in regex.finditer(r"\X", text[reach : limit + 1]))
    return max((border for border in borders if border <= limit), default=limit)
