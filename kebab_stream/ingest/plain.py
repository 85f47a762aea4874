"""Plain text as blocks: paragraphs are separated by blank lines."""

from collections.abc import Iterable, Iterator, Sequence

from kebab_stream.ingest.document import Block


def paragraphs(lines: Sequence[str], numbers: Iterable[int] | None = None) -> Iterator[Block]:
    """Runs of consecutive lines that are not blank.

    Args:
        lines: all lines of the document.
        numbers: the line numbers to look at, from 1, ascending; all of them by default. Lines left out separate
            paragraphs too.
    """
    start = end = 0
    for number in numbers if numbers is not None else range(1, len(lines) + 1):
        if start and (number > end + 1 or not lines[number - 1].strip()):
            yield Block("text", start, end)
            start = 0
        if lines[number - 1].strip():
            start, end = start or number, number
    if start:
        yield Block("text", start, end)
