"""How a document or a chunk is indexed: its pieces, its terms, its vectors. Shows why something is found or is not."""

from datetime import datetime

from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import Chunk, ChunkId, Document
from kebab_stream.reports.lookup import ChunkSummary, IndexedTerm, InspectResult
from kebab_stream.single.facts import summary_of
from kebab_stream.single.hits import citation_of
from kebab_stream.single.locate import find_document, is_id
from kebab_stream.single.settings import SearchSettings


def inspect(
    snapshot: Snapshot, wanted: str, source: str | None = None, *, settings: SearchSettings, now: datetime
) -> InspectResult:
    """Look at a chunk, by its id, or at a document, by its id or path.

    Args:
        source: the source_id of the document, where several sources have the path.

    Raises:
        DocNotFoundError: there is neither such a document nor such a chunk.
        InvalidInputError: a value cannot be used.
    """
    store = snapshot.store
    place = store.place_of(ChunkId(wanted)) if isinstance(wanted, str) and is_id(wanted) else None
    doc, only = (wanted, None) if place is None else place
    document = find_document(store, doc, source)
    chunks = store.chunks_in(document.doc_id)
    shown = chunks if only is None else [chunk for chunk in chunks if chunk.ordinal == only]
    manifest = snapshot.generation.manifest
    return InspectResult(
        kind="document" if only is None else "chunk",
        document=summary_of(document, len(chunks), settings, now),
        chunks=tuple(_summary(snapshot, chunk, document) for chunk in shown),
        text=None if only is None else shown[0].text,
        terms=None if only is None else _terms(snapshot, shown[0]),
        embedding_model=manifest.embedding.model_id if manifest.embedding else None,
    )


def _summary(snapshot: Snapshot, chunk: Chunk, document: Document) -> ChunkSummary:
    vectors, number = snapshot.generation.vectors, _number(snapshot, chunk)
    return ChunkSummary(
        chunk_id=chunk.chunk_id,
        ordinal=chunk.ordinal,
        citation=citation_of(chunk, document),
        heading_path=chunk.heading_path,
        chars=len(chunk.text),
        windows=0 if vectors is None else int(vectors.indptr[number + 1] - vectors.indptr[number]),
    )


def _terms(snapshot: Snapshot, chunk: Chunk) -> tuple[IndexedTerm, ...]:
    found = snapshot.generation.lexical.terms_of(_number(snapshot, chunk))
    return tuple(sorted(found, key=lambda each: (each.document_frequency, each.term)))


def _number(snapshot: Snapshot, chunk: Chunk) -> int:
    return snapshot.generation.number_of(bytes.fromhex(chunk.chunk_id))
