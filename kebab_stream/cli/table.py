"""Tables for people: columns aligned by what a terminal shows, so that Korean counts as wide as it is."""

from collections.abc import Iterable, Sequence

from kebab_stream.render import printable

_GAP = "  "


def table(rows: Iterable[Sequence[object]], right: Sequence[int] = ()) -> str:
    """Rows, the first of them the heads, as lines; the last column is as long as it is.

    Args:
        right: the columns, from 0, that are aligned to the right.
    """
    import wcwidth  # late: only tables for people need it

    cells = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(map(wcwidth.width, column)) for column in zip(*cells, strict=True)]
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
