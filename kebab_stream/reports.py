"""What commands other than a search report, section by section: from ingest to comparing replays.

Apart from `model`, because each search would pay for making these classes.
"""

from dataclasses import dataclass, field
from typing import Literal

from kebab_stream.errors import ErrorCode
from kebab_stream.model import ChunkId, Citation, DocId, Mode, TrustLevel, Wire

# --- ingest ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem(Wire):
    """A file that could not be ingested, and why."""

    source_id: str
    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport(Wire):
    """What an ingest did."""

    schema_version: Literal["ingest_report.v1"] = "ingest_report.v1"
    new: int
    updated: int
    unchanged: int
    deleted: int
    skipped: dict[str, int]
    """Files passed over, by reason."""
    skipped_examples: dict[str, tuple[str, ...]]
    errors: tuple[FileProblem, ...]
    replaced_copies: tuple[str, ...]
    """Paths of stored copies in `_files` that went, because the folder that holds the file has it now."""
    documents: int
    """Documents in the index now."""
    chunks: int
    windows: int
    """Vectors in the index now."""
    embedding_model: str | None
    corpus_revision: str
    changed: bool
    interrupted: bool
    """Whether Ctrl-C ended it: what was complete by then is in the index, `not_reached` files are not."""
    not_reached: int
    elapsed_ms: float


IngestPhase = Literal["scan", "read", "index", "commit", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress(Wire):
    """How far an ingest is. The last one has the phase `done`, after the commit."""

    schema_version: Literal["ingest_progress.v1"] = "ingest_progress.v1"
    phase: IngestPhase
    done: int
    """Files read, or chunks indexed again, of `total`; both 0 where that is not known."""
    total: int
    elapsed_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReport(Wire):
    """What became of one document given by itself, as a file or a text."""

    schema_version: Literal["document_report.v1"] = "document_report.v1"
    status: Literal["new", "updated", "unchanged"]
    doc_id: DocId
    source_id: str
    doc_path: str
    title: str
    chunks: int
    warnings: tuple[str, ...]
    corpus_revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalReport(Wire):
    """What was removed from the index. The files themselves are never touched."""

    schema_version: Literal["removal_report.v1"] = "removal_report.v1"
    documents: tuple[str, ...]
    """`source_id/doc_path` of each."""
    sources: tuple[str, ...]
    """Sources that are forgotten."""
    warnings: tuple[str, ...]
    corpus_revision: str


# --- what is read back -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DocSummary(Wire):
    """What the index knows of a document, without its text."""

    schema_version: Literal["doc_summary.v1"] = "doc_summary.v1"
    doc_id: DocId
    source_id: str
    doc_path: str
    title: str
    media: str
    lang: str | None
    code_lang: str | None
    repo: str | None
    source_type: str
    trust_level: TrustLevel
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    created: str | None
    """Date or time that the document states of itself."""
    modified: str | None
    indexed_at: str
    stale: bool
    chunks: int
    size: int
    """Bytes of the file."""
    content_hash: str
    chunker_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSummary(Wire):
    """A tag and how many documents have it."""

    schema_version: Literal["tag_summary.v1"] = "tag_summary.v1"
    tag: str
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSummary(Wire):
    """A folder that was ingested, and what the index has of it."""

    schema_version: Literal["source_summary.v1"] = "source_summary.v1"
    source_id: str
    root: str
    source_type: str
    trust_level: TrustLevel
    exclude: tuple[str, ...]
    documents: int
    chunks: int
    indexed_at: str | None
    """When one of its documents last changed in the index; null if it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourChunk(Wire):
    """A chunk before or after the one that was asked for."""

    chunk_id: ChunkId
    ordinal: int
    """Position in the document, from 0."""
    heading_path: tuple[str, ...]
    citation: Citation
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult(Wire):
    """Text as it stands in the source: a chunk, a document, or a span of one."""

    schema_version: Literal["fetch_result.v1"] = "fetch_result.v1"
    kind: Literal["chunk", "doc", "span"]
    doc_id: DocId
    source_id: str
    doc_path: str
    title: str
    media: str
    lang: str | None
    code_lang: str | None
    repo: str | None
    source_type: str
    trust_level: TrustLevel
    tags: tuple[str, ...]
    created: str | None
    """Date or time that the document states of itself."""
    modified: str | None
    indexed_at: str
    stale: bool
    citation: Citation | None
    """Where the text stands; null where there is none."""
    heading_path: tuple[str, ...]
    """The headings above the first line of a chunk or span; empty for a document."""
    text: str
    line_start: int | None
    """First file line of the text, from 1; null in a paged document, and where there is no text."""
    line_end: int | None
    """Last file line, inclusive."""
    page: int | None
    """The page, from 1, of a chunk or span in a paged document."""
    total_lines: int | None
    """Lines of the whole document; null where it is paged."""
    total_pages: int | None
    """Pages of the whole document; null where it is not paged."""
    truncated: bool
    """True when max_tokens cut the text. Tokens are an approximation: characters / chars_per_token."""
    next_line: int | None
    """Where to go on after a cut, or null."""
    next_page: int | None
    """Where to go on after a cut in a paged document, or null."""
    hint: str | None
    chunk_id: ChunkId | None
    before: tuple[NeighbourChunk, ...]
    """The neighbours of a chunk, in document order."""
    after: tuple[NeighbourChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSummary(Wire):
    """A chunk of a document, without its text."""

    chunk_id: ChunkId
    ordinal: int
    citation: Citation
    heading_path: tuple[str, ...]
    chars: int
    """Length of its text in code points."""
    windows: int
    """How many vectors it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedTerm(Wire):
    """A term by which a chunk is found."""

    term: str
    """As the index knows it: case folded, stemmed; two letters in Korean."""
    frequency: int
    """How often the chunk has it, the headings, titles and file name above its text included."""
    document_frequency: int
    """How many chunks of the index have it."""
    idf: float
    """What it is worth in BM25."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectResult(Wire):
    """How a document or a chunk is indexed."""

    schema_version: Literal["inspect_result.v1"] = "inspect_result.v1"
    kind: Literal["document", "chunk"]
    document: DocSummary
    chunks: tuple[ChunkSummary, ...]
    """All chunks of the document in its order, or the chunk alone."""
    text: str | None
    """The text of the chunk; null for a document."""
    terms: tuple[IndexedTerm, ...] | None
    """The terms of the chunk, the rarest in the index first; null for a document."""
    embedding_model: str | None
    """The model whose vectors the index holds."""


# --- housekeeping ----------------------------------------------------------------------------------------

CheckStatus = Literal["ok", "warn", "fail", "skipped"]
Origin = Literal["default", "file", "environment", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Wire):
    """What was looked at, and what was found."""

    name: str
    status: CheckStatus
    """`warn` is worth knowing and no failure; `skipped` was not looked at, and the message says why."""
    message: str
    hint: str | None = None
    details: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport(Wire):
    """What a look at everything found."""

    schema_version: Literal["doctor.v1"] = "doctor.v1"
    healthy: bool
    """Whether no check failed."""
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Wire):
    """How much of the index something is."""

    documents: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics(Wire):
    """What the index holds. Breakdowns name the values that occur; documents without a value are in none."""

    documents: int
    chunks: int
    windows: int
    """Vectors."""
    sources: int
    """Folders that are known, also those without a document."""
    tags: int
    """Different tags."""
    by_media: dict[str, Count]
    by_lang: dict[str, Count]
    by_code_lang: dict[str, Count]
    by_repo: dict[str, Count]
    by_source: dict[str, Count]
    by_source_type: dict[str, Count]
    by_trust_level: dict[str, Count]
    corpus_revision: str
    indexed_at: str | None
    """When a document last changed; null without documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Wire):
    """What answers."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions(Wire):
    """Versions of what is stored; another one makes the next ingest do its part again."""

    index_version: str
    store_version: int
    analyser_version: str
    chunker_version: str
    parser_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedModel(Wire):
    """The model whose vectors the index holds."""

    model: str
    fingerprint: str
    dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel(Wire):
    """The embedding model in the settings, and the one in the index; null without vectors."""

    provider: str
    model: str
    indexed: IndexedModel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel(Wire):
    """The language model in the settings."""

    provider: str
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsInUse(Wire):
    """The models in use."""

    embedding: EmbeddingModel
    llm: LanguageModel


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport(Wire):
    """What this program can do, what it accepts, and what its index holds."""

    schema_version: Literal["schema.v1"] = "schema.v1"
    program: Program
    versions: Versions
    wire: tuple[str, ...]
    """Names of all objects that are read or written as JSON; `kebab schema NAME` prints the schema of one."""
    commands: dict[str, str]
    """Name to what it does."""
    capabilities: dict[str, bool]
    extras: dict[str, bool]
    """Optional parts of the package, and whether they are installed."""
    modes: tuple[Mode, ...]
    filters: dict[str, str]
    """Key of a search to what it does; as an option, with `--` and dashes."""
    media: tuple[str, ...]
    trust_levels: tuple[TrustLevel, ...]
    """From least to most trusted."""
    limits: dict[str, int]
    """The most that is accepted, or returned."""
    defaults: dict[str, int | float | str]
    """What the settings give to a search that does not say."""
    error_codes: tuple[ErrorCode, ...]
    exit_statuses: dict[str, str]
    models: ModelsInUse
    statistics: Statistics | None
    """Null where nothing was ingested yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetReport(Wire):
    """What a reset removed."""

    schema_version: Literal["reset_report.v1"] = "reset_report.v1"
    data_dir: str
    documents: int | None
    """Documents that were in the index; null where it could not be read."""
    removed: tuple[str, ...]
    """Names in the data folder."""
    kept: int
    """Other files and folders in the data folder, which were left alone."""
    folder_removed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Wire):
    """The value of a setting; null where it is unset."""

    value: object
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigReport(Wire):
    """The settings in effect."""

    schema_version: Literal["config_report.v1"] = "config_report.v1"
    path: str | None
    """The config file that was read, if there is one."""
    values: dict[str, Setting]
    """By dotted name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename(Wire):
    """A setting that has another name by now; dotted names."""

    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport(Wire):
    """What became of a config file."""

    schema_version: Literal["config_migration.v1"] = "config_migration.v1"
    path: str
    written: bool
    """Whether the file was changed; false with --dry-run, and where there is nothing to change."""
    backup: str | None
    """Where the file as it was is kept."""
    renames: tuple[Rename, ...]
    unknown: tuple[str, ...]
    """Settings and tables that this version does not know. They stay in the file, and it is refused because of them."""
    diff: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InitResult(Wire):
    """Where a config file was written."""

    schema_version: Literal["init_result.v1"] = "init_result.v1"
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionScript(Wire):
    """What makes a shell complete command lines."""

    schema_version: Literal["completion_script.v1"] = "completion_script.v1"
    shell: Literal["bash", "zsh", "fish"]
    script: str


# --- answers to questions --------------------------------------------------------------------------------

NoAnswerReason = Literal["no_hits", "low_evidence", "model_declined", "no_citations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCitation(Wire):
    """A passage that an answer cites by its number."""

    number: int
    """As in the answer: `[1]`."""
    chunk_id: ChunkId
    doc_id: DocId
    doc_path: str
    citation: Citation
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Wire):
    """What a language model says to a question, from passages of the index and from nothing else."""

    schema_version: Literal["answer.v1"] = "answer.v1"
    question: str
    answer: str | None
    """Markdown with numbers in square brackets, each of a citation; null unless grounded."""
    grounded: bool
    """Whether there is an answer that cites passages the model was given; whether it is true they do not guarantee."""
    citations: tuple[AnswerCitation, ...]
    """By number, each once; numbers may be missing."""
    hits_considered: int
    """Passages the model was given or, where it was not asked, that were found."""
    model: str
    truncated: bool
    """Whether the model was stopped at the most that it may write."""
    reason: NoAnswerReason | None
    """Why there is no answer: nothing was found, or nothing near enough; the model found none in the passages, or named
    none. Null if grounded."""
    elapsed_ms: float


# --- quality on judged queries ---------------------------------------------------------------------------

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


# --- many queries, offline -------------------------------------------------------------------------------


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
