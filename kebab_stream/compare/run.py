"""Compares two runs: what each query's answers have in common, and what all of them together say."""

import heapq
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from kebab_stream.compare.answers import Answer, By, pairs
from kebab_stream.compare.measures import overlap, rank_biased_overlap
from kebab_stream.reports.offline import ComparedQuery, ComparedRun, CompareReport, ErrorChanges, Latency, TopChanges

PERSISTENCE: Final = 0.9
WORST: Final = 30
"""Queries that are shown with their hits."""

_BINS: Final = 10
_TOP: Final = 5
_DECIMALS: Final = 6


@dataclass(slots=True)
class _Sums:
    """What is kept of the queries so far: a few numbers of each run, and the worst queries."""

    k: int
    p: float
    worst_limit: int
    counts: Counter[str] = field(default_factory=Counter)
    overlap: float = 0.0
    rbo: float = 0.0
    most_hits: tuple[int, int] = (0, 0)
    bins: list[int] = field(default_factory=lambda: [0] * _BINS)
    times: tuple["array[float]", "array[float]"] = field(default_factory=lambda: (array("d"), array("d")))
    worst: list[tuple[float, int, float, Answer, Answer]] = field(default_factory=list)
    """A heap of (-rbo, -line, overlap, answers): its first is the least bad one."""

    def add(self, line: int, a: Answer, b: Answer) -> None:
        """Count a query."""
        for times, answer in zip(self.times, (a, b), strict=True):
            if answer.total_ms is not None:
                times.append(answer.total_ms)
        self.counts[_error_change(a.error, b.error)] += 1
        if a.error is None and b.error is None:
            self._add_answered(line, a, b)

    def _add_answered(self, line: int, a: Answer, b: Answer) -> None:
        shared, alike = overlap(a.ids, b.ids, self.k), rank_biased_overlap(a.ids, b.ids, self.p)
        self.overlap += shared
        self.rbo += alike
        self.bins[min(int(alike * _BINS), _BINS - 1)] += 1
        self.most_hits = (max(self.most_hits[0], a.page_length), max(self.most_hits[1], b.page_length))
        self.counts["identical"] += a.ids == b.ids
        self.counts[_top_change(a.ids, b.ids)] += 1
        if a.ids != b.ids:
            heapq.heappush(self.worst, (-alike, -line, shared, a, b))
            if len(self.worst) > self.worst_limit:
                heapq.heappop(self.worst)

    def run(self, place: int, path: Path, *, failed: int) -> ComparedRun:
        """What is said of one of the runs, by its place."""
        latency = _latency(self.times[place])
        return ComparedRun(path=str(path), failed=failed, latency=latency, most_hits=self.most_hits[place])


def compare(
    a: Path, b: Path, *, by: By = "chunk", k: int = 10, p: float = PERSISTENCE, worst: int = WORST
) -> CompareReport:
    """What changed from run A to run B, two files of answers to the same queries, read in step.

    Args:
        by: what counts as the same hit: the same chunk, or the same document, which then counts where it comes first.
        k: depth of the overlap, at least 1.
        p: persistence of the rank-biased overlap, between 0 and 1.
        worst: how many of the queries that changed most are kept with their hits.

    Raises:
        InvalidInputError: a file cannot be read, or the two do not answer the same queries; see `pairs`.
    """
    sums = _Sums(k, p, worst)
    queries = 0
    for line, first, second in pairs(a, b, by):
        sums.add(line, first, second)
        queries += 1
    counts = sums.counts
    compared = counts["answered"]
    both, only_a, only_b, other = counts["both"], counts["only_a"], counts["only_b"], counts["other_code"]
    return CompareReport(
        a=sums.run(0, a, failed=both + other + only_a),
        b=sums.run(1, b, failed=both + other + only_b),
        by=by,
        k=k,
        p=p,
        queries=queries,
        compared=compared,
        identical=counts["identical"],
        overlap=round(sums.overlap / compared, _DECIMALS) if compared else None,
        rbo=round(sums.rbo / compared, _DECIMALS) if compared else None,
        rbo_histogram=tuple(sums.bins),
        top=TopChanges(same=counts["same"], moved=counts["moved"], lost=counts["lost"], gained=counts["gained"]),
        errors=ErrorChanges(both=both, only_a=only_a, only_b=only_b, other_code=other),
        worst=tuple(
            ComparedQuery(
                line=-line,
                query=first.query,
                overlap=round(shared, _DECIMALS),
                rbo=round(-alike, _DECIMALS),
                a=first.top(_TOP),
                b=second.top(_TOP),
            )
            for alike, line, shared, first, second in sorted(sums.worst, reverse=True)
        ),
    )


def _error_change(a: str | None, b: str | None) -> str:
    if a is None or b is None:
        return "answered" if a == b else "only_b" if a is None else "only_a"
    return "both" if a == b else "other_code"


def _top_change(a: Sequence[str], b: Sequence[str]) -> str:
    if not a:
        return "gained" if b else "nothing"
    if a[0] not in b:
        return "lost"
    return "same" if b[0] == a[0] else "moved"


def _latency(times: "array[float]") -> Latency | None:
    if not times:
        return None
    p50, p90, p99 = (round(float(value), 3) for value in np.quantile(times, (0.5, 0.9, 0.99)))
    return Latency(p50_ms=p50, p90_ms=p90, p99_ms=p99)
