"""Changes to the store: one transaction from the first change to the commit, so that a crash leaves the last state."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from kebab_stream.errors import IndexCorruptError
from kebab_stream.index.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    SCHEMA,
    FileStamp,
    SourceRow,
    chunk_row,
    document_row,
)
from kebab_stream.index.store import STORE_FILE, STORE_VERSION, Store, translated
from kebab_stream.model import Chunk, DocId, Document


class StoreWriter(Store):
    """The one connection that changes the store. The caller holds the write lock."""

    @classmethod
    def open(cls, data_dir: Path) -> Self:
        """Open for writing, creating the store if there is none, and start the write transaction."""
        path = data_dir / STORE_FILE
        with translated(path):
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in SCHEMA.split(";")[:-1]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {STORE_VERSION}")
            writer = cls(connection, path)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != STORE_VERSION:
            raise IndexCorruptError(str(path), f"store version {version}, this program writes {STORE_VERSION}")
        return writer

    def commit(self) -> None:
        """Make all changes visible at once."""
        with translated(self._path):
            self._connection.execute("COMMIT")

    def set_meta(self, key: str, value: str) -> None:
        """Write one value of the table `meta`."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def put_source(self, source: SourceRow) -> None:
        """Add a source or replace what is known of it."""
        self._write(
            "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?)",
            (
                source.source_id,
                source.root,
                json.dumps(source.exclude),
                source.trust_level,
                source.source_type,
            ),
        )

    def stamps(self, source_id: str) -> dict[str, FileStamp]:
        """What is known of the files of a source, by path."""
        rows = self.rows(
            "SELECT doc_path, doc_id, size, mtime_ns, content_hash, signature FROM documents WHERE source_id = ?",
            (source_id,),
        )
        return {
            path: FileStamp(
                doc_id=DocId(doc_id.hex()),
                size=size,
                mtime_ns=mtime_ns,
                content_hash=content_hash,
                signature=signature,
            )
            for path, doc_id, size, mtime_ns, content_hash, signature in rows
        }

    def touch(self, doc_id: DocId, *, size: int, mtime_ns: int) -> None:
        """Remember a new time stamp of a file whose content did not change."""
        self._write(
            "UPDATE documents SET size = ?, mtime_ns = ? WHERE doc_id = ?",
            (size, mtime_ns, bytes.fromhex(doc_id)),
        )

    def remove(self, doc_id: DocId) -> None:
        """Remove a document with its chunks and tags."""
        self._write("DELETE FROM documents WHERE doc_id = ?", (bytes.fromhex(doc_id),))

    def replace(self, document: Document, chunks: Iterable[Chunk]) -> None:
        """Put a document and its chunks in the place of what was stored under its id."""
        self.remove(document.doc_id)
        with translated(self._path):
            cursor = self._connection.execute(
                f"INSERT INTO documents ({DOCUMENT_COLUMNS}) VALUES ({','.join('?' * 16)})",
                document_row(document),
            )
            doc_no = cursor.lastrowid
            self._connection.executemany("INSERT INTO tags VALUES (?, ?)", [(doc_no, tag) for tag in document.tags])
            self._connection.executemany(
                f"INSERT INTO chunks (doc_no, {CHUNK_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",
                [(doc_no, *chunk_row(chunk)) for chunk in chunks],
            )

    def _write(self, sql: str, parameters: Sequence[object]) -> None:
        with translated(self._path):
            self._connection.execute(sql, tuple(parameters))
