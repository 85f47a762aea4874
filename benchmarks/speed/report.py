"""The page: what was to be shown first, then every section, its plots as SVG files beside it."""

import platform
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import log2
from pathlib import Path

from benchmarks.speed.figures import Section, Shares, Table, Target, shown
from benchmarks.speed.setup import Setup
from kebab_stream.evaluate.plots import differences, dots
from kebab_stream.evaluate.style import STYLE

PLOTS = "plots"
_SVG = re.compile("<svg .*</svg>", re.DOTALL)
_SCREEN_ONLY = re.compile(r"^(?:body|header|figure|table|th|\*|h\d|p|\.(?:plots|legend|key|wide)).*?}$", re.M | re.S)
VERDICTS = {True: "met", False: "**not met**", None: "not measured"}


def write_page(sections: Sequence[Section], setup: Setup, output: Path, minutes: float) -> None:
    """Write the page and its plots; plots of an earlier page are removed."""
    folder = output.parent / PLOTS
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.svg"):
        path.unlink()
    targets = [target for section in sections for target in section.targets]
    parts = list(_head(setup, minutes))
    if any(target.value is not None for target in targets):
        parts += ["\n## What was to be shown\n\n", targets_table(targets)]
        parts.append(_image(folder, "targets", margins(targets), "Targets"))
        parts.append("\nA bar for each: up as many doublings as it is better than its limit, down as it is worse.\n")
    for section in sections:
        parts.append(f"\n## {section.title}\n\n")
        parts += [f"{note}\n" for note in section.notes]
        parts += [_image(folder, plot.name, shares(plot), plot.title) for plot in section.plots]
        parts += [text for table in section.tables for text in ("\n", *_table(table))]
    output.write_text("".join(parts), encoding="utf-8")


def _head(setup: Setup, minutes: float) -> Iterator[str]:
    yield "# Speed\n\n"
    yield f"Made by `python -m benchmarks{' --quick' if setup.quick else ''}` in {minutes:.0f} minutes,"
    yield f" {datetime.now(UTC):%Y-%m-%d}: {_processors()}, {platform.system()}, Python {platform.python_version()}.\n"
    yield "What is compared took turns in this one run; figures are medians, and a ratio is one by another.\n"
    yield "In the plots a circle is lexical, a triangle vector, a square hybrid.\n"
    if setup.quick:
        yield "\n**A quick run: too few rounds and too little data to say whether a target is met.**\n"


def _processors() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    models = re.findall(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return f"{len(models)} × {models[0]}" if models else platform.machine()


def targets_table(targets: Sequence[Target]) -> str:
    """Every claim, its limit, what was measured, and the verdict."""
    rows = []
    for target in targets:
        sign = "≥" if target.at_least else "≤"
        value = "" if target.value is None else f"{shown(target.value)} {target.unit}".strip()
        rows.append(
            (
                target.claim,
                f"{sign} {shown(target.limit)} {target.unit}".strip(),
                value,
                target.measured,
                VERDICTS[target.is_met],
            )
        )
    return "".join(_table(Table("", ("claim", "target", "measured", "of", "verdict"), rows)))


def margins(targets: Sequence[Target]) -> str:
    """A bar for each target: up as many doublings as it is better than its limit, down as it is worse."""
    return differences(
        "Doublings between what was measured and its limit; up is better",
        [(target.claim, log2(target.margin)) for target in targets if target.value is not None],
    )


def shares(plot: Shares) -> str:
    """Rows of marks, on an axis from 0 to 1."""
    return dots(plot.title, plot.rows)


def _image(folder: Path, name: str, figure: str, title: str) -> str:
    (folder / f"{name}.svg").write_text(as_file(figure), encoding="utf-8")
    return f"\n![{title}]({PLOTS}/{name}.svg)\n"


def as_file(figure: str) -> str:
    """A plot that was made for a page, as a file of its own: with a name space and the part of the style it needs."""
    found = _SVG.search(figure)
    assert found
    style = (
        _SCREEN_ONLY.sub("", STYLE) + "text { font-family: system-ui, sans-serif; } svg { background: var(--page); }"
    )
    start, _, rest = found.group().partition(">")
    start = start.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" width="800" ', 1)
    return f"{start}><style>{style}</style>{rest}\n"


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"### {table.title}\n\n"
    for line in (table.heads, ["---"] * len(table.heads), *table.rows):
        yield f"| {' | '.join(line)} |\n"
