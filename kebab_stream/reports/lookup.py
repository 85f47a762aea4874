"""What is read back from an index: documents, chunks, lists."""

from dataclasses import dataclass
from typing import Literal

from kebab_stream.model import ChunkId, Citation, DocId, TrustLevel, Wire


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
