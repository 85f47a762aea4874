"""One run of ingest under the write lock: its plan, its changes, its commit. All of it blocks; the pipeline drives it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Self

from kebab_stream.config import Config
from kebab_stream.embed import load_embedder
from kebab_stream.errors import InvalidInputError
from kebab_stream.index.rows import SourceRow
from kebab_stream.index.store_writer import StoreWriter
from kebab_stream.ingest.index_update import IndexUpdate
from kebab_stream.ingest.plan import Plan, ToRead, add_source
from kebab_stream.ingest.prepare import Prepared, prepare, signature_of
from kebab_stream.ingest.read import content_hash
from kebab_stream.ingest.sources import sources_to_scan
from kebab_stream.model import FileProblem, IngestReport
from kebab_stream.render import encodable

_CHUNKS_AT_ONCE = 256
_EXAMPLES = 5
"""Paths listed for each reason of skipping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """What one run is asked to do."""

    paths: Sequence[Path] = ()
    """Folders; without any, all configured and all known sources."""
    source_id: str | None = None
    rebuild_index: bool = False
    """Make the index files anew from the store."""


@dataclass(slots=True)
class Ingestion:
    """A run in progress: an open write transaction, and what was done so far."""

    config: Config
    request: IngestRequest
    store: StoreWriter
    index: IndexUpdate
    reindex_all: bool
    """Whether every chunk of the store has to be indexed at the end, not just the new ones."""
    started: float = field(default_factory=perf_counter)
    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    plan: Plan = field(default_factory=Plan)
    new: int = 0
    updated: int = 0
    problems: list[FileProblem] = field(default_factory=list)

    @classmethod
    def begin(cls, config: Config, request: IngestRequest) -> Self:
        """Open the store for writing. The caller holds the write lock.

        Raises:
            StorageError, IndexCorruptError: the store cannot be written, or is damaged.
            ModelUnavailableError: the embedding model cannot be loaded.
        """
        embedding = config.models.embedding
        embedder = load_embedder(
            embedding.provider, model=embedding.model, model_path=embedding.model_path, for_ingest=True
        )
        store = StoreWriter.open(config.storage.data_dir)
        index = IndexUpdate(config.storage.data_dir, store, embedder)
        reindex_all = request.rebuild_index or not index.carry_over()
        # An empty store has nothing to index again: all that comes is new.
        return cls(config, request, store, index, reindex_all=reindex_all and store.count("chunks") > 0)

    def close(self) -> None:
        """Drop what was not committed."""
        self.store.close()

    def scan(self) -> list[ToRead]:
        """Walk the sources; the files to read. Documents whose files are gone are removed.

        Raises:
            InvalidInputError: there is nothing to scan, or a source cannot be what is asked.
            StorageError: a root is missing or cannot be read. Nothing is removed then.
        """
        sources = sources_to_scan(
            self.config, self.request.paths, self.store.sources(), source_id=self.request.source_id
        )
        for source in sources:
            add_source(self.plan, source, self.store.stamps(source.id), self.config.ingest)
            self.store.put_source(
                SourceRow(
                    source_id=source.id,
                    root=str(source.root),
                    exclude=source.exclude,
                    trust_level=source.trust_level,
                    source_type=source.source_type,
                )
            )
        for doc_id in self.plan.gone:
            self.store.remove(doc_id)
        return self.plan.to_read

    def take_in(self, batch: Iterable[tuple[ToRead, bytes | OSError]]) -> None:
        """Store and index files that were read, or note why they could not be."""
        prepared = [one for to_read, data in batch if (one := self._prepared(to_read, data))]
        for one in prepared:
            self.store.replace(one.document, one.chunks)
        if not self.reindex_all:
            self.index.add([(chunk, one.document) for one in prepared for chunk in one.chunks])

    def finish(self) -> IngestReport:
        """Commit, if anything changed, and report."""
        changed = bool(self.new or self.updated or self.plan.gone or self.reindex_all or self._first)
        if self.reindex_all:
            everything = self.store.every_chunk()
            while chunks := list(islice(everything, _CHUNKS_AT_ONCE)):
                self.index.add(chunks)
        if changed:
            self.index.commit()
        else:
            self.store.commit()  # new time stamps of unchanged files
        return self._report(changed=changed)

    @property
    def _first(self) -> bool:
        return self.store.meta("generation") is None

    def _prepared(self, to_read: ToRead, data: bytes | OSError) -> Prepared | None:
        try:
            return self._prepare(to_read, data)
        except InvalidInputError as error:
            if error.details.get("problem") == "binary":
                self._skip("binary", to_read.file.doc_path)
            else:
                self._note(to_read, str(error))
        except Exception as error:  # noqa: BLE001  # one file must never end the run
            self._note(to_read, f"{type(error).__name__}: {error}")
        return None

    def _prepare(self, to_read: ToRead, data: bytes | OSError) -> Prepared | None:
        if isinstance(data, OSError):
            self._note(to_read, f"cannot be read: {data.strerror or data}")
            return None
        source, file, known = to_read.source, to_read.file, to_read.known
        chunking = self.config.ingest.chunking
        if known and known.content_hash == content_hash(data) and known.signature == signature_of(source, chunking):
            self.store.touch(known.doc_id, size=file.size, mtime_ns=file.mtime_ns)
            self.plan.unchanged += 1
            return None
        prepared = prepare(source, file, data, chunking, now=self.now)
        self.new += known is None
        self.updated += known is not None
        return prepared

    def _note(self, to_read: ToRead, message: str) -> None:
        self.problems.append(
            FileProblem(source_id=to_read.source.id, path=to_read.file.doc_path, message=encodable(message))
        )

    def _skip(self, reason: str, path: str) -> None:
        self.plan.skipped[reason] += 1
        self.plan.skipped_examples.setdefault(reason, []).append(path)

    def _report(self, *, changed: bool) -> IngestReport:
        manifest = self.index.current_manifest()
        return IngestReport(
            new=self.new,
            updated=self.updated,
            unchanged=self.plan.unchanged,
            deleted=len(self.plan.gone),
            skipped=dict(sorted(self.plan.skipped.items())),
            skipped_examples={
                reason: tuple(examples[:_EXAMPLES]) for reason, examples in sorted(self.plan.skipped_examples.items())
            },
            errors=tuple(self.problems),
            documents=manifest.n_documents,
            chunks=manifest.n_chunks,
            windows=manifest.n_windows,
            embedding_model=manifest.embedding.model_id if manifest.embedding else None,
            corpus_revision=self.store.meta("corpus_revision") or "",
            changed=changed,
            elapsed_ms=round((perf_counter() - self.started) * 1000, 3),
        )
