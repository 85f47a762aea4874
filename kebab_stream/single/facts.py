"""What every answer about a document says of it: the same in a fetch, a listing and an inspection, and as in a hit."""

from datetime import datetime
from typing import TypedDict

from kebab_stream.model import DocId, Document, TrustLevel
from kebab_stream.reports.lookup import DocSummary
from kebab_stream.single.hits import is_stale, rfc3339
from kebab_stream.single.settings import SearchSettings


class Facts(TypedDict):
    """Keys that `DocSummary` and `FetchResult` have in common."""

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
    modified: str | None
    indexed_at: str
    stale: bool


def facts_of(document: Document, settings: SearchSettings, now: datetime) -> Facts:
    """What is known of a document, and whether it is stale by now."""
    return Facts(
        doc_id=document.doc_id,
        source_id=document.source_id,
        doc_path=document.doc_path,
        title=document.title,
        media=document.media,
        lang=document.lang,
        code_lang=document.code_lang,
        repo=document.repo,
        source_type=document.source_type,
        trust_level=document.trust_level,
        tags=document.tags,
        created=document.created,
        modified=document.modified,
        indexed_at=rfc3339(document.indexed_at),
        stale=is_stale(document.indexed_at, now, settings.stale_threshold_days),
    )


def summary_of(document: Document, chunks: int, settings: SearchSettings, now: datetime) -> DocSummary:
    """A document as a listing shows it."""
    return DocSummary(
        **facts_of(document, settings, now),
        aliases=document.aliases,
        chunks=chunks,
        size=document.size,
        content_hash=document.content_hash,
        chunker_version=document.chunker_version,
    )
