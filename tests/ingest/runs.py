"""Ingests of small folders: one line to run one, and looks at what it left."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from kebab_stream.config import Config, Embedding, Models, Source, Storage, Workspace
from kebab_stream.engine import Engine
from kebab_stream.index.store import Store
from kebab_stream.ingest import IngestRequest, Progress, ingest
from kebab_stream.model import Mode, SearchQuery
from kebab_stream.render import to_json
from kebab_stream.reports.ingest import IngestReport
from tests.wire import checked


@dataclass(frozen=True)
class Library:
    """A folder of documents, and the index of it."""

    root: Path
    config: Config

    @classmethod
    def at(cls, place: Path, model: Path | None = None) -> "Library":
        """An empty folder `notes` beside an empty data folder; without a model there are no vectors."""
        embedding = (
            Embedding(provider="static", model="tiny", model_path=model) if model else Embedding(provider="none")
        )
        config = Config(storage=Storage(data_dir=place / "data"), models=Models(embedding=embedding))
        (place / "notes").mkdir(parents=True, exist_ok=True)
        return cls(place / "notes", config)

    @property
    def data_dir(self) -> Path:
        return self.config.storage.data_dir

    def configured(self, *sources: Source) -> "Library":
        """The same with these sources in its settings."""
        return replace(self, config=replace(self.config, workspace=Workspace(sources=sources)))

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files; None removes one."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            match content:
                case None:
                    path.unlink()
                case str():
                    path.write_bytes(content.encode())
                case bytes():
                    path.write_bytes(content)

    def ingest(
        self,
        *paths: Path,
        source_id: str | None = None,
        rebuild_index: bool = False,
        progress: Progress = lambda *_: None,
    ) -> IngestReport:
        """Ingest these folders. The report fits its schema, and its counts fit the store."""
        request = IngestRequest(paths=paths, source_id=source_id, rebuild_index=rebuild_index)
        report = anyio.run(functools.partial(ingest, self.config, request, progress))
        assert report, "nobody stopped it"
        checked(to_json(report))
        counts = self.row("SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks)")
        assert (report.documents, report.chunks) == counts
        return report

    def update(self, files: Mapping[str, str | bytes | None] = {}) -> str:
        """Write files, ingest `notes`, and say what happened: new, updated, unchanged and deleted documents."""
        self.write(files)
        report = self.ingest(self.root)
        return f"{report.new} {report.updated} {report.unchanged} {report.deleted}"

    def find(self, word: str, mode: Mode = "lexical") -> list[str]:
        """Paths of the documents that are found, by path."""
        with Engine.open(self.config) as engine:
            return sorted(hit.doc_path for hit in engine.search(SearchQuery(query=word, mode=mode, k=1000)))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a statement finds in the store."""
        store = Store.open(self.data_dir)
        try:
            return store.rows(sql)
        finally:
            store.close()

    def row(self, sql: str) -> tuple[Any, ...]:
        """The only row that a statement finds."""
        (row,) = self.rows(sql)
        return row

    def revision(self) -> str:
        """The corpus_revision."""
        (revision,) = self.row("SELECT value FROM meta WHERE key = 'corpus_revision'")
        return str(revision)

    def generations(self) -> list[str]:
        """Names of everything in the folder of index files."""
        return sorted(path.name for path in (self.data_dir / "index").iterdir())

    def index_files(self) -> dict[str, bytes]:
        """The index files, by name."""
        (generation,) = (self.data_dir / "index").iterdir()
        return {path.name: path.read_bytes() for path in generation.iterdir()}
