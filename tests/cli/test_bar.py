"""Progress bars on a terminal: counts, totals and rates that make sense."""

import io
import re
from contextlib import redirect_stderr

import pytest

from kebab_stream.cli.bar import progress_bar
from kebab_stream.cli.progress import progress_on_stderr
from kebab_stream.cli.replay_progress import progress_on_stderr as replay_progress_on_stderr


class Terminal(io.StringIO):
    """What a person sees."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def lines(terminal: Terminal) -> list[str]:
    return re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue()))


def test_a_phase_without_a_total_does_not_keep_that_of_the_last() -> None:
    with redirect_stderr(Terminal()) as terminal, progress_on_stderr("bar") as progress:
        progress("read", 119, 119)
        progress("commit", 0, 0)

    shown = lines(terminal)
    assert any(line.startswith("writing the index") for line in shown)
    assert not any("0/119" in re.sub("119/119", "", line) for line in shown)


def test_no_rate_is_told_in_the_first_second_and_none_of_what_was_done_before() -> None:
    with redirect_stderr(Terminal()) as terminal, replay_progress_on_stderr("bar") as progress:
        progress(200, 300, 0)
        progress(299, 300, 1)

    shown = lines(terminal)
    assert any("299/300" in line and "1 failed" in line for line in shown)
    assert not any("/s" in line for line in shown)


def test_a_rate_is_of_this_run_alone() -> None:
    with redirect_stderr(Terminal()) as terminal, progress_bar() as bar:
        task = bar.add_task("work", total=300, before=200)
        bar.tasks[0].start_time = bar.get_time() - 10
        bar.update(task, completed=300)

    assert any(re.search(r"300/300 +10/s", line) for line in lines(terminal))
