"""Changes without a scan: documents given by themselves are taken in, documents and sources are removed."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal
from unicodedata import normalize

from kebab_stream.config import Config
from kebab_stream.errors import InvalidInputError
from kebab_stream.index.lock import write_lock
from kebab_stream.index.store import Store
from kebab_stream.ingest.given import Given, Text, given_file, given_text
from kebab_stream.ingest.identity import doc_id_of
from kebab_stream.ingest.ingestion import Ingestion
from kebab_stream.ingest.sources import known_sources
from kebab_stream.model import COPIES, DocId, Document
from kebab_stream.reports.ingest import DocumentReport, IngestReport, RemovalReport
from kebab_stream.single.locate import find_document

Status = Literal["new", "updated", "unchanged"]


def ingest_files(config: Config, paths: Sequence[Path], *, copies_allowed: bool = True) -> list[DocumentReport]:
    """Take in files one by one, in one commit: all of them or, after an error, none.

    Args:
        copies_allowed: whether a file outside of all sources may become a stored copy.

    Raises:
        IndexLockedError: another process is writing.
        InvalidInputError, StorageError: see `given_file`; also a file that is no text.
    """
    with _changing(config) as ingestion:
        sources = known_sources(config, ingestion.store.sources())
        given = (given_file(path, sources, config, copies_allowed=copies_allowed) for path in paths)
        return _taken_in(ingestion, given)


def ingest_text(config: Config, text: Text) -> DocumentReport:
    """Take in a text. It replaces the one of the same name, or of the same title where it has no name.

    Raises:
        IndexLockedError: another process is writing.
        InvalidInputError: see `given_text`; also what is no text.
    """
    given = given_text(text, config)
    with _changing(config) as ingestion:
        return _taken_in(ingestion, [given])[0]


def remove(config: Config, documents: Sequence[str], sources: Sequence[str]) -> RemovalReport:
    """Remove documents, by id or path, and all that is known of sources, from the index. No file is touched.

    Raises:
        IndexLockedError: another process is writing.
        NotIndexedError: there is no index.
        DocNotFoundError, InvalidInputError: one of them is not there, or a path is in several sources; nothing is
            removed then.
    """
    with _changing(config, existing=True) as ingestion:
        store = ingestion.store
        chosen = {document.doc_id: document for name in documents for document in [_the_document(store, name)]}
        for source_id in sources:
            _require_source(store, source_id)
            chosen |= {document.doc_id: document for document in store.documents_of([source_id])}
        ingestion.remove(chosen, sources)
        report = _committed(ingestion)
        configured = {source.id for source in known_sources(config, ())}
        return RemovalReport(
            documents=tuple(sorted(f"{document.source_id}/{document.doc_path}" for document in chosen.values())),
            sources=tuple(sorted(set(sources))),
            warnings=tuple(_warnings(chosen.values(), {*sources, *COPIES} - configured)),
            corpus_revision=report.corpus_revision,
        )


@contextmanager
def _changing(config: Config, *, existing: bool = False) -> Iterator[Ingestion]:
    """An ingestion under the write lock; what it did not finish is dropped."""
    data_dir = config.storage.data_dir
    if existing:
        Store.open(data_dir).close()  # a folder without an index stays as it is
    with write_lock(data_dir), closing(Ingestion.begin(config)) as ingestion:
        yield ingestion


def _taken_in(ingestion: Ingestion, given: Iterable[Given]) -> list[DocumentReport]:
    done: dict[DocId, tuple[Path, Document, Status, tuple[str, ...]]] = {}
    for one in given:
        doc_id = doc_id_of(one.source.id, one.file.doc_path)
        if doc_id in done:
            _refuse_other_file(one, done[doc_id][0])
            continue
        before = (ingestion.new, ingestion.updated)
        document = ingestion.take_in_given(one)
        status = _status(before, (ingestion.new, ingestion.updated))
        done[doc_id] = (one.file.path, document, status, one.warnings)
    revision = _committed(ingestion).corpus_revision
    return [
        DocumentReport(
            status=status,
            doc_id=document.doc_id,
            source_id=document.source_id,
            doc_path=document.doc_path,
            title=document.title,
            chunks=ingestion.store.n_chunks_of(document.doc_id),
            warnings=warnings,
            corpus_revision=revision,
        )
        for _, document, status, warnings in done.values()
    ]


def _committed(ingestion: Ingestion) -> IngestReport:
    for _ in ingestion.index_all():
        pass
    return ingestion.finish()


def _refuse_other_file(given: Given, first: Path) -> None:
    """A file may be given twice. Another one of its name, but for Unicode normalisation, cannot be told from it."""
    if given.file.path != first:
        raise InvalidInputError(
            f"{given.file.doc_path}: two files have this name, but for Unicode normalisation",
            "rename one of them, or give only one",
            {"path": given.file.doc_path},
        )


def _status(before: tuple[int, int], after: tuple[int, int]) -> Status:
    new, updated = (count - earlier for count, earlier in zip(after, before, strict=True))
    return "new" if new else "updated" if updated else "unchanged"


def _the_document(store: Store, name: str) -> Document:
    """The document of this id, path or `SOURCE/PATH`: what is removed must be what was meant.

    Raises:
        DocNotFoundError: there is none.
        InvalidInputError: there are several; also if it is the path of one, and SOURCE/PATH of another.
    """
    document = find_document(store, name)
    named = normalize("NFC", name)
    if document.doc_path == named:
        where = "WHERE source_id || '/' || doc_path = ?"
        if others := [other for other, _ in store.documents(where, (named,))]:
            both = [document, *others]
            names = [f"{each.doc_id} (source {each.source_id!r}, path {each.doc_path!r})" for each in both]
            raise InvalidInputError(
                f"{named!r} names several documents",
                f"say which one by its id: {' or '.join(names)}",
                {"value": named, "doc_ids": [each.doc_id for each in both]},
            )
    return document


def _require_source(store: Store, source_id: str) -> None:
    known = [source.source_id for source in store.sources()]
    if source_id not in known:
        raise InvalidInputError(
            f"no source {source_id!r}", f"known are {', '.join(known) or 'none'}", {"source_id": source_id}
        )


def _warnings(removed: Iterable[Document], gone: Collection[str]) -> Iterator[str]:
    """A document whose source is still scanned comes back with its file, and so does a source that is configured."""
    for document in removed:
        if document.source_id not in gone:
            yield f"{document.source_id}/{document.doc_path} comes back at the next ingest unless its file is ignored"
