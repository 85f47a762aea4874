"""Where sentences end, in Korean, English and other languages that use these signs."""

import re
from collections.abc import Iterator

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
