"""From the sets of a run to its report: what the modes differ by, and how another run went."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from kebab_stream.errors import InvalidInputError
from kebab_stream.evaluate.files import opened
from kebab_stream.evaluate.significance import compare
from kebab_stream.model import Mode
from kebab_stream.reports.quality import EvalAnswer, EvalComparison, EvalMode, EvalQuery, EvalReport, EvalSet

_HINT = "give a file that `kebab eval --save` wrote"
_DAY_MS = 86_400_000.0


def report_of(sets: Sequence[EvalSet], *, k: int, other: EvalReport | None = None, other_run: str = "") -> EvalReport:
    """The report on these sets, each mode compared with those before it, and with itself in another run.

    Raises:
        InvalidInputError: two sets have the same name, or the other run has nothing in common with this one.
    """
    require_distinct([one.name for one in sets])
    comparisons = [comparison for one in sets for comparison in _between_modes(one)]
    if other is not None:
        with_other = [comparison for one in sets for comparison in _between_runs(one, other, other_run)]
        if not with_other:
            raise InvalidInputError(
                f"{other_run} has no set, mode, measure and query in common with this run",
                f"it has {', '.join(one.name for one in other.sets) or 'no sets'}",
            )
        comparisons += with_other
    return EvalReport(k=k, sets=tuple(sets), comparisons=tuple(comparisons))


def require_distinct(names: Sequence[str]) -> None:
    """Raises InvalidInputError: two sets have the same name."""
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidInputError(f"two sets are named {twice[0]}", "rename one, or evaluate them one by one")


def read_report(path: Path) -> EvalReport:
    """A report that was saved.

    Raises:
        InvalidInputError: the file is none.
        StorageError: it cannot be read.
    """
    from pydantic import TypeAdapter, ValidationError  # late: seldom needed

    with opened(path, _HINT) as file:
        data = file.read()
    try:
        report = TypeAdapter(EvalReport).validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInputError(
            f"{path} is no eval_report.v1: {first['msg']}{f' at {place}' if place else ''}", _HINT, {"path": str(path)}
        ) from error
    if not report.sets or not all(map(_is_whole, report.sets)):
        raise InvalidInputError(f"{path} lacks results of a set, mode or measure", _HINT, {"path": str(path)})
    if report.k < 1 or not all(map(_is_in_range, report.sets)):
        raise InvalidInputError(f"{path} has a number that no evaluation gives", _HINT, {"path": str(path)})
    return report


def _is_in_range(one: EvalSet) -> bool:
    """Whether measures are from 0 to 1, times no longer than a day, and nothing is counted below 0."""
    counts = (one.documents, one.chunks, one.queries, one.unjudged, one.unknown_queries, one.absent_targets)
    measures = [value for each in _measured(one) for value in each.metrics.values()]
    times = [time for each in one.modes for time in (each.latency.p50_ms, each.latency.p90_ms, each.latency.p99_ms)]
    return (
        min(counts) >= 0 and all(0 <= value <= 1 for value in measures) and all(0 <= time <= _DAY_MS for time in times)
    )


def _measured(one: EvalSet) -> list[EvalMode | EvalAnswer]:
    return [*one.modes, *(answer for result in one.results for answer in result.answers)]


def _is_whole(one: EvalSet) -> bool:
    """Whether every query has an answer in each mode, and that each measure."""
    modes = [each.mode for each in one.modes]
    names = one.modes[0].metrics.keys() if modes else set()
    return (
        bool(names and one.results)
        and all(each.metrics.keys() == names for each in _measured(one))
        and all([answer.mode for answer in result.answers] == modes for result in one.results)
    )


def values_of(results: Sequence[EvalQuery], mode: Mode, metric: str) -> dict[str, float]:
    """A measure of one mode, by query; without the queries, the mode or the measure that there are not."""
    return {
        result.id: answer.metrics[metric]
        for result in results
        for answer in result.answers
        if answer.mode == mode and metric in answer.metrics
    }


def mean_of(sets: Sequence[EvalSet], mode: Mode, metric: str) -> float | None:
    """The mean over the sets, each counted once; None where one of them lacks it."""
    found = [one.metrics.get(metric) for each in sets for one in each.modes if one.mode == mode]
    values = [value for value in found if value is not None]
    return float(np.mean(values)) if values and len(values) == len(sets) else None


def metrics_in(sets: Sequence[EvalSet]) -> list[str]:
    """The names of all measures, in order."""
    return list(dict.fromkeys(name for each in sets for mode in each.modes for name in mode.metrics))


def _between_modes(one: EvalSet) -> Iterator[EvalComparison]:
    for before, mode in combinations([each.mode for each in one.modes], 2):
        yield from _comparisons(one, mode, one, before, None)


def _between_runs(one: EvalSet, other: EvalReport, other_run: str) -> Iterator[EvalComparison]:
    for there in other.sets:
        if there.name == one.name:
            for each in one.modes:
                yield from _comparisons(one, each.mode, there, each.mode, other_run)


def _comparisons(
    here: EvalSet, mode: Mode, there: EvalSet, other_mode: Mode, other_run: str | None
) -> Iterator[EvalComparison]:
    """One for each measure."""
    for metric in metrics_in([here]):
        ours, theirs = values_of(here.results, mode, metric), values_of(there.results, other_mode, metric)
        if common := [query for query in ours if query in theirs]:
            paired = compare([ours[query] for query in common], [theirs[query] for query in common])
            yield EvalComparison(
                set=here.name,
                metric=metric,
                mode=mode,
                other_mode=other_mode,
                other_run=other_run,
                queries=len(common),
                difference=round(paired.difference, 6),
                low=round(paired.low, 6),
                high=round(paired.high, 6),
                p_value=round(paired.p_value, 6),
                wins=paired.wins,
                ties=paired.ties,
                losses=paired.losses,
            )
