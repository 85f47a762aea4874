"""Source code as blocks: stretches between blank lines that begin at the left margin."""

import re
from collections.abc import Sequence

from kebab_stream.ingest.document import Block

_BEGINS_DEFINITION = re.compile(r"[^\s)\]}]")
"""Something at the left margin, unless it closes what stands above."""


def code_blocks(lines: Sequence[str]) -> list[Block]:
    """Cut source code where a blank line is followed by an unindented one: mostly between definitions.

    What stands directly above a definition, such as comments and decorators, stays with it.
    """
    blocks: list[Block] = []
    start = end = 0  # the block under way, as 1-based lines; no block yet when 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        after_blank = end < number - 1
        if start and after_blank and _BEGINS_DEFINITION.match(line):
            blocks.append(Block("text", start, end))
            start = 0
        start = start or number
        end = number
    if start:
        blocks.append(Block("text", start, end))
    return blocks
