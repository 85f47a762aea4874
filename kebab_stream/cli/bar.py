"""How progress is shown: a bar with rate and remaining time on a terminal, or lines for programs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.progress import Progress

Form = Literal["none", "bar", "json"]

LEAST_GAP_S = 0.2
"""Lines for programs come no closer together, but for the first and the last of something."""


@contextmanager
def progress_bar(*after: str) -> "Iterator[Progress]":
    """A bar on stderr, gone at the end; the caller adds its task.

    Args:
        after: what stands behind it, as formats of a task.
    """
    from rich.console import Console  # late: only where somebody is watching
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, *map(TextColumn, after), console=Console(stderr=True), transient=True) as bar:
        yield bar
