"""Source code as blocks without knowing its language: cut where something begins at the left margin."""

import re
from collections.abc import Iterator, Sequence

from kebab_stream.ingest.document import Block

_BEGINS_DEFINITION = re.compile(r"[^\s)\]}]")
"""Something at the left margin, unless it closes what stands above."""


def margin_blocks(lines: Sequence[str], first: int, last: int) -> Iterator[Block]:
    """Cut the lines `first`…`last` (from 1) where a blank line is followed by an unindented one.

    Those are mostly between definitions. What stands directly above one, such as a comment, stays with it.
    """
    start = end = 0  # the block under way; none yet when 0
    for number in range(first, last + 1):
        line = lines[number - 1]
        if not line.strip():
            continue
        after_blank = end < number - 1
        if start and after_blank and _BEGINS_DEFINITION.match(line):
            yield Block("text", start, end)
            start = 0
        start = start or number
        end = number
    if start:
        yield Block("text", start, end)
