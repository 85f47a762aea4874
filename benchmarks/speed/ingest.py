"""Section: taking a folder in, again without a change, and with one file changed."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.speed.corpora import git
from benchmarks.speed.figures import Section, Table, Target, ratio, shown, times
from benchmarks.speed.peers import left_out, qmd
from benchmarks.speed.setup import Indexed, Setup
from benchmarks.speed.timing import Ran, interleaved, run

KEBAB, QMD = "kebab ingest, with vectors", "qmd update, lexical only"
AGAIN, STATUS = "kebab ingest, nothing changed", "git status"
ONE, ALL = "kebab ingest, one file changed", "kebab ingest of all of it, one run"
CHUNKS_PER_SECOND = 800


def measure(setup: Setup, place: Path, real: Indexed, small: Indexed, large: Indexed) -> Section:
    """Three comparisons; in each the contestants take turns."""
    fresh = interleaved(_fresh(setup, place, real), setup.few_rounds)
    changing = _changing(large)
    text = changing.read_bytes()
    try:
        again = interleaved(_again(setup, place, large), setup.few_rounds)
    finally:
        changing.write_bytes(text)
        run(git(large.folder, "add", "."))
    walls = {name: [ran.wall_ms for ran in found] for name, found in (fresh | again).items()}
    rate = real.chunks / (median(walls[KEBAB]) / 1000)
    notes = [
        f"Fresh: {real.files} files, {real.chunks} chunks, {real.windows} vectors."
        f" Again: {large.files} files, {large.chunks} chunks, {large.windows} vectors.",
        f"Medians of {setup.few_rounds}. A first run of `qmd collection add` is its `update` with an empty index.",
        *left_out(setup),
    ]
    targets = [
        ratio("ingest with vectors to qmd's lexical-only update", 1.5, walls[KEBAB], walls.get(QMD)),
        Target("chunks a second, from files to a committed index", CHUNKS_PER_SECOND, rate, "", at_least=True, unit=""),
        ratio(f"unchanged ingest of {large.files} files to `git status`", 3, walls[AGAIN], walls[STATUS]),
    ]
    return Section("Ingest", notes, targets, [_times(walls, fresh | again, large), _growth(real, small, large)])


def _fresh(setup: Setup, place: Path, real: Indexed) -> dict[str, Callable[[int], Ran]]:
    def kebab(_: int) -> Ran:
        with tempfile.TemporaryDirectory(dir=place) as data:
            return run(setup.kebab_command("ingest", "--quiet", real.folder, data=Path(data)))

    def peer(_: int) -> Ran:
        with tempfile.TemporaryDirectory(dir=place) as home:
            return run(qmd(setup, "collection", "add", real.folder, "--name", "docs", home=Path(home)))

    return {KEBAB: kebab, QMD: peer} if setup.qmd else {KEBAB: kebab}


def _again(setup: Setup, place: Path, large: Indexed) -> dict[str, Callable[[int], Ran]]:
    """In the folder, which git tracks too; one file of it gets another last line each time."""
    folder, data = large.folder, place / "data-again"
    shutil.copytree(large.data, data)
    file = _changing(large)
    text = file.read_text(encoding="utf-8")
    count = 0

    def ingest() -> Ran:
        ran = run(setup.kebab_command("ingest", "--json", data=data))
        report = json.loads(ran.output)
        assert report["unchanged"] + report["updated"] == large.files, report
        return ran

    def one(_: int) -> Ran:
        nonlocal count
        count += 1
        file.write_text(f"{text}\nChanged for the {count}th time.\n", encoding="utf-8")
        ran = ingest()
        assert json.loads(ran.output)["updated"] == 1
        return ran

    return {AGAIN: lambda _: ingest(), STATUS: lambda _: run(git(folder, "status", "--short")), ONE: one}


def _changing(large: Indexed) -> Path:
    return min(large.folder.rglob("*.md"))


def _times(walls: dict[str, list[float]], found: dict[str, list[Ran]], large: Indexed) -> Table:
    bases = {KEBAB: QMD, AGAIN: STATUS, ONE: ALL}
    medians = {name: median(values) for name, values in walls.items()} | {ALL: large.seconds * 1000}
    rows = []
    for name, value in medians.items():
        base = bases.get(name, "")
        cpu = shown(median(ran.cpu_ms for ran in found[name])) if name in found else ""
        compared = f"{times(value / medians[base])} {base}" if base in medians else ""
        rows.append((name, shown(value), cpu, compared))
    return Table("", ("run", "ms", "CPU ms", "to its baseline"), rows)


def _growth(*every: Indexed) -> Table:
    rows = [
        (
            f"{one.chunks:,}",
            f"{one.files:,}",
            shown(one.seconds),
            shown(one.chunks / one.seconds),
            shown(one.files / one.seconds),
        )
        for one in every
    ]
    return Table("How it grows: one run each", ("chunks", "files", "s", "chunks/s", "files/s"), rows)
