"""A progress bar on stderr, where a person is watching."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kebab_stream.ingest import Phase, Progress

_NAMES: dict[Phase, str] = {
    "scan": "looking for files",
    "read": "reading",
    "index": "indexing",
    "commit": "writing the index",
}


@contextmanager
def progress_on_stderr(*, wanted: bool) -> Iterator[Progress]:
    """Something to tell progress to: a bar if it is wanted and stderr is a terminal, else nothing is shown."""
    if not (wanted and sys.stderr.isatty()):
        yield _ignore
        return
    from rich.console import Console  # late: only where somebody is watching
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(_NAMES["scan"], total=None)

        def show(phase: Phase, done: int, total: int) -> None:
            bar.update(task, description=_NAMES[phase], completed=done, total=total or None)

        yield show


def _ignore(_phase: Phase, _done: int, _total: int) -> None:
    """Nobody is watching."""
