"""Changes to the store, made on a copy that becomes the store at the commit, so that a crash leaves the last state."""

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from kebab_stream.errors import NotIndexedError
from kebab_stream.index.durable import sync, writing
from kebab_stream.index.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    SCHEMA,
    FileStamp,
    SourceRow,
    chunk_row,
    document_row,
    packed_text,
)
from kebab_stream.index.store import (
    N_CHUNK_COLUMNS,
    STORE_FILE,
    STORE_VERSION,
    Store,
    connect_readonly,
    marks,
    translated,
    write_checksum,
)
from kebab_stream.model import Chunk, DocId, Document

STORE_COPY = ".kebab.sqlite.partial"


class StoreWriter(Store):
    """The one connection that changes the store. The caller holds the write lock.

    Copies the store at the first change: a run that finds none only reads.
    """

    @classmethod
    def open(cls, data_dir: Path) -> Self:
        """Open the state committed last, or an empty store if there is none.

        Raises:
            IndexCorruptError: the store is damaged or of another version.
            StorageError: it cannot be read or written.
        """
        with writing(data_dir):
            (data_dir / STORE_COPY).unlink(missing_ok=True)  # of a run that was killed
        try:
            return super().open(data_dir)
        except NotIndexedError:
            path = data_dir / STORE_FILE
            return cls(_new_copy(path), path, None)

    def close(self) -> None:
        """Drop what was not committed, and let go of the store."""
        super().close()
        self._copy.unlink(missing_ok=True)

    def commit(self) -> None:
        """Make all changes visible at once, if there are any.

        Nothing can fail any more once the copy has its new name: the commit stands, although a folder that cannot be
        synced may still lose it, whole, if the machine stops at that moment.

        Raises:
            StorageError: they cannot be brought to disk, or only partly; the old state stays.
        """
        if not self._connection.in_transaction:
            return
        with translated(self._path), writing(self._path):
            self._connection.execute("COMMIT")
            write_checksum(self._copy)
            committed = connect_readonly(self._copy)
            self._connection.close()
            self._connection = committed
            sync(self._copy)
            self._copy.replace(self._path)
        with contextlib.suppress(OSError):
            sync(self._path.parent)

    def set_meta(self, key: str, value: str) -> None:
        """Write one value of the table `meta`."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def put_source(self, source: SourceRow) -> None:
        """Add a source or replace what is known of it."""
        if source not in self.sources():
            exclude = json.dumps(source.exclude)
            values = (source.source_id, source.root, exclude, source.trust_level, source.source_type)
            self._write("INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?)", values)

    def forget_source(self, source_id: str) -> None:
        """Remove what is known of a source itself. Its documents are for the caller to remove."""
        self._write("DELETE FROM sources WHERE source_id = ?", (source_id,))

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

    def documents_of(self, source_ids: Sequence[str]) -> list[Document]:
        """The documents of these sources with their tags, by id."""
        rows = self.rows(
            f"SELECT doc_id FROM documents WHERE source_id IN ({marks(len(source_ids))}) ORDER BY doc_id", source_ids
        )
        return [document for (doc_id,) in rows if (document := self.document(DocId(doc_id.hex())))]

    def touch(self, doc_id: DocId, *, size: int, mtime_ns: int) -> None:
        """Remember a new time stamp of a file whose content did not change."""
        self._write(
            "UPDATE documents SET size = ?, mtime_ns = ? WHERE doc_id = ?",
            (size, mtime_ns, bytes.fromhex(doc_id)),
        )

    def remove(self, doc_id: DocId) -> None:
        """Remove a document with its chunks and tags."""
        self._write("DELETE FROM documents WHERE doc_id = ?", (bytes.fromhex(doc_id),))

    def replace(self, document: Document, text: str, chunks: Iterable[Chunk]) -> None:
        """Put a document, its whole text and its chunks in the place of what was stored under its id."""
        self.remove(document.doc_id)
        values = document_row(document)
        with translated(self._path):
            cursor = self._connection.execute(
                f"INSERT INTO documents ({DOCUMENT_COLUMNS}) VALUES ({marks(len(values))})", values
            )
            doc_no = cursor.lastrowid
            self._connection.execute("INSERT INTO texts VALUES (?, ?)", (doc_no, packed_text(text)))
            self._connection.executemany("INSERT INTO tags VALUES (?, ?)", [(doc_no, tag) for tag in document.tags])
            self._connection.executemany(
                f"INSERT INTO chunks (doc_no, {CHUNK_COLUMNS}) VALUES ({marks(1 + N_CHUNK_COLUMNS)})",
                [(doc_no, *chunk_row(chunk)) for chunk in chunks],
            )

    def _write(self, sql: str, parameters: Sequence[object]) -> None:
        if not self._connection.in_transaction:
            self.verify()  # a damage that is copied would get a checksum of its own
            self._connection.close()
            with writing(self._copy):
                shutil.copyfile(self._path, self._copy)
            self._connection = _connect(self._copy)
        with translated(self._path):
            self._connection.execute(sql, tuple(parameters))

    @property
    def _copy(self) -> Path:
        return self._path.with_name(STORE_COPY)


def _new_copy(path: Path) -> sqlite3.Connection:
    """Where there is no store yet: a copy of an empty one."""
    connection = _connect(path.with_name(STORE_COPY))
    with translated(path):
        for statement in SCHEMA.split(";")[:-1]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {STORE_VERSION}")
    return connection


def _connect(copy: Path) -> sqlite3.Connection:
    """Open a copy and begin to change it. Nobody else sees it and a crash throws it away: no journal, no locks."""
    with translated(copy):
        connection = sqlite3.connect(copy, isolation_level=None, check_same_thread=False)
        try:
            for setting in ("journal_mode = MEMORY", "synchronous = OFF", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {setting}")
            connection.execute("BEGIN IMMEDIATE")
        except BaseException:
            connection.close()
            raise
    return connection
