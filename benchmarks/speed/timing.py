"""Commands run as whole processes, and contestants that take turns, so that a busy minute falls on all of them."""

import gc
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")

_DROPPED = ("KEBAB_", "PYTHON", "XDG_")
"""Of the caller's environment: it must not matter to what is measured, such as whether bytecode is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run, and with what beside the caller's environment."""

    argv: Sequence[str | Path]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    stdin: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a process took. `rss_mib` is no less than what the process that started it had itself."""

    wall_ms: float
    first_ms: float
    """Until its first line of output."""
    cpu_ms: float
    """User and system."""
    rss_mib: float
    """Peak."""
    output: bytes
    errors: bytes
    """What it wrote to stderr."""


class CommandFailedError(Exception):
    """A command ended with another status than 0."""


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of what is measured."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
    return {**kept, "LC_ALL": "C.UTF-8", **extra}


def run(command: Command) -> Ran:
    """Run a command to its end.

    Raises:
        CommandFailedError: with the last line that it wrote to stderr.
    """
    with tempfile.TemporaryFile() as errors, Path(command.stdin or os.devnull).open("rb") as stdin:
        started = perf_counter()
        process = subprocess.Popen(  # noqa: S603  # given by whoever runs the benchmark
            [str(part) for part in command.argv],
            env=environment(command.env),
            cwd=command.cwd,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        assert process.stdout
        first = process.stdout.readline()
        first_ms = (perf_counter() - started) * 1000
        output = first + process.stdout.read()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        wall_ms = (perf_counter() - started) * 1000
        errors.seek(0)
        complaints = errors.read()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            lines = complaints.decode("utf-8", "replace").split("\n")
            said = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
            raise CommandFailedError(f"exit status {process.returncode}: {said}")
    return Ran(
        wall_ms=wall_ms,
        first_ms=first_ms,
        cpu_ms=(usage.ru_utime + usage.ru_stime) * 1000,
        rss_mib=usage.ru_maxrss / 1024,
        output=output,
        errors=complaints,
    )


def interleaved(contestants: Mapping[str, Callable[[int], T]], rounds: int) -> dict[str, list[T]]:
    """What each contestant gives in each round, all taking turns; a round before the first is not counted.

    Args:
        contestants: functions of the round, from 0.
    """
    for contestant in contestants.values():
        contestant(0)
    gc.collect()
    gc.freeze()  # what stays until the end is not looked through again and again
    results: dict[str, list[T]] = {name: [] for name in contestants}
    for number in range(rounds):
        for name, contestant in contestants.items():
            results[name].append(contestant(number))
    return results


def timed(work: Callable[[int], object]) -> Callable[[int], float]:
    """The milliseconds that a function takes."""

    def milliseconds(number: int) -> float:
        started = perf_counter()
        work(number)
        return (perf_counter() - started) * 1000

    return milliseconds
