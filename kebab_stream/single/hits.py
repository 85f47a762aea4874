"""One hit: a chunk and its document, as the store has them, in the shape of the wire."""

import re
from datetime import datetime, timedelta

from kebab_stream.index.generation import INDEX_VERSION, EmbeddingSpec
from kebab_stream.model import (
    Chunk,
    Citation,
    CodeCitation,
    Document,
    LineCitation,
    PageCitation,
    Retrieval,
    ScoreKind,
    SearchHit,
)
from kebab_stream.single.settings import SearchSettings

_BREAKS_URI = re.compile(r'[\x00-\x20\x7f%#?"<>\\^`{|}]')


def hit_of(
    chunk: Chunk,
    document: Document,
    *,
    rank: int,
    score_kind: ScoreKind,
    retrieval: Retrieval,
    embedding: EmbeddingSpec | None,
    settings: SearchSettings,
    now: datetime,
) -> SearchHit:
    """One hit, its snippet still empty."""
    return SearchHit(
        rank=rank,
        score=retrieval.fusion_score,
        score_kind=score_kind,
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        doc_path=document.doc_path,
        heading_path=chunk.heading_path,
        section_label=section_label(chunk),
        snippet="",
        snippet_full_text=False,
        citation=citation_of(chunk, document),
        retrieval=retrieval,
        index_version=INDEX_VERSION,
        embedding_model=embedding.model_id if embedding else None,
        chunker_version=document.chunker_version,
        indexed_at=rfc3339(document.indexed_at),
        stale=is_stale(document.indexed_at, now, settings.stale_threshold_days),
        source_id=document.source_id,
        source_type=document.source_type,
        trust_level=document.trust_level,
        repo=document.repo,
        code_lang=document.code_lang,
        lang=document.lang,
    )


def section_label(chunk: Chunk) -> str | None:
    """The code symbol, or the last heading."""
    return chunk.symbol or (chunk.heading_path[-1] if chunk.heading_path else None)


def citation_of(chunk: Chunk, document: Document) -> Citation:
    """Where the chunk stands in its file."""
    if chunk.page is not None:
        return page_citation(document, chunk.page, section_label(chunk))
    return line_citation(document, chunk.line_start, chunk.line_end, section_label(chunk), chunk.symbol)


def page_citation(document: Document, page: int, section: str | None) -> PageCitation:
    """A page of a document."""
    path = document.doc_path
    return PageCitation(path=path, uri=f"{_uri_path(path)}#page={page}", page=page, section=section)


def line_citation(
    document: Document, start: int, end: int, section: str | None, symbol: str | None
) -> LineCitation | CodeCitation:
    """Lines of a document, from 1, both included."""
    path = document.doc_path
    uri = f"{_uri_path(path)}#L{start}" + (f"-L{end}" if end > start else "")
    if document.code_lang is not None:
        return CodeCitation(path=path, uri=uri, line_start=start, line_end=end, symbol=symbol, lang=document.code_lang)
    return LineCitation(path=path, uri=uri, start=start, end=end, section=section)


def rfc3339(moment: datetime) -> str:
    """A UTC time in whole seconds, ending in Z."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def is_stale(indexed_at: datetime, now: datetime, threshold_days: int) -> bool:
    """Whether a document was indexed more than so many days ago; 0 days means never."""
    return threshold_days > 0 and now - indexed_at > timedelta(days=threshold_days)


def _uri_path(path: str) -> str:
    """The path with what would break a URI percent-encoded; other letters stay readable."""
    return _BREAKS_URI.sub(lambda match: f"%{ord(match[0]):02X}", path)
