"""One writer and four readers at once: no error, and every answer is that of one committed state.

Each reader runs `kebab search --bulk --json` again and again, in processes of their own. All answers of a run must be
those of one state, and of one that was current at some moment of the run. `LOAD_SECONDS=60 pytest
tests/durability/test_load.py -s` is the long form, and tells figures.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from time import perf_counter

from tests.cli.program import COMMAND, environment
from tests.durability.states import State, check_whole, path_of, timeless, write
from tests.embed.test_static import write_model
from tests.ingest.runs import Library

SECONDS = float(os.environ.get("LOAD_SECONDS", "4"))
READERS = 4
STATES = 6
FILES = 12
ITEMS = 100

Answers = list[str]
"""What a bulk run told, line by line, without times and revisions."""


def state(number: int) -> State:
    """The state of this number, which is in every file of it; from each to the next, files are new, edited, gone."""
    present = [file for file in range(FILES) if (file + number) % 3]
    about = f"This is about the walrus that is of state{number}, and it is a cat or a dog"
    return State({path_of(file): f"# File {file}\n\n{about}\n\n## Of file{file}\n\n{about}\n" for file in present})


def batch() -> bytes:
    """Queries that each find something of every state, in all modes, with and without filters and budgets."""
    queries = ("walrus cat", "cat dog", "dog about the file", '"or a dog" cat', "cat of state")
    items = (
        {"query": queries[number % 5], "mode": ("lexical", "hybrid", "vector")[number % 3]}
        | ({"must": ["walrus"], "k": 5} if number % 4 == 1 else {"k": 1000})
        | ({"max_tokens": 900} if number % 4 == 3 else {})
        for number in range(ITEMS)
    )
    return b"".join(json.dumps(item).encode() + b"\n" for item in items)


def bulk(library: Library) -> Answers:
    """What one run of the command line answers. It must not fail."""
    model = str(library.config.models.embedding.model_path)
    done = subprocess.run(
        [*COMMAND, "search", "--bulk", "--json", "--fail"],
        input=batch(),
        capture_output=True,
        env=environment(library.data_dir, {"KEBAB_MODELS_EMBEDDING_MODEL_PATH": model}),
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout[-1000:]
    return [json.dumps(timeless(json.loads(line)["response"])) for line in done.stdout.splitlines()]


@dataclass(frozen=True)
class Commit:
    """An ingest of the writer: between these moments its state became the current one."""

    number: int
    began: float
    ended: float


@dataclass(frozen=True)
class Run:
    """A run of a reader."""

    number: int | None
    """The only state whose answers these are, line by line."""
    began: float
    ended: float


def write_on(library: Library, until: Event) -> list[Commit]:
    """Ingest one state after the other, now and then with a rebuild, until told to stop."""
    commits: list[Commit] = []
    while not until.is_set():
        number = len(commits) % STATES
        write(library.root, state(number))
        began = perf_counter()
        library.ingest(library.root, rebuild_index=len(commits) % 10 == 9)
        commits.append(Commit(number, began, perf_counter()))
    return commits


def read_on(library: Library, expected: Sequence[Answers], until: Event) -> list[Run]:
    """Run bulk searches until told to stop."""
    runs = []
    while not until.is_set():
        began = perf_counter()
        found = bulk(library)
        numbers = [number for number, answers in enumerate(expected) if answers == found]
        runs.append(Run(numbers[0] if len(numbers) == 1 else None, began, perf_counter()))
    return runs


def current_during(run: Run, commits: Sequence[Commit]) -> set[int]:
    """The states that were current at some moment of a run."""
    ends = [commit.ended for commit in commits[1:]] + [float("inf")]
    return {
        commit.number
        for commit, end in zip(commits, ends, strict=True)
        if commit.began <= run.ended and run.began <= end
    }


def expected_answers(library: Library, place: Path) -> list[Answers]:
    """What each state answers, from an ingest of its own."""
    answers = []
    for number in range(STATES):
        storage = replace(library.config.storage, data_dir=place / str(number))
        other = replace(library, config=replace(library.config, storage=storage))
        write(library.root, state(number))
        other.ingest(library.root)
        answers.append(bulk(other))
    return answers


def test_readers_see_one_committed_state_each_while_a_writer_commits(tmp_path: Path) -> None:
    library = Library.at(tmp_path, write_model(tmp_path / "model"))
    expected = expected_answers(library, tmp_path / "expected")
    assert {len(answers) for answers in expected} == {ITEMS}
    assert all(len(set(lines)) == STATES for lines in zip(*expected, strict=True)), "each answer tells its state"
    write(library.root, state(0))
    library.ingest(library.root)
    stop = Event()

    with ThreadPoolExecutor(READERS + 1) as threads:
        started = perf_counter()
        writer = threads.submit(write_on, library, stop)
        readers = [threads.submit(read_on, library, expected, stop) for _ in range(READERS)]
        while perf_counter() < started + SECONDS and not (writer.done() or any(reader.done() for reader in readers)):
            stop.wait(0.1)
        stop.set()
    commits = writer.result()
    runs = [run for reader in readers for run in reader.result()]

    first = Commit(0, 0.0, started)
    mixed = [run for run in runs if run.number is None]
    stale = [run for run in runs if run.number not in current_during(run, [first, *commits])]
    sys.stdout.write(f"{len(commits)} commits, {len(runs)} runs, {len(runs) * ITEMS} answers, ")
    sys.stdout.write(f"by state {dict(Counter(run.number for run in runs))}\n")
    assert (mixed, stale) == ([], [])
    assert len(commits) > 1
    assert len(runs) >= READERS
    assert len({run.number for run in runs}) > 1
    check_whole(library.config)
