"""The quality of searches on judged queries."""

from dataclasses import dataclass
from typing import Literal

from kebab_stream.model import Mode, Wire

EvalKind = Literal["beir", "golden"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalLatency(Wire):
    """Milliseconds of a search for the first ten hits: half, nine in ten, and 99 in 100 took no longer."""

    p50_ms: float
    p90_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalMode(Wire):
    """How good one mode is on a set: means over the queries that were evaluated."""

    mode: Mode
    metrics: dict[str, float]
    """By name, such as `ndcg@10`; from 0 to 1."""
    latency: EvalLatency


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTarget(Wire):
    """What is judged relevant to a query."""

    id: str
    """An id of the corpus; in a golden file a path, `path#heading` or chunk id."""
    grade: int
    in_index: bool
    excerpt: str | None
    """The beginning of its text, for the queries that went worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalHit(Wire):
    """What was found at one rank."""

    id: str
    """As in `EvalTarget`; in a golden file, of what is not expected, its path or `citation.uri`."""
    score: float
    """Of its best chunk."""
    grade: int | None
    """Null where it is not judged, which counts as not relevant."""
    excerpt: str | None
    """The snippet, for the first hits of the queries that went worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalAnswer(Wire):
    """How one mode answered one query."""

    mode: Mode
    metrics: dict[str, float]
    first_rank: int | None
    """Rank of the first relevant hit; null if it is none of those that were looked at."""
    elapsed_ms: float
    top: tuple[EvalHit, ...]
    """The first ten, each document or expected part once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuery(Wire):
    """One query, and how each mode answered it."""

    id: str
    query: str
    expected: tuple[EvalTarget, ...]
    answers: tuple[EvalAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSet(Wire):
    """One set of judged queries, and how it went."""

    name: str
    kind: EvalKind
    version: str
    """Of the program."""
    settings: dict[str, object]
    """What a ranking depends on, by dotted name."""
    embedding_model: str | None
    documents: int
    chunks: int
    queries: int
    """Queries that were evaluated."""
    unjudged: int
    """Queries left out, because nothing is judged relevant to them."""
    unknown_queries: int
    """Judged queries that the set does not have."""
    absent_targets: int
    """Relevant targets that the index does not have; they count as not found."""
    modes: tuple[EvalMode, ...]
    results: tuple[EvalQuery, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalComparison(Wire):
    """One mode compared with another, or with itself in another run, on the queries that both answered."""

    set: str
    metric: str
    mode: Mode
    other_mode: Mode
    other_run: str | None
    """The file of the other run; null within one run."""
    queries: int
    difference: float
    """Mean of the differences; positive: `mode` is better."""
    low: float
    """Lower end of the 95 % interval of the mean (bootstrap)."""
    high: float
    p_value: float
    """Two-sided, of a paired randomisation test."""
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport(Wire):
    """How good the search is on sets of judged queries."""

    schema_version: Literal["eval_report.v1"] = "eval_report.v1"
    k: int
    """Cut-off of the measures named `…@k`."""
    sets: tuple[EvalSet, ...]
    comparisons: tuple[EvalComparison, ...]
