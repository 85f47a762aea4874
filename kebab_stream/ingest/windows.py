"""A chunk as windows: the pieces of text that get a vector each."""

from collections.abc import Iterator

from kebab_stream.ingest.sentences import sentences

WINDOW_CHARS = 200
"""Measured: the best size for the bundled model, which averages over a window's words."""


def windows(text: str, size: int = WINDOW_CHARS) -> list[str]:
    """Pack whole sentences into windows of at most `size` characters.

    A longer sentence is cut at a line end or between words, a longer word anywhere. In order, and together the
    windows hold every character that is not white space exactly once. A blank text has none.
    """
    packed: list[tuple[int, int]] = []
    for whole in sentences(text):
        for start, end in _cut(text, *whole, size):
            if packed and end - packed[-1][0] <= size:
                packed[-1] = (packed[-1][0], end)
            else:
                packed.append((start, end))
    return [text[start:end] for start, end in packed]


def _cut(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    while end - start > size:
        border = _border(text, start, start + size)
        piece = text[start:border].rstrip()
        yield start, start + len(piece)
        start = border
        while text[start].isspace():  # ends: the last character of a sentence is not white space
            start += 1
    yield start, end


def _border(text: str, start: int, limit: int) -> int:
    line_end = text.rfind("\n", start + (limit - start) // 2, limit)
    if line_end > 0:
        return line_end
    for place in range(limit, start, -1):
        if text[place].isspace():
            return place
    return limit
