"""Kills ingests at random moments, as a program of its own: `python -m tests.durability.crash FOLDER SEED KILLS [MODEL]`.

It imports everything once and forks a process for each ingest, so that a kill costs milliseconds; nothing here starts a
thread, which would not survive the fork. What does not hold ends it with a traceback; else it prints counts as JSON.

Half of the kills come at any moment of a run, the other half after it has begun to write index files.
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
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import anyio

from kebab_stream.config import Config
from kebab_stream.ingest import IngestRequest, Text, ingest, ingest_files, ingest_text, remove
from tests.durability.states import State, answers, check_whole, listing, path_of, state, write
from tests.ingest.runs import Library

BASES = 4
EDITED = (2, 9)
"""Numbers of the files that `edit` changes."""
TITLE = "Given"
TEXT = "walrus rare5 cat, given by itself"
FIRST = 0.1
"""Share of runs that are the first in their folder."""

Action = Callable[[], object]


@dataclass(frozen=True)
class Step:
    """One run, from a committed state to the next one."""

    name: str
    before: State
    after: State
    run: Action


def step_of(name: str, base: int, other: int, library: Library) -> Step:
    """A step on the state `base`. `scan` and `edit` find their files on disk, as they are after the step."""
    config, before = library.config, state(base)
    given = replace(before, texts={TITLE: TEXT})
    match name:
        case "scan":
            return Step(name, before, state(other), functools.partial(scan, library))
        case "rebuild":
            return Step(name, before, before, functools.partial(scan, library, rebuild=True))
        case "edit":
            numbers = [number for number in EDITED if path_of(number) in before.files]
            paths = [library.root / path_of(number) for number in numbers]
            return Step(name, before, before.edited(numbers), functools.partial(ingest_files, config, paths))
        case "text":
            return Step(name, before, given, lambda: ingest_text(config, Text(data=TEXT.encode(), title=TITLE)))
        case _:
            return Step("remove", given, before, lambda: remove(config, [f"{TITLE}.md"], []))


def scan(library: Library, *, rebuild: bool = False) -> None:
    """Ingest the folder."""
    request = IngestRequest(paths=[library.root], rebuild_index=rebuild)
    anyio.run(functools.partial(ingest, library.config, request, lambda *_: None))


def bring_to(library: Library, wanted: State) -> None:
    """Ingest a state, whatever is indexed now."""
    write(library.root, wanted)
    scan(library)
    for title, text in wanted.texts.items():
        ingest_text(library.config, Text(data=text.encode(), title=title))


# --- processes -------------------------------------------------------------------------------------------


def child(work: Action, pipe: int) -> NoReturn:
    """Do some work, write what it gives to a pipe if that is text, and end."""
    status = 1
    try:
        result = work()
        with open(pipe, "w") as out:  # noqa: PTH123  # a descriptor
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


def telling(work: Action, pipe: int) -> object:
    """Do some work, and write a byte to a pipe when it begins to write index files."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.mkdir" and str(arguments[0]).endswith(".partial"):
            os.write(pipe, b".")

    sys.addaudithook(hook)
    work()
    return None


@dataclass
class Duration:
    """How long a kind of run lately took, in seconds, and how long from when it began to write index files."""

    whole: float = 0.1
    writing: float = 0.05


def run_and_kill(work: Action, after: float | None, after_writing: float | None, duration: Duration) -> bool:
    """Do some work in a process of its own that is killed so many seconds after it started, or began to write.

    Returns:
        Whether it was killed: False if it ended before, which brings `duration` up to date.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        child(functools.partial(telling, work, writing), writing)
    os.close(writing)
    started = began = perf_counter()
    wait = after
    while select.select([reading], [], [], wait)[0]:
        if not os.read(reading, 1):  # it ended
            break
        began = perf_counter()
        wait = after_writing if after is None else max(0.0, started + after - began)
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return True
    assert status == 0, f"the run failed with {status}"
    now = perf_counter()
    duration.whole, duration.writing = now - started, now - began
    return False


# --- the test --------------------------------------------------------------------------------------------


@dataclass
class Crashes:
    """A library, what its states should answer, and what happened so far."""

    library: Library
    random: random.Random
    expected: dict[str, str]
    durations: dict[str, Duration]
    counts: Counter[str]

    def key(self, wanted: State) -> str:
        """What a search should tell of a state. It is found out in another data folder, once."""
        name = json.dumps([wanted.files, wanted.texts])
        if name not in self.expected:
            place = self.library.data_dir.with_name("expected")
            other = Library(self.library.root, with_data_dir(self.library.config, place))
            self.expected[name] = forked(lambda: (bring_to(other, wanted), answers(other.config))[1])
            shutil.rmtree(place)
        return self.expected[name]

    def one(self) -> None:
        """Bring the library to a state, begin a step from it, kill that, and see what is left."""
        library = self.library
        name = self.random.choice(["scan", "scan", "edit", "text", "remove", "rebuild"])
        step = step_of(name, *self.random.sample(range(BASES), 2), library)
        before, after = self.key(step.before), self.key(step.after)
        if name == "scan" and self.random.random() < FIRST:
            step, before = replace(step, name="first"), "not_indexed"
            shutil.rmtree(library.data_dir, ignore_errors=True)
        else:
            forked(lambda: bring_to_indexed(library, step.before))
        write(library.root, step.after)
        if not self._killed(step):
            self.counts["ended before the kill"] += 1
            assert forked(lambda: answers(library.config)) == after, step.name
            return
        left = listing(library.data_dir)
        found = forked(lambda: answers(library.config))
        open("/tmp/dur/found","w").write(found);open("/tmp/dur/before","w").write(before);open("/tmp/dur/after","w").write(after)
        assert found in {before, after}, f"{step.name}: neither the old state nor the new one: {left}"
        assert listing(library.data_dir) == left, "a search wrote something"
        self._count(step, left, "old" if found == before else "new")
        again = step.run if found == before else functools.partial(scan, library)
        assert forked(lambda: self._mended(again)) == after, f"{step.name}: the next run did not mend it: {left}"

    def _killed(self, step: Step) -> bool:
        duration = self.durations.setdefault(step.name, Duration())
        if self.random.random() < 0.5:
            return run_and_kill(step.run, self.random.uniform(0, 1.1) * duration.whole, None, duration)
        return run_and_kill(step.run, None, self.random.uniform(0, 1.1) * duration.writing, duration)

    def _mended(self, again: Action) -> str:
        again()
        check_whole(self.library.config)
        return answers(self.library.config)

    def _count(self, step: Step, left: list[str], outcome: str) -> None:
        self.counts["kills"] += 1
        self.counts[step.name] += 1
        generations = [path for path in left if path.startswith(("index/.", "index/0")) and path.count("/") == 1]
        self.counts["while writing"] += len(generations) > (step.name != "first" or outcome == "new")
        if step.before != step.after or step.name == "first":
            self.counts[outcome] += 1


def with_data_dir(config: Config, data_dir: Path) -> Config:
    """The same settings for another data folder."""
    return replace(config, storage=replace(config.storage, data_dir=data_dir))


def bring_to_indexed(library: Library, wanted: State) -> None:
    """As `bring_to`, but what should not be there is removed too."""
    write(library.root, wanted)
    scan(library)
    current = json.loads(answers(library.config))[1]
    given = [path for source, path, *_ in current if source == "texts"]
    if given and not wanted.texts:
        remove(library.config, given, [])
    for title, text in wanted.texts.items():
        ingest_text(library.config, Text(data=text.encode(), title=title))


def import_all(library: Library) -> None:
    """Import whatever an ingest and a search import, so that no forked process has to."""

    def run() -> str:
        bring_to(library, state(0))
        answers(library.config)
        remove_all = functools.partial(shutil.rmtree, library.data_dir)
        remove_all()
        return "\n".join(sys.modules)

    for name in forked(run).splitlines():
        importlib.import_module(name)


def main(place: str, seed: str, kills: str, model: str | None = None) -> None:
    """Run the test."""
    library = Library.at(Path(place), Path(model) if model else None)
    import_all(library)
    crashes = Crashes(library, random.Random(int(seed)), {}, {}, Counter())
    while crashes.counts["kills"] < int(kills):
        crashes.one()
    sys.stdout.write(json.dumps(crashes.counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
