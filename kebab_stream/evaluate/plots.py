"""Plots as inline SVG: no script, no image. Colours and text sizes come from the style sheet of the page.

Every mode has a colour and a shape, so that none is told by colour alone. What is drawn tells its value when the
pointer rests on it, by a `<title>`. All texts are escaped here.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

import numpy as np

from kebab_stream.model import Mode
from kebab_stream.render import printable

WIDTH: Final = 560
_LEFT: Final = 150
_RIGHT: Final = 16
_ROW: Final = 30
_NEAR: Final = 4
_ASIDE: Final = 8
_BINS: Final = 32
_LEAST: Final = 1e-9
_LABEL_CHARS: Final = 22


def shown(text: str) -> str:
    """A text for HTML: one line, nothing in it is markup, controls are visible."""
    return escape(printable(text))


def signed(value: float, decimals: int = 3) -> str:
    """A number with its sign, a minus as wide as a plus."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def mark(mode: Mode, x: float, y: float, title: str = "") -> str:
    """The shape of a mode at a point: a circle, a triangle or a square."""
    inside = f"<title>{title}</title>"
    match mode:
        case "lexical":
            return f'<circle class="{mode}" cx="{x:.1f}" cy="{y:.1f}" r="6">{inside}</circle>'
        case "vector":
            points = f"{x:.1f},{y - 7:.1f} {x - 7:.1f},{y + 6:.1f} {x + 7:.1f},{y + 6:.1f}"
            return f'<polygon class="{mode}" points="{points}">{inside}</polygon>'
        case "hybrid":
            return f'<rect class="{mode}" x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12">{inside}</rect>'


def dots(name: str, rows: Sequence[tuple[str, Sequence[tuple[Mode, float]]]]) -> str:
    """One row for each set, and in it a shape for each mode, on an axis from 0 to 1.

    Args:
        name: what is measured.
        rows: (set, values of the modes).
    """
    height = _ROW * len(rows) + 34
    span = WIDTH - _LEFT - _RIGHT
    parts = []
    for tick in range(0, 11, 2):
        x = _LEFT + span * tick / 10
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="8" x2="{x:.1f}" y2="{height - 24}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 8}" text-anchor="middle">{tick / 10:.1f}</text>')
    for place, (label, values) in enumerate(rows):
        y = 8 + _ROW * (place + 0.5)
        places = [(mode, value, _LEFT + span * value) for mode, value in values]
        parts.append(
            f'<text x="{_LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{shown(_short(label))}'
            f"<title>{shown(label)}</title></text>"
        )
        if places:
            low, high = min(x for _, _, x in places), max(x for _, _, x in places)
            parts.append(f'<line class="span" x1="{low:.1f}" y1="{y:.1f}" x2="{high:.1f}" y2="{y:.1f}"/>')
        aside = _spread([x for _, _, x in places])
        parts += [
            mark(mode, x, y + down, f"{shown(label)}, {mode}: {value:.3f}")
            for (mode, value, x), down in zip(places, aside, strict=True)
        ]
    return _svg("dots", name, height, parts)


def differences(name: str, values: Iterable[tuple[str, float]]) -> str:
    """A bar for each query that two rankings answer differently, from the best to the worst; none for the others.

    Args:
        name: what is compared.
        values: (query, difference); positive goes up.
    """
    every = list(values)
    bars = sorted(((query, value) for query, value in every if value), key=lambda one: -one[1])
    wins = sum(value > 0 for _, value in bars)
    same = len(every) - len(bars)
    height, middle, left, gap = 190, 95.0, 44, 84.0
    most = max((abs(value) for _, value in bars), default=1.0)
    width = (WIDTH - left - _RIGHT - gap) / max(len(bars), 1)
    parts = [f'<line class="axis" x1="{left}" y1="{middle}" x2="{WIDTH - _RIGHT}" y2="{middle}"/>']
    for value in (most, -most):
        y = middle - 76 * value / most
        parts.append(f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{signed(value, 2)}</text>')
    for place, (query, value) in enumerate(bars):
        x = left + width * place + (gap if value < 0 else 0)
        tall = max(76 * abs(value) / most, 0.5)
        kind, y = ("better", middle - tall) if value > 0 else ("worse", middle)
        parts.append(
            f'<rect class="{kind}" x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{tall:.1f}">'
            f"<title>{signed(value)} {shown(query)}</title></rect>"
        )
    between = left + width * wins + gap / 2
    parts.append(f'<text class="tick" x="{between:.1f}" y="{middle - 6}" text-anchor="middle">{same} same</text>')
    if same:
        parts.append(f'<text class="tick" x="{between:.1f}" y="{middle + 16}" text-anchor="middle">not drawn</text>')
    parts.append(f'<text class="tick" x="{left}" y="{height - 4}">{wins} better</text>')
    parts.append(
        f'<text class="tick" x="{WIDTH - _RIGHT}" y="{height - 4}" text-anchor="end">{len(bars) - wins} worse</text>'
    )
    return _svg("differences", name, height, parts)


def distributions(name: str, right: Sequence[float], wrong: Sequence[float]) -> str:
    """Two histograms on one axis of scores: of first hits that are relevant, upwards, and of those that are not.

    A score below 0 counts as 0.
    """
    height, middle, left = 190, 88.0, 20
    top = _round_end(max([*right, *wrong, 0.0]))
    # Rounding may leave the end a last digit below the highest score.
    counts = [np.histogram(np.clip(values, 0, top), bins=_BINS, range=(0, top))[0] for values in (right, wrong)]
    most = max(1, *(int(one.max()) for one in counts))
    width = (WIDTH - left - _RIGHT) / _BINS
    parts = []
    for kind, heights in zip(("right", "wrong"), counts, strict=True):
        for place, count in enumerate(heights.tolist()):
            tall = 76 * count / most
            y = middle - tall if kind == "right" else middle
            low, high = top * place / _BINS, top * (place + 1) / _BINS
            if count:
                parts.append(
                    f'<rect class="{kind}" x="{left + width * place:.1f}" y="{y:.1f}" width="{width - 1:.1f}"'
                    f' height="{tall:.1f}"><title>score {low:.2f} to {high:.2f}: {count} {kind}</title></rect>'
                )
    parts.append(f'<line class="axis" x1="{left}" y1="{middle}" x2="{WIDTH - _RIGHT}" y2="{middle}"/>')
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + (WIDTH - left - _RIGHT) * share
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 6}" text-anchor="middle">{top * share:g}</text>')
    parts.append(f'<text class="tick" x="{WIDTH - _RIGHT}" y="20" text-anchor="end">{len(right)} right</text>')
    parts.append(
        f'<text class="tick" x="{WIDTH - _RIGHT}" y="{middle + 72}" text-anchor="end">{len(wrong)} wrong</text>'
    )
    return _svg("distributions", name, height, parts)


def _svg(kind: str, name: str, height: int, parts: Iterable[str]) -> str:
    label = shown(name)
    return (
        f'<figure><figcaption>{label}</figcaption><svg class="plot {kind}" role="img" aria-label="{label}"'
        f' viewBox="0 0 {WIDTH} {height}">{"".join(parts)}</svg></figure>\n'
    )


def _spread(places: Sequence[float]) -> list[float]:
    """How far down each of the marks of a row is put, so that none hides another in the same place."""
    aside = []
    for number, x in enumerate(places):
        near = [other for other, place in enumerate(places) if abs(place - x) < _NEAR]
        aside.append(_ASIDE * (near.index(number) - (len(near) - 1) / 2))
    return aside


def _round_end(most: float) -> float:
    """The end of an axis from 0 that has a round number at each quarter."""
    if most < _LEAST:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(most / 4))
    step = next(factor for factor in (1, 2, 2.5, 5, 10) if factor * unit * 4 >= most * (1 - 1e-9))
    return step * unit * 4


def _short(label: str) -> str:
    return label if len(label) <= _LABEL_CHARS else f"{label[: _LABEL_CHARS - 1]}…"
