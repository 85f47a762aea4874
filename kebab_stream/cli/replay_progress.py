"""Progress of a replay on stderr: a bar with rate, remaining time and failures, or lines of JSON."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from kebab_stream.cli.bar import LEAST_GAP_S, Form, progress_bar
from kebab_stream.cli.output import write_error_bytes
from kebab_stream.render import to_json
from kebab_stream.reports.offline import ReplayProgress

Progress = Callable[[int, int | None, int], None]


@contextmanager
def progress_on_stderr(form: Form) -> Iterator[Progress]:
    """Something to tell progress to: lines done, lines in all, queries failed. A bar is shown on a terminal only."""
    if form == "json":
        yield _Reporter().tell
    elif form == "bar" and sys.stderr.isatty():
        with _bar() as progress:
            yield progress
    else:
        yield lambda _done, _total, _failed: None


@contextmanager
def _bar() -> Iterator[Progress]:
    with progress_bar("{task.fields[failed]} failed") as bar:
        task = bar.add_task("replaying", total=None, failed=0, before=None)

        def show(done: int, total: int | None, failed: int) -> None:
            if bar.tasks[0].fields["before"] is None:
                # By an update it would count as done in no time.
                bar.reset(task, completed=done, before=done, failed=failed)
            bar.update(task, completed=done, total=total, failed=failed)

        yield show


class _Reporter:
    """Writes progress as lines, a few a second, the first and the last one always."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self._written = 0.0
        self._before: int | None = None

    def tell(self, done: int, total: int | None, failed: int) -> None:
        now = perf_counter()
        if self._before is None:
            self._before = done
        elif done != total and now - self._written < LEAST_GAP_S:
            return
        self._written = now
        elapsed = now - self._started
        rate = (done - self._before) / elapsed
        remaining = None if total is None or not rate else round((total - done) / rate, 1)
        line = ReplayProgress(
            done=done,
            total=total,
            failed=failed,
            per_second=round(rate, 1),
            remaining_s=remaining,
            elapsed_ms=round(elapsed * 1000, 3),
        )
        write_error_bytes(to_json(line) + b"\n")
