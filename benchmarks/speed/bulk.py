"""Section: a hundred queries in one process that has just been started, beside qmd's server."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.speed.corpora import write_bulk
from benchmarks.speed.figures import Section, Table, Target, ratio, shown, times
from benchmarks.speed.peers import left_out, qmd_indexed, qmd_session
from benchmarks.speed.setup import Indexed, Setup
from benchmarks.speed.timing import Ran, interleaved, run

ONE, HOT = "one cold hybrid search", "its start not counted"
FIRST, ANSWERED = "the first queries", "queries that qmd finds something for"
_LOOKED_AT = 40
"""So many times the queries are tried to find those that qmd answers."""

Times = tuple[float, float]
"""Milliseconds of a whole run; of ours until its first line, of qmd's for the queries alone."""


def measure(setup: Setup, place: Path, real: Indexed) -> Section:
    """The whole runs take turns with single searches and with sessions of qmd's server."""
    sets = {FIRST: setup.queries()}
    notes = [f"Medians of {setup.few_rounds} runs. qmd's queries are lexical, without a model.", *left_out(setup)]
    home = place / "qmd-bulk"
    if setup.qmd:
        qmd_indexed(setup, real.folder, home)
        tried = setup.queries(_LOOKED_AT * setup.n_queries)
        found = qmd_session(setup, tried, home).found
        answered = [query for query, was_found in zip(tried, found, strict=True) if was_found]
        sets[ANSWERED] = answered[: setup.n_queries]
        notes.append(
            f"qmd wants all words of a query in one document: it finds something for {sum(found[: setup.n_queries])}"
            f" of the first {setup.n_queries}, and is quick with the others. So both are asked those that it does find"
            " something for, too."
        )
    found_times = interleaved(_contestants(setup, place, real, sets, home), setup.few_rounds)
    count = setup.n_queries
    return Section(
        f"{count} queries in one process", notes, list(_targets(found_times, sets)), [_table(found_times, sets)]
    )


def _contestants(
    setup: Setup, place: Path, real: Indexed, sets: Mapping[str, Sequence[str]], home: Path
) -> dict[str, Callable[[int], Times]]:
    every: dict[str, Callable[[int], Times]] = {ONE: partial(_one, setup, real, sets[FIRST])}
    for name, queries in sets.items():
        for mode in ("hybrid", "lexical"):
            file = write_bulk(queries, mode, place / f"{mode}-{len(every)}.ndjson")
            every[_ours(mode, name)] = partial(_bulk, setup, real, file, len(queries))
        if setup.qmd:
            every[_theirs(name)] = partial(_session, setup, queries, home)
    return every


def _one(setup: Setup, real: Indexed, queries: Sequence[str], number: int) -> Times:
    ran = run(setup.kebab_command("search", "--json", "--", queries[number % len(queries)], data=real.data))
    return ran.wall_ms, ran.first_ms


def _bulk(setup: Setup, real: Indexed, file: Path, count: int, number: int) -> Times:
    ran = run(setup.kebab_command("search", "--bulk", "--json", data=real.data, stdin=file))
    _require_all(ran, count)
    return ran.wall_ms, ran.first_ms


def _session(setup: Setup, queries: Sequence[str], home: Path, number: int) -> Times:
    took = qmd_session(setup, queries, home)
    return took.whole_ms, took.queries_ms


def _ours(mode: str, name: str) -> str:
    return f"kebab search --bulk, {mode}, {name}"


def _theirs(name: str) -> str:
    return f"qmd mcp, lexical, {name}"


def _require_all(ran: Ran, count: int) -> None:
    """An answer that failed would be a quick one."""
    lines = [json.loads(line) for line in ran.output.splitlines()]
    answered = sum(line.get("response") is not None for line in lines)
    assert answered == count, f"{answered} of {count} queries were answered"


def _targets(found: Mapping[str, Sequence[Times]], sets: Mapping[str, Sequence[str]]) -> list[Target]:
    wholes = {name: [whole for whole, _ in values] for name, values in found.items()}
    targets = [
        ratio(
            f"cold bulk run of {len(queries)} hybrid queries to the same over qmd's MCP server, {HOT}: {name}",
            1 / 3,
            wholes[_ours("hybrid", name)],
            [queries_ms for _, queries_ms in found.get(_theirs(name), ())],
        )
        for name, queries in sets.items()
    ]
    first = [first_ms for _, first_ms in found[_ours("hybrid", FIRST)]]
    return [*targets, ratio("first item of a bulk run to one cold search", 1.6, first, wholes[ONE])]


def _table(found: Mapping[str, Sequence[Times]], sets: Mapping[str, Sequence[str]]) -> Table:
    one = median(whole for whole, _ in found[ONE])
    rows = []
    for name, values in found.items():
        whole, other = median(whole for whole, _ in values), median(other for _, other in values)
        rows.append((name, shown(whole), times(whole / one)))
        if name.startswith("qmd"):
            rows.append((f"{name}, {HOT}", shown(other), times(other / one)))
        elif name != ONE:
            rows.append((f"{name}, its first item", shown(other), times(other / one)))
    return Table("", ("run", "ms", "to one cold search"), rows)
