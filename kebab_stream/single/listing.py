"""What is in the index: its documents, their tags, and the sources they came from."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from kebab_stream.index.snapshot import Snapshot
from kebab_stream.index.store import Store
from kebab_stream.model import Document, Filters
from kebab_stream.reports.lookup import DocSummary, SourceSummary, TagSummary
from kebab_stream.single import validate
from kebab_stream.single.facts import summary_of
from kebab_stream.single.filters import CHUNK_FILTERS
from kebab_stream.single.glob import glob_pattern
from kebab_stream.single.hints import filter_hint
from kebab_stream.single.hits import rfc3339
from kebab_stream.single.mask import allowed_chunks, document_condition
from kebab_stream.single.settings import SearchSettings


def list_documents(store: Store, filters: Filters, *, settings: SearchSettings, now: datetime) -> Iterator[DocSummary]:
    """The documents that pass the filters, by source_id and doc_path in byte order, read one by one.

    Raises:
        InvalidInputError: at once; a filter is malformed, or looks at chunks.
    """
    found = _documents(store, filters)
    return (summary_of(document, chunks, settings, now) for document, chunks in found)


def list_tags(store: Store, filters: Filters) -> list[TagSummary]:
    """The tags of the documents that pass the filters, in byte order.

    Raises:
        InvalidInputError: a filter is malformed, or looks at chunks.
    """
    counts = Counter(tag for document, _ in _documents(store, filters) for tag in document.tags)
    return [TagSummary(tag=tag, documents=count) for tag, count in sorted(counts.items())]


def list_sources(store: Store) -> list[SourceSummary]:
    """All known sources by source_id, also those without documents."""
    documents = {
        source_id: (count, datetime.fromtimestamp(latest, UTC))
        for source_id, count, latest in store.rows(
            "SELECT source_id, count(*), max(indexed_at) FROM documents GROUP BY source_id"
        )
    }
    chunks: dict[str, int] = dict(
        store.rows("SELECT source_id, count(*) FROM chunks JOIN documents USING (doc_no) GROUP BY source_id")
    )
    return [
        SourceSummary(
            source_id=source.source_id,
            root=source.root,
            source_type=source.source_type,
            trust_level=source.trust_level,
            exclude=source.exclude,
            documents=documents[source.source_id][0] if source.source_id in documents else 0,
            chunks=chunks.get(source.source_id, 0),
            indexed_at=rfc3339(documents[source.source_id][1]) if source.source_id in documents else None,
        )
        for source in store.sources()
    ]


def nothing_listed_hint(snapshot: Snapshot, filters: Filters) -> str | None:
    """Why no document passes the filters, in the words that a search has for it."""
    return filter_hint(snapshot, filters, allowed_chunks(snapshot, filters))


def _documents(store: Store, filters: Filters) -> Iterator[tuple[Document, int]]:
    filters = validate.filters(filters)
    for definition in CHUNK_FILTERS:
        if texts := getattr(filters, definition.name):
            raise validate.refused(definition.name, texts, "nothing: a document is listed whatever its text")
    where, parameters = document_condition(replace(filters, path_glob=None))
    found = store.documents(where, parameters)
    if filters.path_glob is None:
        return found
    pattern = glob_pattern(filters.path_glob)
    return (each for each in found if pattern.match(each[0].doc_path))
