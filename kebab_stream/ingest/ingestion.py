"""One run of ingest under the write lock: its plan, its changes, its commit. All of it blocks: `pipeline` drives it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from time import perf_counter
from typing import Self

from kebab_stream.config import Config, Source
from kebab_stream.embed import load_embedder
from kebab_stream.errors import InvalidInputError, NotIndexedError
from kebab_stream.index.graph import graph_above
from kebab_stream.index.store_writer import StoreWriter
from kebab_stream.ingest.given import Given, with_given_fields
from kebab_stream.ingest.index_update import IndexUpdate
from kebab_stream.ingest.plan import Plan, ToRead, add_copies, add_source
from kebab_stream.ingest.prepare import IndexedChunk, Prepared, indexed_chunks, prepare, prepare_text
from kebab_stream.ingest.preparing import Outcome, Refused, StoredCopy, Unchanged, guarded
from kebab_stream.ingest.sources import ids_in_sources, known_sources, source_row, sources_to_scan
from kebab_stream.ingest.walk import Skip
from kebab_stream.model import COPIES, FILES, TEXTS, DocId, Document
from kebab_stream.render import encodable
from kebab_stream.reports.ingest import FileProblem, IngestReport

_EXAMPLES = 5
"""Paths listed for each reason of skipping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """What one run is asked to do."""

    paths: Sequence[Path] = ()
    """Folders; without any, all configured and all known sources, or none where the index is to be rebuilt."""
    source_id: str | None = None
    rebuild_index: bool = False
    """Make the index files anew from the store, which needs no source."""


@dataclass(slots=True)
class Ingestion:
    """A run in progress: an open write transaction, and what was done so far."""

    config: Config
    store: StoreWriter
    index: IndexUpdate
    continues: bool
    """Whether the current index files are carried over, so that only new chunks have to be indexed."""
    started: float
    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    plan: Plan = field(default_factory=Plan)
    sources: Sequence[Source] = ()
    """Those that were scanned."""
    replaced_copies: list[str] = field(default_factory=list)
    """Paths of stored copies that were removed, because a source has the document now."""
    new: int = 0
    updated: int = 0
    not_reached: int = 0
    """Files to read that were not, because of an interrupt."""
    problems: list[FileProblem] = field(default_factory=list)

    @classmethod
    def begin(cls, config: Config, *, rebuild_index: bool = False, may_download: bool = False) -> Self:
        """Open the store for writing. The caller holds the write lock.

        The embedding model is loaded by `scan`, or when there is something to embed.

        Args:
            rebuild_index: make the index files anew from the store.
            may_download: whether an embedding model that is not on this machine may be downloaded.

        Raises:
            StorageError, IndexCorruptError: the store cannot be written, or is damaged.
        """
        started = perf_counter()
        data_dir = config.storage.data_dir
        load = partial(load_embedder, config.models.embedding, may_download=may_download)
        with ExitStack() as opened:
            store = opened.enter_context(closing(StoreWriter.open(data_dir)))
            wish = graph_above(config.search.vector_index, config.search.exact_below)
            index = IndexUpdate(data_dir, store, load, graph_above=wish)
            opened.enter_context(closing(index))
            index.remove_leftovers()
            continues = not rebuild_index and index.carry_over()
            opened.pop_all()
            return cls(config, store, index, continues, started)

    def close(self) -> None:
        """Drop what was not committed."""
        self.store.close()
        self.index.close()

    def scan(self, request: IngestRequest) -> list[ToRead]:
        """Walk the sources; the files to read. Documents that there are no more are removed.

        The embedding model is loaded, even where there is nothing to read: only so another one is noticed.

        Raises:
            ModelUnavailableError, ModelTimeoutError: the embedding model cannot be loaded.
            InvalidInputError: there is nothing to scan, or a source cannot be what is asked.
            StorageError: a root is missing, cannot be read, or has become empty. Nothing is removed then.
            NotIndexedError: the index is to be rebuilt, but nothing was ever ingested.
        """
        if request.rebuild_index and self._is_first and not request.paths:
            raise NotIndexedError(str(self.config.storage.data_dir))
        copies = {source_id: self.store.stamps(source_id) for source_id in COPIES}
        self.sources = self._sources_of(request, has_copies=any(copies.values()))
        data_dir = self.config.storage.data_dir
        for source in self.sources:
            add_source(self.plan, source, self.store.stamps(source.id), self.config.ingest, data_dir=data_dir)
        for source in self.sources:
            self.store.put_source(source_row(source))
        for doc_id in self.plan.gone:
            self.store.remove(doc_id)
        for source_id, stamps in copies.items():
            add_copies(self.plan, source_id, stamps, self.config.ingest)
        self.continues = self.index.is_of_model() and self.continues
        return self.plan.to_read

    def _sources_of(self, request: IngestRequest, *, has_copies: bool) -> Sequence[Source]:
        if request.rebuild_index and not request.paths:
            return ()
        known = self.store.sources()
        if has_copies and not request.paths and not known_sources(self.config, known):
            return ()  # what was given by itself is brought up to date all the same
        return sources_to_scan(self.config, request.paths, known, source_id=request.source_id)

    def take_in(self, files: Sequence[ToRead], outcomes: Sequence[Outcome]) -> None:
        """Store and index files that were prepared, or note why they could not be."""
        prepared = []
        for to_read, outcome in zip(files, outcomes, strict=True):
            match guarded(partial(self._renewed, to_read)) if isinstance(outcome, StoredCopy) else outcome:
                case Unchanged():
                    self._touch(to_read)
                case Refused() as refused:
                    self._refuse(to_read, refused)
                case one:
                    self.new += to_read.known is None
                    self.updated += to_read.known is not None
                    prepared.append(one)
        self._keep(prepared)

    def take_in_given(self, given: Given) -> Document:
        """Store and index a document given by itself.

        Raises:
            InvalidInputError: it is no text that can be read.
        """
        path = str(given.file.path) if given.source.id == FILES else given.file.doc_path
        try:
            prepared = prepare(given.source, given.file, given.data, self.config.ingest.chunking, now=self.now)
        except InvalidInputError as error:
            raise InvalidInputError(f"{path}: {error.message}", error.hint, error.details | {"path": path}) from error
        prepared = given.named(prepared)
        document = prepared.document
        known = self.store.document(document.doc_id)
        if known and _as_stored(document, known) == known:
            if given.text is None and (known.size, known.mtime_ns) != (document.size, document.mtime_ns):
                self.store.touch(document.doc_id, size=document.size, mtime_ns=document.mtime_ns)
            self.plan.unchanged += 1
            return known
        kind = Source(id=TEXTS, root=given.source.root, trust_level="secondary") if given.text else given.source
        self.store.put_source(source_row(kind))
        self.new += known is None
        self.updated += known is not None
        self._keep([(prepared, indexed_chunks(prepared))])
        return document

    def drop_replaced_copies(self) -> None:
        """Remove the stored copies of files that are documents of a source by now."""
        for doc_path, stamp in self.store.stamps(FILES).items():
            if any(self.store.document(doc_id) for doc_id in ids_in_sources(doc_path, self.sources)):
                self.remove([stamp.doc_id], ())
                self.replaced_copies.append(doc_path)

    def remove(self, doc_ids: Iterable[DocId], source_ids: Iterable[str]) -> None:
        """Remove documents, and forget sources."""
        for doc_id in doc_ids:
            self.store.remove(doc_id)
            self.plan.gone.append(doc_id)
        for source_id in source_ids:
            self.store.forget_source(source_id)

    def _keep(self, prepared: Sequence[tuple[Prepared, list[IndexedChunk]]]) -> None:
        for one, _ in prepared:
            self.store.replace(one.document, one.text, one.chunks)
        if prepared and self.continues:
            self.continues = self.index.is_of_model()
        if self.continues:
            self.index.add([chunk for _, indexed in prepared for chunk in indexed])

    def index_all(self) -> Iterator[tuple[int, int]]:
        """Index every chunk of the store, unless the current index files are carried over.

        Does a part of it at a time, and gives how many chunks are done, and of how many.
        """
        if self.continues:
            return
        done, total = 0, self.store.count("chunks")
        for added in self.index.add_every_chunk():
            done += added
            yield done, total

    def finish(self, *, interrupted: bool = False) -> IngestReport:
        """Commit, if anything changed, and report."""
        changed = bool(self.new or self.updated or self.plan.gone or not self.continues or self._is_first)
        if changed:
            self.index.commit()
        else:
            self.store.commit()  # new time stamps of unchanged files, what is known of sources
        return self._report(changed=changed, interrupted=interrupted)

    @property
    def _is_first(self) -> bool:
        return self.store.corpus_revision is None

    def _renewed(self, to_read: ToRead) -> tuple[Prepared, list[IndexedChunk]]:
        """A stored copy, parsed and cut again; what was said of it when it was given stays."""
        assert to_read.known
        document = self.store.document(to_read.known.doc_id)
        assert document
        source = replace(to_read.source, trust_level=document.trust_level, source_type=document.source_type)
        file = replace(to_read.file, repo=document.repo)
        text = self.store.text_of(document.doc_id) or ""
        prepared = prepare_text(source, file, text, document.content_hash, self.config.ingest.chunking, now=self.now)
        if document.source_id == TEXTS:
            prepared = with_given_fields(
                prepared, title=document.title, tags=document.tags, trust_level=document.trust_level
            )
        return prepared, indexed_chunks(prepared)

    def _touch(self, to_read: ToRead) -> None:
        """Note the new time stamp of a file that is as it was."""
        assert to_read.known
        self.store.touch(to_read.known.doc_id, size=to_read.file.size, mtime_ns=to_read.file.mtime_ns)
        self.plan.unchanged += 1

    def _note(self, to_read: ToRead, message: str) -> None:
        self.problems.append(
            FileProblem(source_id=to_read.source.id, path=to_read.file.doc_path, message=encodable(message))
        )

    def _refuse(self, to_read: ToRead, refused: Refused) -> None:
        """Note a file that is no text; what was a text there before is gone."""
        if to_read.known and not refused.is_failure:
            self.store.remove(to_read.known.doc_id)
            self.plan.gone.append(to_read.known.doc_id)
        if refused.is_binary:
            self.plan.skips.append(Skip("binary", to_read.file.doc_path))
        else:
            self._note(to_read, refused.message)

    def _report(self, *, changed: bool, interrupted: bool) -> IngestReport:
        manifest = self.index.current_manifest()
        skips = sorted(self.plan.skips)
        return IngestReport(
            new=self.new,
            updated=self.updated,
            unchanged=self.plan.unchanged,
            deleted=len(self.plan.gone),
            skipped=dict(Counter(skip.reason for skip in skips)),
            skipped_examples={
                reason: tuple(skip.doc_path for skip in islice(some, _EXAMPLES))
                for reason, some in groupby(skips, key=lambda skip: skip.reason)
            },
            errors=(*self.plan.problems, *self.problems),
            replaced_copies=tuple(sorted(self.replaced_copies)),
            documents=self.store.count("documents"),
            chunks=manifest.n_chunks,
            windows=manifest.n_windows,
            embedding_model=manifest.embedding.model_id if manifest.embedding else None,
            corpus_revision=self.store.corpus_revision or "",
            changed=changed,
            interrupted=interrupted,
            not_reached=self.not_reached,
            elapsed_ms=round((perf_counter() - self.started) * 1000, 3),
        )


def _as_stored(document: Document, known: Document) -> Document:
    """A document as the store would give it back, if it is the known one: what may differ is taken from that."""
    return replace(
        document,
        tags=tuple(sorted(document.tags)),
        size=known.size,
        mtime_ns=known.mtime_ns,
        indexed_at=known.indexed_at,
    )
