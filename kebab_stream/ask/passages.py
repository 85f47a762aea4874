"""What a language model gets to read: the best passages of the index, and whether they have to do with the question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from kebab_stream.analyser import query_terms
from kebab_stream.engine import Engine
from kebab_stream.model import ChunkId, Citation, DocId, SearchHit, SearchQuery

DEFAULT_K: Final = 8
CONTEXT_CHARS: Final = 8_000
"""Text of all passages together. With Korean at 0.8 tokens a character it leaves room for the rest in 8,192 tokens,
the context that `server.py` asks for; a longer prompt would lose its beginning, without a word."""
_LEAST_CHARS: Final = 200
"""A passage that is cut to less says nothing."""

MIN_SHARE: Final = 0.06
MIN_COSINE: Final = 0.18
"""Below both, nothing that was found has to do with the question; see `has_evidence`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk, and the number by which an answer cites it, from 1."""

    number: int
    chunk_id: ChunkId
    doc_id: DocId
    doc_path: str
    citation: Citation
    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search for the question gave."""

    hits: int
    passages: tuple[Passage, ...]
    """The best hits as far as they fit; none where `missing` says why there is nothing to read."""
    missing: Literal["no_hits", "low_evidence"] | None


def find_passages(engine: Engine, question: SearchQuery) -> Found:
    """Search for the question and read the passages.

    Args:
        question: `k` = None or 0 means DEFAULT_K.

    Raises:
        KebabError: as `Engine.search_with_opts`.
    """
    hits = engine.search_with_opts(replace(question, k=question.k or DEFAULT_K)).hits
    if not hits:
        return Found(hits=0, passages=(), missing="no_hits")
    _, most = engine.snapshot.generation.lexical.scores(query_terms(question.query))
    # Without cosines a floor says nothing, and no model is loaded for it.
    floor = 0.0 if all(hit.retrieval.vector_score is None for hit in hits) else engine.score_floor()
    if not has_evidence(hits, most, floor=floor):
        return Found(hits=len(hits), passages=(), missing="low_evidence")
    texts = _texts(engine, hits)
    return Found(hits=len(hits), passages=_fitting(hits, texts, CONTEXT_CHARS), missing=None)


def has_evidence(hits: Sequence[SearchHit], most: float, *, floor: float = 0.0) -> bool:
    """Whether one of the hits shares words or meaning with the question.

    Looks at BM25 as a share of what it cannot exceed, and at the cosine: both compare across queries, whatever the mode
    and the fusion. (The score of reciprocal rank fusion does not: the best of nothing is still first.)

    The thresholds are low on purpose: whether passages answer a question only reading tells, and they are read next. Of
    1,800 questions that the documents answer (six sets: Korean, English, and across) none is refused, of 2,400 about
    something else 0 to 14 % by the documents. A higher share or cosine refuses answers across languages first, and so
    would any threshold on the fused score.

    Args:
        most: the bound of BM25 for the question: Σ idf over its terms.
        floor: cosine that counts as 0.
    """
    share = max(hit.retrieval.lexical_score or 0.0 for hit in hits) / most if most else 0.0
    nearest = max(hit.retrieval.vector_score or 0.0 for hit in hits)
    return share >= MIN_SHARE or (nearest - floor) / (1 - floor) >= MIN_COSINE


def _texts(engine: Engine, hits: Sequence[SearchHit]) -> list[str]:
    rows = engine.snapshot.store.chunks_by_id([bytes.fromhex(hit.chunk_id) for hit in hits])
    return [rows[hit.chunk_id][0].text for hit in hits]


def _fitting(hits: Sequence[SearchHit], texts: Sequence[str], room: int) -> tuple[Passage, ...]:
    """The passages, best first, until there is no room; the last one may be cut."""
    passages: list[Passage] = []
    for hit, text in zip(hits, texts, strict=True):
        if passages and room < min(len(text), _LEAST_CHARS):
            break
        shown = text if len(text) <= room else f"{text[: room - 1]}…"
        room -= len(shown)
        passages.append(
            Passage(
                number=len(passages) + 1,
                chunk_id=hit.chunk_id,
                doc_id=hit.doc_id,
                doc_path=hit.doc_path,
                citation=hit.citation,
                heading_path=hit.heading_path,
                text=shown,
            )
        )
    return tuple(passages)
