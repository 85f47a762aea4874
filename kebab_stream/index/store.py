"""Reading the SQLite store: the source of truth, from which the index files can be rebuilt.

A reader holds one read transaction, so it sees one committed state for as long as it lives.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from kebab_stream.errors import IndexCorruptError, NotIndexedError, StorageError
from kebab_stream.index.rows import CHUNK_COLUMNS, DOCUMENT_COLUMNS, Row, SourceRow, chunk_of, document_of
from kebab_stream.model import Chunk, ChunkId, DocId, Document

STORE_FILE = "kebab.sqlite"
STORE_VERSION = 1

_MAX_VARIABLES = 500
"""Ids asked for in one statement; SQLite allows at least 999."""


class Store:
    """One connection to the store, for reading."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    @classmethod
    def open(cls, data_dir: Path) -> Self:
        """Open for reading and pin the state committed last.

        Raises:
            NotIndexedError: there is no store.
            IndexCorruptError: it is damaged or of another version.
        """
        path = data_dir / STORE_FILE
        if not path.is_file():
            raise NotIndexedError(str(data_dir))
        with translated(path):
            store = cls(_connect_readonly(path), path)
        store.begin()
        return store

    def begin(self) -> None:
        """Pin the state committed last (leaving an older one)."""
        with translated(self._path):
            if self._connection.in_transaction:
                self._connection.rollback()
            self._connection.execute("BEGIN")
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version != STORE_VERSION:
            raise IndexCorruptError(str(self._path), f"store version {version}, this program reads {STORE_VERSION}")

    def close(self) -> None:
        """Let go of the state and the file."""
        self._connection.close()

    def meta(self, key: str) -> str | None:
        """One value of the table `meta`."""
        rows = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run a reading statement of a neighbouring module (filters, statistics)."""
        with translated(self._path):
            return self._connection.execute(sql, tuple(parameters)).fetchall()

    def sources(self) -> list[SourceRow]:
        """All known sources, by id."""
        rows = self.rows("SELECT source_id, root, exclude, trust_level, source_type FROM sources ORDER BY source_id")
        return [
            SourceRow(
                source_id=source_id,
                root=root,
                exclude=tuple(json.loads(exclude)),
                trust_level=trust_level,
                source_type=source_type,
            )
            for source_id, root, exclude, trust_level, source_type in rows
        ]

    def count(self, table: str) -> int:
        """Number of rows of `documents` or `chunks`."""
        (row,) = self.rows(f"SELECT count(*) FROM {table}")
        return int(row[0])

    def chunks_by_id(self, ids: Sequence[bytes]) -> dict[ChunkId, tuple[Chunk, Document]]:
        """The chunks of these 16-byte ids, each with its document (tags left empty)."""
        found: dict[ChunkId, tuple[Chunk, Document]] = {}
        for start in range(0, len(ids), _MAX_VARIABLES):
            batch = ids[start : start + _MAX_VARIABLES]
            marks = ",".join("?" * len(batch))
            rows = self.rows(
                f"SELECT {CHUNK_COLUMNS}, {DOCUMENT_COLUMNS} FROM chunks JOIN documents USING (doc_no)"
                f" WHERE chunk_id IN ({marks})",
                batch,
            )
            for row in rows:
                document = document_of(row[8:])
                chunk = chunk_of(row[:8], document.doc_id)
                found[chunk.chunk_id] = (chunk, document)
        return found

    def chunk_paths(self, ids: Sequence[bytes]) -> dict[ChunkId, tuple[DocId, str]]:
        """(doc_id, doc_path) of the chunks of these ids."""
        found: dict[ChunkId, tuple[DocId, str]] = {}
        for start in range(0, len(ids), _MAX_VARIABLES):
            batch = ids[start : start + _MAX_VARIABLES]
            marks = ",".join("?" * len(batch))
            rows = self.rows(
                "SELECT chunk_id, doc_id, doc_path FROM chunks JOIN documents USING (doc_no)"
                f" WHERE chunk_id IN ({marks})",
                batch,
            )
            for chunk_id, doc_id, doc_path in rows:
                found[ChunkId(chunk_id.hex())] = (DocId(doc_id.hex()), doc_path)
        return found

    def chunk_keys(self) -> Iterator[tuple[bytes, bytes]]:
        """(chunk id, document id) of every chunk, 16 bytes each, in chunk id order."""
        with translated(self._path):
            yield from self._connection.execute(
                "SELECT chunk_id, doc_id FROM chunks JOIN documents USING (doc_no) ORDER BY chunk_id"
            )

    def every_chunk(self) -> Iterator[tuple[Chunk, Document]]:
        """Every chunk with its document, in document order."""
        with translated(self._path):
            for row in self._connection.execute(
                f"SELECT {CHUNK_COLUMNS}, {DOCUMENT_COLUMNS} FROM chunks JOIN documents USING (doc_no)"
                " ORDER BY doc_no, ordinal"
            ):
                document = document_of(row[8:])
                yield chunk_of(row[:8], document.doc_id), document


def _connect_readonly(path: Path) -> sqlite3.Connection:
    """A connection that never writes.

    A WAL database in a folder that cannot be written to opens only as `immutable`, which is right there: nobody can
    be writing to it.
    """
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        connection = sqlite3.connect(
            f"{uri}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
        )
    return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StorageError(f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise IndexCorruptError(str(path), str(error)) from error
