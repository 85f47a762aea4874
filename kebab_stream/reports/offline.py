"""Replays of many queries, and comparisons of two."""

from dataclasses import dataclass
from typing import Literal

from kebab_stream.model import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency(Wire):
    """Milliseconds: half of the queries, nine in ten, and 99 in 100 took no longer."""

    p50_ms: float
    p90_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport(Wire):
    """What a replay did. The counts are of all lines, also of those that earlier runs answered."""

    schema_version: Literal["replay_report.v1"] = "replay_report.v1"
    total: int
    """Lines that are not blank: succeeded + failed."""
    succeeded: int
    failed: int
    bad_lines: int
    """Lines among the failed that are no JSON, not UTF-8 or too long."""
    blank_lines: int
    """Lines passed over."""
    resumed_lines: int
    """Lines among the total that were answered before this run began."""
    seconds: float
    """Of this run."""
    queries_per_second: float
    """Of this run."""
    latency: Latency | None
    """Of the queries that succeeded, each by itself, to within 3 %; null without any."""
    workers: int
    """The most that work at once."""
    replaced_workers: int
    """Workers that died in this run. With Ray 0, as it does not tell."""
    corpus_revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayProgress(Wire):
    """How far a replay is."""

    schema_version: Literal["replay_progress.v1"] = "replay_progress.v1"
    done: int
    """Lines of the input that are done, blank ones included."""
    total: int | None
    """Lines of the input; null where it is read from a stream."""
    failed: int
    per_second: float
    """Lines of this run."""
    remaining_s: float | None
    """Null where nobody can say."""
    elapsed_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun(Wire):
    """One of two runs that are compared."""

    path: str
    failed: int
    latency: Latency | None
    """From the traces of the answers; null where no answer has one."""
    most_hits: int
    """Hits of the longest answer that the other run answered, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopChanges(Wire):
    """What became of the first hits of run A in run B, for queries that both answered and one of them with a hit."""

    same: int
    moved: int
    """Found further down."""
    lost: int
    """Not on the page any more."""
    gained: int
    """A had no hit, B has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorChanges(Wire):
    """Queries by how they failed in the two runs."""

    both: int
    """With the same code in both."""
    only_a: int
    only_b: int
    other_code: int
    """With another code in B than in A."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedHit(Wire):
    """A hit of a query that changed much."""

    id: str
    """What hits are told apart by: its chunk or its document."""
    doc_path: str
    heading_path: tuple[str, ...]
    score: float
    snippet: str
    source_id: str | None
    """Null where the answer does not have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuery(Wire):
    """A query that changed much, and the first hits of both runs."""

    line: int
    """In both files, from 1."""
    query: str
    overlap: float
    rbo: float
    a: tuple[ComparedHit, ...]
    b: tuple[ComparedHit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareReport(Wire):
    """What changed between two runs over the same queries."""

    schema_version: Literal["compare_report.v1"] = "compare_report.v1"
    a: ComparedRun
    b: ComparedRun
    by: Literal["chunk", "document"]
    """What counts as the same hit."""
    k: int
    """Depth of `overlap`."""
    p: float
    """Persistence of rank-biased overlap."""
    queries: int
    compared: int
    """Queries that both runs answered."""
    identical: int
    """Of these, with the same hits in the same order."""
    overlap: float | None
    """Mean share of the first k hits that both have; null where nothing is compared."""
    rbo: float | None
    """Mean rank-biased overlap, from 0 to 1."""
    rbo_histogram: tuple[int, ...]
    """Compared queries in ten equal parts of 0 to 1."""
    top: TopChanges
    errors: ErrorChanges
    worst: tuple[ComparedQuery, ...]
    """The queries with the least rank-biased overlap, the least first; none that are identical."""
