"""What an ingest, and what takes documents in or out, tells."""

from dataclasses import dataclass
from typing import Literal

from kebab_stream.model import DocId, Wire


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
