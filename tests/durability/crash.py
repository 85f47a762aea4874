"""Kills ingests at random moments: `python -m tests.durability.crash FOLDER SEED KILLS [MODEL]`.

A program of its own, which imports everything once and forks a process for each ingest, so that a kill costs
milliseconds. It starts no thread, which a fork would leave behind. Where something does not hold it ends with a
traceback; else it prints counts as JSON.

A third of the kills come at any moment of a run, a third while it writes index files, a third around the commit.
"""

import functools
import importlib
import json
import os
import random
import select
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import anyio

from kebab_stream.ingest import IngestRequest, Text, ingest, ingest_files, ingest_text, remove
from tests.durability.states import State, answers, check_whole, listing, path_of, state, write
from tests.ingest.runs import Library

BASES = 4
EDITED = (2, 9)
"""Numbers of the files that `edit` changes."""
TITLE = "Given"
TEXT = "This is about a walrus and rare5, and it is given by itself: cat"

Action = Callable[[], object]


@dataclass(frozen=True)
class Step:
    """One run, from a committed state to the next one."""

    name: str
    after: State
    run: Action


def step_from(current: State, choices: random.Random, library: Library) -> Step:
    """A step from a state. What it ingests is on disk once the folder has the files of the state after it."""
    config = library.config
    if current.texts:
        return Step("remove", replace(current, texts={}), lambda: remove(config, [f"{TITLE}.md"], []))
    scanning = functools.partial(scan, library)
    other = choices.choice([base for base in map(state, range(BASES)) if base != current])
    numbers = [number for number in EDITED if path_of(number) in current.files]
    paths = [library.root / path_of(number) for number in numbers]
    text = Text(data=TEXT.encode(), title=TITLE)
    steps = [
        Step("scan", other, scanning),
        Step("scan", other, scanning),
        Step("first", other, scanning),
        Step("rebuild", current, functools.partial(scan, library, rebuild=True)),
        Step("edit", current.edited(numbers), lambda: ingest_files(config, paths)),
        Step("text", replace(current, texts={TITLE: TEXT}), lambda: ingest_text(config, text)),
    ]
    return choices.choice(steps)


def scan(library: Library, *, rebuild: bool = False) -> None:
    """Ingest the folder."""
    request = IngestRequest(paths=[library.root], rebuild_index=rebuild)
    anyio.run(functools.partial(ingest, library.config, request, lambda *_: None))


def bring_to(library: Library, wanted: State) -> None:
    """Ingest a state into an empty data folder."""
    write(library.root, wanted)
    scan(library)
    for title, text in wanted.texts.items():
        ingest_text(library.config, Text(data=text.encode(), title=title))


def answers_after(library: Library, wanted: State) -> str:
    """What is told of a state after a fresh ingest."""
    bring_to(library, wanted)
    return answers(library.config)


# --- processes -------------------------------------------------------------------------------------------


def child(work: Action, pipe: int) -> NoReturn:
    """Do some work, write what it gives to a pipe if that is text, and end."""
    status = 1
    try:
        result = work()
        with open(pipe, "w") as out:  # a descriptor
            out.write(result if isinstance(result, str) else "")
        status = 0
    except BaseException:  # noqa: BLE001  # the parent goes by the status
        traceback.print_exc()
    finally:
        os._exit(status)


def forked(work: Action) -> str:
    """What some work gives in a process of its own."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        child(work, writing)
    os.close(writing)
    with open(reading) as pipe:  # noqa: PTH123  # a descriptor
        result = pipe.read()
    _, status = os.waitpid(pid, 0)
    assert status == 0, f"the process ended with {status}"
    return result


START, WRITING, COMMIT = b"s", b"w", b"c"
"""What a run tells: that it starts, is about to write index files, is about to rename the new store."""


def telling(work: Action, pipe: int) -> None:
    """Do some work, and write to a pipe what it does."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.mkdir" and str(arguments[0]).endswith(".partial"):
            os.write(pipe, WRITING)
        elif event == "os.rename" and str(arguments[0]).endswith(".kebab.sqlite.partial"):
            os.write(pipe, COMMIT)

    os.write(pipe, START)
    sys.addaudithook(hook)
    work()


def run_and_kill(work: Action, told: bytes, share: float, durations: dict[bytes, float]) -> bool:
    """Do some work in a process of its own, and kill that some time after it told something.

    Args:
        share: of the time from when it told that to its end, as it was the last time.
        durations: that time in seconds; brought up to date by a run that ends before it is killed.

    Returns:
        Whether it was killed.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        child(functools.partial(telling, work, writing), writing)
    os.close(writing)
    moments: dict[bytes, float] = {}
    wait = None
    while select.select([reading], [], [], wait)[0]:
        now = perf_counter()
        news = os.read(reading, 1)
        if not news:  # it ended
            durations |= {what: now - moment for what, moment in moments.items()}
            break
        moments[news] = now
        if told in moments:
            wait = max(0.0, moments[told] + share * durations.get(told, 0.02) - now)
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or status == 0, f"the run failed with {status}"
    return os.WIFSIGNALED(status)


# --- the test --------------------------------------------------------------------------------------------


@dataclass
class Crashes:
    """A library, what its states should answer, and what happened so far."""

    library: Library
    random: random.Random
    current: State
    """What is committed."""
    expected: dict[str, str] = field(default_factory=dict)
    durations: dict[str, dict[bytes, float]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def answers_on(self, wanted: State) -> str:
        """What a search should tell of a state. It is found out in another data folder, once."""
        name = json.dumps([wanted.files, wanted.texts])
        if name not in self.expected:
            config = self.library.config
            place = config.storage.data_dir.with_name("expected")
            other = Library(self.library.root, replace(config, storage=replace(config.storage, data_dir=place)))
            self.expected[name] = forked(lambda: answers_after(other, wanted))
            shutil.rmtree(place)
        return self.expected[name]

    def one(self) -> None:
        """Begin a step from the current state, kill it, and see what is left."""
        library = self.library
        step = step_from(self.current, self.random, library)
        before, after = self.answers_on(self.current), self.answers_on(step.after)
        if step.name == "first":
            shutil.rmtree(library.data_dir)
            before = "not_indexed"
        write(library.root, step.after)
        self.current = step.after
        if not self._killed(step):
            self.counts["ended before the kill"] += 1
            assert forked(lambda: answers(library.config)) == after, step.name
            return
        left = listing(library.data_dir)
        found = forked(lambda: answers(library.config))
        assert found in {before, after}, f"{step.name}: neither the old state nor the new one: {left}"
        assert listing(library.data_dir) == left, "a search wrote something"
        self._count(step, left, "old" if found == before else "new")
        again = step.run if found == before else functools.partial(scan, library)
        assert forked(lambda: self._mended(again)) == after, f"{step.name}: the next run did not mend it: {left}"

    def _killed(self, step: Step) -> bool:
        told = self.random.choice([START, WRITING, COMMIT])
        return run_and_kill(step.run, told, self.random.uniform(0, 1.05), self.durations.setdefault(step.name, {}))

    def _mended(self, again: Action) -> str:
        again()
        check_whole(self.library.config)
        return answers(self.library.config)

    def _count(self, step: Step, left: list[str], outcome: str) -> None:
        self.counts["kills"] += 1
        self.counts[step.name] += 1
        if step.name != "rebuild":
            self.counts[outcome] += 1
        generations = sum(path.startswith("index/") and path.count("/") == 1 for path in left)
        self.counts["while writing"] += generations > (step.name != "first" or outcome == "new")


def warm_up(library: Library) -> None:
    """Ingest the first state, and import and load whatever that takes, so that no forked process has to."""

    def run() -> str:
        bring_to(library, state(0))
        answers(library.config)
        return "\n".join(sys.modules)

    for name in forked(run).splitlines():
        importlib.import_module(name)
    elsewhere = Library.at(library.root.with_name("warm"))  # no model: that could start threads
    ingest_text(elsewhere.config, Text(data=state(0).files[path_of(1)].encode(), title=TITLE))
    answers(elsewhere.config)


def main(place: str, seed: str, kills: str, model: str | None = None) -> None:
    """Run the test."""
    library = Library.at(Path(place), Path(model) if model else None)
    warm_up(library)
    crashes = Crashes(library, random.Random(int(seed)), state(0))
    while crashes.counts["kills"] < int(kills):
        crashes.one()
    sys.stdout.write(json.dumps(crashes.counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
