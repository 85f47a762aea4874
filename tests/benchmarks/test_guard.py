"""The guard of the speed: counts of this version beside those that were committed, and what the guard lets pass."""

import subprocess
import sys

from benchmarks.speed.guard import calls_of, regressions
from kebab_stream.render import printable
from tests.paths import ROOT


def test_nothing_became_slower_by_more_than_a_fifth() -> None:
    # A process of its own: what other tests have loaded and patched would count.
    command = [sys.executable, "-m", "benchmarks.speed.guard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_a_count_may_grow_by_a_fifth_and_no_more() -> None:
    baseline = {"calls": 1000, "modules": 100}

    assert regressions({"calls": 1200, "modules": 50}, baseline, same_python=True) == []
    assert regressions({"calls": 1201, "modules": 121}, baseline, same_python=True) == [
        "calls: 1,201, which is 20% more than 1,000",
        "modules: 121, which is 21% more than 100",
    ]


def test_peaks_are_compared_on_one_version_of_python_only() -> None:
    measured, baseline = {"peak of a search": 900, "calls": 10}, {"peak of a search": 300, "calls": 10}

    assert regressions(measured, baseline, same_python=False) == []
    assert len(regressions(measured, baseline, same_python=True)) == 1


def test_a_count_that_is_new_or_gone_has_to_be_written_down() -> None:
    assert regressions({"a": 1}, {"b": 1}, same_python=True) == ["a: not in both", "b: not in both"]


def test_calls_of_our_code_are_counted_and_no_others() -> None:
    assert calls_of(lambda: sorted(map(str, range(100)))) == 0
    once, twice = calls_of(lambda: printable("a")), calls_of(lambda: [printable("a"), printable("a")])

    assert once > 0
    assert twice == 2 * once
