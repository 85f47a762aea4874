"""Tables for people: columns aligned by what a terminal shows, so that Korean counts as wide as it is."""

import os
import shutil
from collections.abc import Iterable, Sequence

from kebab_stream.render import printable

_GAP = "  "
_LEAST = 4
"""Columns of text are cut to no less."""


def table(rows: Iterable[Sequence[object]], right: Sequence[int] = (), *, fit: bool = False) -> str:
    """Rows, the first of them the heads, as lines; the last column is as long as it is.

    Args:
        right: the columns, from 0, that are aligned to the right.
        fit: on a terminal, cut the widest of the others until the table fits in.
    """
    import wcwidth  # late: only tables for people need it

    cells = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(map(wcwidth.width, column)) for column in zip(*cells, strict=True)]
    if fit and os.isatty(1):
        _narrow(widths, right, shutil.get_terminal_size().columns - len(_GAP) * (len(widths) - 1))
        cells = [[_cut(cell, width) for cell, width in zip(row, widths, strict=True)] for row in cells]
    if widths and len(widths) - 1 not in right:
        widths[-1] = 0
    return "".join(
        _GAP.join(
            (wcwidth.rjust if place in right else wcwidth.ljust)(cell, width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in cells
    )


def _narrow(widths: list[int], right: Sequence[int], room: int) -> None:
    """Take from the widest column, a place at a time, until all fit in the room or none can give more."""
    texts = [place for place in range(len(widths)) if place not in right]
    while sum(widths) > room and texts:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _LEAST:
            return
        widths[widest] -= 1


def _cut(cell: str, width: int) -> str:
    import wcwidth

    return cell if wcwidth.width(cell) <= width else wcwidth.clip(cell, 0, width - 1).rstrip() + "…"
