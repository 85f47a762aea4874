"""Whole processes and contestants that take turns."""

import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks.speed.timing import Command, CommandFailedError, interleaved, run


def test_contestants_take_turns_after_a_round_that_does_not_count() -> None:
    calls: list[str] = []

    def contestant(name: str, number: int) -> int:
        calls.append(f"{name}{number}")
        return len(calls)

    found = interleaved({name: partial(contestant, name) for name in "ab"}, 2)

    assert calls == ["a0", "b0", "a0", "b0", "a1", "b1"]
    assert found == {"a": [3, 5], "b": [4, 6]}


def test_a_process_is_timed_from_start_to_end_and_until_its_first_line(tmp_path: Path) -> None:
    code = "import sys, time; print('one', flush=True); time.sleep(0.2); print(sys.stdin.read())"
    given = tmp_path / "given"
    given.write_text("two")

    ran = run(Command(argv=[sys.executable, "-c", code], stdin=given))

    assert ran.output == b"one\ntwo\n"
    assert 0 < ran.first_ms < ran.wall_ms - 150
    assert ran.cpu_ms > 0
    assert ran.rss_mib > 1


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(CommandFailedError, match="exit status 3: no such luck"):
        run(Command(argv=[sys.executable, "-c", "import sys; sys.stderr.write('no such luck\\n\\n'); sys.exit(3)"]))


def test_settings_of_whoever_measures_do_not_reach_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEBAB_READONLY", "true")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    code = "import os; print([name for name in os.environ if name.startswith(('KEBAB', 'PYTHON'))])"

    assert run(Command(argv=[sys.executable, "-c", code])).output == b"[]\n"
