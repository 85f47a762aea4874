"""Section: how long a search takes that begins with starting the program."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median

from benchmarks.speed.baselines import FTS5_SCRIPT, write_fts5
from benchmarks.speed.figures import Section, Shares, Table, Target, ratio, shown, times
from benchmarks.speed.peers import left_out, qmd, qmd_indexed, semble, why_not_semble, words_of
from benchmarks.speed.setup import Indexed, Setup
from benchmarks.speed.timing import Command, Ran, interleaved, run
from kebab_stream.model import Mode

BARE, IMPORTS, FTS5 = "bare interpreter", "import numpy, pydantic", "SQLite FTS5 from bare Python"
LEXICAL, HYBRID = "kebab search --mode lexical --json", "kebab search --json"
QMD, SEMBLE = "qmd search --json", "semble search"


def measure(setup: Setup, place: Path, real: Indexed) -> Section:
    """Whole processes, all taking turns, each round with another query."""
    notes = [
        f"{real.files} files, {real.chunks} chunks; each figure is the median of {setup.rounds} whole processes.",
        *left_out(setup),
    ]
    why_not = why_not_semble(setup, real.folder)
    if why_not:
        notes.append(f"{why_not.rstrip('.')}.")
    every = _contestants(setup, place, real, with_semble=why_not is None)
    found = interleaved(every, setup.rounds)
    least = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    notes.append(f"A peak below {shown(least)} MiB cannot be told: the process that starts the others has that itself.")
    walls = {name: [one.wall_ms for one in ran] for name, ran in found.items()}
    return Section(
        "Start-up: one search, cold",
        notes,
        _targets(walls),
        [_table(found, walls)],
        [_plot(walls)] if QMD in walls else [],
    )


def _contestants(setup: Setup, place: Path, real: Indexed, *, with_semble: bool) -> dict[str, Callable[[int], Ran]]:
    queries = setup.queries()
    database = write_fts5(real.data, place / "start-up.sqlite")

    def search(*options: str) -> Callable[[int], Ran]:
        return lambda number: run(
            setup.kebab_command("search", "--json", *options, "--", _of(queries, number), data=real.data)
        )

    def python(code: str, *arguments: str) -> Command:
        return Command(argv=[setup.python, "-c", code, *arguments])

    bare, imports = python("pass"), python("import numpy, pydantic")
    every: dict[str, Callable[[int], Ran]] = {
        BARE: lambda _: run(bare),
        IMPORTS: lambda _: run(imports),
        FTS5: lambda number: run(python(FTS5_SCRIPT, str(database), words_of(_of(queries, number)))),
        "kebab --version": lambda _: run(setup.kebab_command("--version", data=real.data)),
        LEXICAL: search("--mode", "lexical"),
        "kebab search --mode vector --json": search("--mode", "vector"),
        HYBRID: search(),
    }
    if setup.qmd:
        ask = partial(qmd, setup, "search", "--json", home=qmd_indexed(setup, real.folder, place / "qmd-start-up"))
        every[QMD] = lambda number: run(_with(ask(), words_of(_of(queries, number))))
    if with_semble:
        every[SEMBLE] = lambda number: run(semble(setup, words_of(_of(queries, number)), real.folder))
    return every


def _of(queries: list[str], number: int) -> str:
    return queries[number % len(queries)]


def _with(command: Command, argument: str) -> Command:
    return Command(argv=[*command.argv, argument], env=command.env, cwd=command.cwd)


def _targets(walls: dict[str, list[float]]) -> list[Target]:
    return [
        ratio("cold lexical search to `qmd search`", 0.8, walls[LEXICAL], walls.get(QMD)),
        ratio("cold hybrid search to `qmd search`", 1.0, walls[HYBRID], walls.get(QMD)),
    ]


def _table(found: dict[str, list[Ran]], walls: dict[str, list[float]]) -> Table:
    theirs = median(walls[QMD]) if QMD in walls else None
    rows = []
    for name, ran in found.items():
        wall = median(walls[name])
        rows.append(
            (
                name,
                shown(wall),
                times(wall / median(walls[BARE])),
                times(wall / median(walls[IMPORTS])),
                times(wall / theirs) if theirs else "",
                shown(median(one.cpu_ms for one in ran)),
                shown(median(one.rss_mib for one in ran)),
            )
        )
    heads = ("process", "ms", "to bare", "to the imports", "to qmd", "CPU ms", "peak RSS MiB")
    return Table("", heads, rows)


def _plot(walls: dict[str, list[float]]) -> Shares:
    theirs = median(walls[QMD])
    share = {name: min(median(values) / theirs, 1.0) for name, values in walls.items()}
    rows: list[tuple[str, list[tuple[Mode, float]]]] = [
        ("one search", [("lexical", share[LEXICAL]), ("hybrid", share[HYBRID])]),
        ("imports alone", [("lexical", share[IMPORTS])]),
        ("bare interpreter", [("lexical", share[BARE])]),
    ]
    return Shares("start_up", "A cold search: share of the time of qmd search", rows)
