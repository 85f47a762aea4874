"""How progress is shown: a bar with rate and remaining time on a terminal, or lines for programs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.progress import Progress

Form = Literal["none", "bar", "json"]

LEAST_GAP_S = 0.2
"""Lines for programs come no closer together, but for the first and the last of something."""
_LEAST_S = 1.0
"""A rate is not told before: of the first moment it is absurd."""


@contextmanager
def progress_bar(*after: str) -> "Iterator[Progress]":
    """A bar on stderr, gone at the end; the caller adds its task.

    Args:
        after: what stands behind it, as formats of a task. Its field `before` is what was done before this run.
    """
    from rich.console import Console  # late: only where somebody is watching
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Count(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(_count(task.completed, task.total))

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(_rate(task.completed - (task.fields.get("before") or 0), task.elapsed or 0.0))

    columns = (TextColumn("{task.description}"), BarColumn(), Count(), Rate(), TimeRemainingColumn())
    with Progress(*columns, *map(TextColumn, after), console=Console(stderr=True), transient=True) as bar:
        yield bar


def _count(done: float, total: float | None) -> str:
    """Nothing where neither is known."""
    if total is None:
        return f"{done:,.0f}" if done else ""
    return f"{done:,.0f}/{total:,.0f}"


def _rate(done: float, elapsed_s: float) -> str:
    return f"{done / elapsed_s:,.0f}/s" if done > 0 and elapsed_s >= _LEAST_S else ""
