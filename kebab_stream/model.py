"""Frozen values that everything else passes around: what is asked, what is stored, what is answered.

The classes with a `schema_version` are wire objects: their field order is the order of the JSON keys, and
`schemas/*.schema.json` are generated from them.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal, NewType

from kebab_stream.errors import ErrorCode

ChunkId = NewType("ChunkId", str)
"""32 lower-case hex digits."""
DocId = NewType("DocId", str)
"""32 lower-case hex digits."""

Mode = Literal["lexical", "vector", "hybrid"]
Fusion = Literal["convex", "rrf"]
ScoreKind = Literal["convex", "rrf", "bm25", "cosine"]
TrustLevel = Literal["generated", "secondary", "primary"]
EmbeddingProvider = Literal["static", "fastembed", "ollama", "openai", "none"]
Pooling = Literal["auto", "mean", "cls", "last"]

MODES: tuple[Mode, ...] = ("lexical", "vector", "hybrid")
TRUST_LEVELS: tuple[TrustLevel, ...] = ("generated", "secondary", "primary")
"""From least to most trusted."""

FILES = "_files"
"""Source of the files outside all sources that were ingested one by one."""
TEXTS = "_stdin"
"""Source of the texts that were given, and are no files."""
COPIES = (FILES, TEXTS)
"""Sources without a folder: the store has the only copy of their documents, and no scan ever removes one."""


class _WireConfig(dict[str, object]):
    """What pydantic needs to know when it makes a schema of a wire object (it is not imported for that)."""


class Wire:
    """Base of what is written as JSON."""

    __slots__ = ()
    __pydantic_config__: ClassVar[_WireConfig] = _WireConfig(
        extra="forbid", json_schema_serialization_defaults_required=True, use_attribute_docstrings=True
    )


# --- what is asked ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions on documents and chunks: AND between fields, OR inside one (`must`: every one, `must_not`: none)."""

    tag: tuple[str, ...] = ()
    lang: str | None = None
    doc_id: str | None = None
    path_glob: str | None = None
    trust_min: TrustLevel | None = None
    media: tuple[str, ...] = ()
    code_lang: tuple[str, ...] = ()
    repo: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    source_type: tuple[str, ...] = ()
    ingested_after: datetime | None = None
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What to look for. `k` = None or 0 means the configured page size, `per_doc` = None or 0 no limit."""

    query: str
    mode: Mode = "hybrid"
    k: int | None = None
    per_doc: int | None = None
    """The most hits of one document."""
    rerank: bool = False
    """Whether the model of `models.rerank` orders the best hits anew."""
    filters: Filters = Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOpts:
    """How to shape the answer. None means: no budget, the configured snippet length, the first page."""

    max_tokens: int | None = None
    snippet_chars: int | None = None
    cursor: str | None = None
    trace: bool = False


# --- what is stored --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One ingested file, without its text."""

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
    """Other names of the document, which its author gave it."""
    created: str | None
    """Date or time that the document states of itself: RFC 3339, or a plain date."""
    modified: str | None
    content_hash: str
    size: int
    mtime_ns: int
    signature: str
    """Everything besides the content that decides how the file becomes chunks: parser, chunker, settings."""
    chunker_version: str
    indexed_at: datetime
    """UTC, whole seconds: when this document last really changed in the index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document: whole source lines, verbatim."""

    chunk_id: ChunkId
    doc_id: DocId
    ordinal: int
    """Position in the document, from 0."""
    text: str
    heading_path: tuple[str, ...]
    symbol: str | None
    line_start: int
    """First file line, from 1."""
    line_end: int
    """Last file line, inclusive."""
    page: int | None


# --- what is answered ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCitation(Wire):
    """Where the chunk stands in a text file."""

    schema_version: Literal["citation.v1"] = "citation.v1"
    kind: Literal["line"] = "line"
    path: str
    uri: str
    start: int
    end: int
    section: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCitation(Wire):
    """Where the chunk stands in a paged file."""

    schema_version: Literal["citation.v1"] = "citation.v1"
    kind: Literal["page"] = "page"
    path: str
    uri: str
    page: int
    section: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCitation(Wire):
    """Where the chunk stands in a source file."""

    schema_version: Literal["citation.v1"] = "citation.v1"
    kind: Literal["code"] = "code"
    path: str
    uri: str
    line_start: int
    line_end: int
    symbol: str | None
    lang: str | None


Citation = LineCitation | PageCitation | CodeCitation


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval(Wire):
    """How the chunk was found. A rank is null where that side did not return the chunk."""

    method: Mode
    fusion_score: float
    lexical_score: float | None
    vector_score: float | None
    lexical_rank: int | None
    vector_rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankedRetrieval(Retrieval):
    """How the chunk was found, where a model ordered the best hits anew: they come first, by `rerank_score`."""

    rerank_score: float | None
    """What the model says, on a scale of its own; null for hits beyond those that it was asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit(Wire):
    """One chunk in a result."""

    schema_version: Literal["search_hit.v1"] = "search_hit.v1"
    rank: int
    score: float
    """A ranking signal, not a confidence; equals `retrieval.fusion_score`."""
    score_kind: ScoreKind
    chunk_id: ChunkId
    doc_id: DocId
    doc_path: str
    heading_path: tuple[str, ...]
    section_label: str | None
    snippet: str
    snippet_full_text: bool
    citation: Citation
    retrieval: Retrieval | RerankedRetrieval
    index_version: str
    """Version of the index format, not of the data in it."""
    embedding_model: str | None
    chunker_version: str
    indexed_at: str
    stale: bool
    source_id: str
    source_type: str
    trust_level: TrustLevel
    repo: str | None
    code_lang: str | None
    lang: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow(Wire):
    """One chunk as one side returned it."""

    chunk_id: ChunkId
    doc_id: DocId
    doc_path: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionInput(Wire):
    """What fusion knew about one chunk of the union."""

    chunk_id: ChunkId
    lexical_rank: int | None
    vector_rank: int | None
    lexical_score: float | None
    vector_score: float | None
    fusion_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Wire):
    """Milliseconds, with fractions."""

    lexical_ms: float
    vector_ms: float
    fusion_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Wire):
    """What each side returned, what fusion made of it, and how long each took."""

    lexical: tuple[TraceRow, ...]
    vector: tuple[TraceRow, ...]
    rrf_inputs: tuple[FusionInput, ...]
    """The union, whatever the fusion; the name is kept for compatibility."""
    timing: Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResponse(Wire):
    """The answer to one query: a page of hits."""

    schema_version: Literal["search_response.v1"] = "search_response.v1"
    hits: tuple[SearchHit, ...]
    next_cursor: str | None
    truncated: bool
    """True when max_tokens cut something. Tokens are an approximation: characters / chars_per_token."""
    trace: Trace | None
    hint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRecord(Wire):
    """A failure as callers see it."""

    schema_version: Literal["error.v1"] = "error.v1"
    code: ErrorCode
    message: str
    details: dict[str, object]
    hint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningRecord(Wire):
    """Something the caller should know, that is no failure."""

    schema_version: Literal["warning.v1"] = "warning.v1"
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkSearchItem(Wire):
    """The answer to one line of a bulk run: exactly one of `response` and `error` is not null."""

    schema_version: Literal["bulk_search_item.v1"] = "bulk_search_item.v1"
    query: object
    """The input value as it was given."""
    response: SearchResponse | None
    error: ErrorRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkSearchSummary(Wire):
    """Counts of a bulk run: total = succeeded + failed."""

    schema_version: Literal["bulk_search_summary.v1"] = "bulk_search_summary.v1"
    total: int
    succeeded: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkCounts(Wire):
    """Counts of a batch: total = succeeded + failed."""

    total: int
    succeeded: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkSearchResponse(Wire):
    """The answers to a batch that came as one value, in its order."""

    schema_version: Literal["bulk_search_response.v1"] = "bulk_search_response.v1"
    results: tuple[BulkSearchItem, ...]
    summary: BulkCounts
