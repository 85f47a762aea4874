"""Progress on stderr: a bar where a person is watching, lines of JSON where a program asks for them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Lock, Thread
from time import perf_counter

from kebab_stream.cli.bar import LEAST_GAP_S, Form, progress_bar
from kebab_stream.cli.output import write_error_bytes
from kebab_stream.ingest import Progress
from kebab_stream.render import to_json
from kebab_stream.reports.ingest import IngestPhase, IngestProgress

_NAMES: dict[IngestPhase, str] = {
    "scan": "looking for files",
    "read": "reading",
    "index": "indexing",
    "commit": "writing the index",
    "done": "done",
}
_HEARTBEAT_S = 1.0


@contextmanager
def progress_on_stderr(form: Form) -> Iterator[Progress]:
    """Something to tell progress to. A bar is shown on a terminal only."""
    if form == "json":
        with _json_lines() as progress:
            yield progress
    elif form == "bar" and sys.stderr.isatty():
        with _bar() as progress:
            yield progress
    else:
        yield lambda _phase, _done, _total: None


@contextmanager
def _bar() -> Iterator[Progress]:
    with progress_bar() as bar:
        current: IngestPhase = "scan"
        task = bar.add_task(_NAMES[current], total=None)

        def show(phase: IngestPhase, done: int, total: int) -> None:
            nonlocal current, task
            if phase != current:  # rate and remaining time are of one phase, and so is a total: a task keeps its own
                bar.remove_task(task)
                current, task = phase, bar.add_task(_NAMES[phase], total=None)
            bar.update(task, completed=done, total=total or None)

        yield show


@contextmanager
def _json_lines() -> Iterator[Progress]:
    """One line when a phase begins or ends, a few a second between, and one a second however long a step takes."""
    reporter = _Reporter(perf_counter())
    stopped = Event()
    heart = Thread(target=partial(_beat, reporter, stopped), daemon=True)
    heart.start()
    try:
        yield reporter.tell
    finally:
        stopped.set()
        heart.join()


def _beat(reporter: "_Reporter", stopped: Event) -> None:
    while not stopped.wait(_HEARTBEAT_S):
        reporter.beat()


class _Reporter:
    """Writes progress as lines, from two threads, in order."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._written = 0.0
        self._state: tuple[IngestPhase, int, int] | None = None
        self._lock = Lock()

    def tell(self, phase: IngestPhase, done: int, total: int) -> None:
        with self._lock:
            is_new_phase = self._state is None or self._state[0] != phase
            self._state = (phase, done, total)
            if is_new_phase or done == total or perf_counter() - self._written >= LEAST_GAP_S:
                self._write()

    def beat(self) -> None:
        with self._lock:
            if self._state and perf_counter() - self._written >= _HEARTBEAT_S:
                self._write()

    def _write(self) -> None:
        assert self._state
        phase, done, total = self._state
        self._written = perf_counter()
        elapsed_ms = round((self._written - self._started) * 1000, 3)
        line = to_json(IngestProgress(phase=phase, done=done, total=total, elapsed_ms=elapsed_ms))
        write_error_bytes(line + b"\n")
