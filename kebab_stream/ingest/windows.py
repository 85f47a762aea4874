"""A chunk as windows: the pieces of text that get a vector each."""

from kebab_stream.ingest.sentences import hard_pieces, sentences

WINDOW_CHARS = 200
"""Measured: the best size for the bundled model, which averages over a window's words."""


def windows(text: str, size: int = WINDOW_CHARS) -> list[str]:
    """Pack whole sentences into windows of at most `size` characters.

    A longer sentence is cut as `hard_pieces` does. In order, and together the windows hold every character that is
    not white space exactly once. A blank text has none.
    """
    packed: list[tuple[int, int]] = []
    for whole in sentences(text):
        for start, end in hard_pieces(text, *whole, size):
            if packed and end - packed[-1][0] <= size:
                packed[-1] = (packed[-1][0], end)
            else:
                packed.append((start, end))
    return [text[start:end] for start, end in packed]
