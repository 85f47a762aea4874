"""Answers to questions, with their sources."""

from dataclasses import dataclass
from typing import Literal

from kebab_stream.model import ChunkId, Citation, DocId, Wire

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
