"""Reading the SQLite store: the source of truth, from which the index files can be rebuilt.

The file is never changed in place: a writer changes a copy, which then takes the file's name. So a reader keeps the
state it opened for as long as it lives, takes no lock, needs no write access and leaves no file behind.

Four bytes of the file that SQLite leaves to applications (the application id) hold the checksum of all others.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import Self

from kebab_stream.errors import IndexCorruptError, NotIndexedError, StorageError
from kebab_stream.index.checksum import CHECKED_BYTES, blocks, checksum, is_regular, open_at_once
from kebab_stream.index.durable import no_folder
from kebab_stream.index.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    Row,
    SourceRow,
    chunk_of,
    document_of,
    unpacked_text,
)
from kebab_stream.model import Chunk, ChunkId, DocId, Document

STORE_FILE = "kebab.sqlite"
STORE_VERSION = 3

N_CHUNK_COLUMNS = CHUNK_COLUMNS.count(",") + 1
REVISION = "corpus_revision"
"""Key in the table `meta`."""
MAX_VARIABLES = 500
"""Ids asked for in one statement; SQLite allows at least 999."""
_LARGEST = (1 << 63) - 1
_ATTEMPTS = 5
"""How often opening is tried when writers commit at that very moment."""

_CHECKSUM_AT = 68
"""Where the application id is in the header of a database (https://www.sqlite.org/fileformat.html)."""
_CHECKSUM_BYTES = 4


@dataclass(frozen=True, slots=True)
class _File:
    """What tells a file from all others that ever had its name."""

    inode: int
    mtime_ns: int
    size: int

    @classmethod
    def at(cls, path: Path) -> "_File | None":
        """The file that has this name now."""
        try:
            return cls.of(path.stat())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror or error}") from error

    @classmethod
    def of(cls, status: os.stat_result) -> "_File":
        """The file that has this status."""
        return cls(status.st_ino, status.st_mtime_ns, status.st_size)


class Store:
    """One connection to one committed state of the store, for reading."""

    def __init__(self, connection: sqlite3.Connection, path: Path, file: "_File | None") -> None:
        self._connection = connection
        self._path = path
        self._file = file

    @classmethod
    def open(cls, data_dir: Path) -> Self:
        """Open the state committed last.

        Raises:
            NotIndexedError: there is no store.
            IndexCorruptError: it is damaged or of another version.
            StorageError: it cannot be read, or the data folder is no folder.
        """
        path = data_dir / STORE_FILE
        for _ in range(_ATTEMPTS):
            with _opened(path) as file:
                try:
                    connection = connect_readonly(path)
                except StorageError:
                    _check_sum(path, file)  # SQLite takes some damages for a file that it may not open
                    raise
                # What is open keeps its inode: if the name still has it, SQLite opened this very file.
                store = cls(connection, path, _File.of(os.fstat(file.fileno())))
                try:
                    if store.is_current():
                        store._check(file)
                        return store
                except BaseException:
                    store.close()
                    raise
                store.close()
        raise StorageError(f"{path} is replaced again and again", "search again")

    def _check(self, file: FileIO) -> None:
        """Raises IndexCorruptError if the file is cut short, or small enough to compare and not what was written."""
        size = os.fstat(file.fileno()).st_size
        ((pages, page_size),) = self.rows("SELECT * FROM pragma_page_count, pragma_page_size")
        if size != pages * page_size:  # SQLite would fill up a last page that is cut short with zeros
            raise store_corrupt(self._path, f"{size} bytes, {pages * page_size} expected")
        if size <= CHECKED_BYTES:
            _check_sum(self._path, file)

    def verify(self) -> None:
        """Compare the whole file with its checksum, whatever its size.

        Raises:
            IndexCorruptError: it is not what was written.
            StorageError: it cannot be read.
        """
        with _opened(self._path) as file:
            _check_sum(self._path, file)

    def is_current(self) -> bool:
        """Whether nothing was committed since this state was opened: one `stat`."""
        return _File.at(self._path) == self._file

    def close(self) -> None:
        """Let go of the state and the file."""
        self._connection.close()

    @property
    def corpus_revision(self) -> str | None:
        """The name of this state and of the folder with its index files; None before the first commit."""
        return self.meta(REVISION)

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
        with _understood(self._path):
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
        """The chunks of these 16-byte ids, each with its document (tags left empty).

        Raises:
            IndexCorruptError: one is not in the store, so the index files are not of this state.
        """
        rows = self._rows_of(ids, f"{CHUNK_COLUMNS}, {DOCUMENT_COLUMNS}")
        with _understood(self._path):
            return {chunk.chunk_id: (chunk, document) for chunk, document in map(_entry, rows)}

    def chunk_paths(self, ids: Sequence[bytes]) -> dict[ChunkId, tuple[DocId, str]]:
        """(doc_id, doc_path) of the chunks of these ids.

        Raises:
            IndexCorruptError: one is not in the store, so the index files are not of this state.
        """
        rows = self._rows_of(ids, "chunk_id, doc_id, doc_path")
        return {ChunkId(chunk_id.hex()): (DocId(doc_id.hex()), doc_path) for chunk_id, doc_id, doc_path in rows}

    def _rows_of(self, ids: Sequence[bytes], columns: str) -> list[Row]:
        """These columns of chunks and their documents, in any order."""
        rows: list[Row] = []
        for start in range(0, len(ids), MAX_VARIABLES):
            batch = ids[start : start + MAX_VARIABLES]
            rows += self.rows(
                f"SELECT {columns} FROM chunks JOIN documents USING (doc_no) WHERE chunk_id IN ({marks(len(batch))})",
                batch,
            )
        if len(rows) < len(set(ids)):
            raise IndexCorruptError(str(self._path), "lacks chunks that the index files have")
        return rows

    def document(self, doc_id: DocId) -> Document | None:
        """A document with its tags, these in the order of their code points."""
        wanted = (bytes.fromhex(doc_id),)
        rows = self.rows(f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE doc_id = ?", wanted)
        tags = self.rows("SELECT tag FROM tags JOIN documents USING (doc_no) WHERE doc_id = ? ORDER BY tag", wanted)
        with _understood(self._path):
            return replace(document_of(rows[0]), tags=tuple(tag for (tag,) in tags)) if rows else None

    def documents(self, where: str = "", parameters: Sequence[object] = ()) -> Iterator[tuple[Document, int]]:
        """Documents with their tags and their number of chunks, by source and path in byte order, read one by one.

        Args:
            where: a condition on the columns of `documents` that begins with WHERE, or nothing.
        """
        with translated(self._path), _understood(self._path):
            rows = self._connection.execute(
                "SELECT (SELECT count(*) FROM chunks WHERE chunks.doc_no = documents.doc_no),"
                " (SELECT json_group_array(tag) FROM tags WHERE tags.doc_no = documents.doc_no),"
                f" {DOCUMENT_COLUMNS} FROM documents {where} ORDER BY source_id, doc_path",
                tuple(parameters),
            )
            for chunks, tags, *columns in rows:
                yield replace(document_of(tuple(columns)), tags=tuple(sorted(json.loads(tags)))), chunks

    def place_of(self, chunk_id: ChunkId) -> tuple[DocId, int] | None:
        """The document of a chunk and its ordinal there, or None if there is no such chunk."""
        rows = self.rows(
            "SELECT doc_id, ordinal FROM chunks JOIN documents USING (doc_no) WHERE chunk_id = ?",
            (bytes.fromhex(chunk_id),),
        )
        with _understood(self._path):
            return (DocId(rows[0][0].hex()), int(rows[0][1])) if rows else None

    def chunks_in(self, doc_id: DocId, first: int = 0, last: int = _LARGEST) -> list[Chunk]:
        """The chunks of a document with these ordinals, both ends included, in order."""
        rows = self.rows(
            f"SELECT {CHUNK_COLUMNS} FROM chunks JOIN documents USING (doc_no)"
            " WHERE doc_id = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal",
            (bytes.fromhex(doc_id), first, last),
        )
        with _understood(self._path):
            return [chunk_of(row, doc_id) for row in rows]

    def n_chunks_of(self, doc_id: DocId) -> int:
        """Number of chunks of a document."""
        sql = "SELECT count(*) FROM chunks JOIN documents USING (doc_no) WHERE doc_id = ?"
        ((count,),) = self.rows(sql, (bytes.fromhex(doc_id),))
        return int(count)

    def text_of(self, doc_id: DocId) -> str | None:
        """The whole text of a document as it was parsed, or None if there is no such document."""
        rows = self.rows(
            "SELECT text FROM texts JOIN documents USING (doc_no) WHERE doc_id = ?", (bytes.fromhex(doc_id),)
        )
        with _understood(self._path):
            return unpacked_text(rows[0][0]) if rows else None

    def chunk_keys(self) -> Iterator[tuple[bytes, bytes]]:
        """(chunk id, document id) of every chunk, 16 bytes each, in chunk id order."""
        with translated(self._path):
            yield from self._connection.execute(
                "SELECT chunk_id, doc_id FROM chunks JOIN documents USING (doc_no) ORDER BY chunk_id"
            )

    def every_chunk(self) -> Iterator[tuple[Chunk, Document]]:
        """Every chunk with its document, in document order."""
        with translated(self._path), _understood(self._path):
            yield from map(
                _entry,
                self._connection.execute(
                    f"SELECT {CHUNK_COLUMNS}, {DOCUMENT_COLUMNS} FROM chunks JOIN documents USING (doc_no)"
                    " ORDER BY doc_no, ordinal"
                ),
            )


def connect_readonly(path: Path) -> sqlite3.Connection:
    """Open a store as it is.

    Raises:
        IndexCorruptError: it is damaged or of another version.
        StorageError: it cannot be read.
    """
    with translated(path):
        # Immutable: SQLite then takes no locks and makes no files of its own, whatever the mode of the journal.
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
        )
        try:
            _check_version(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:  # an empty file, or another program's
        raise store_corrupt(path, "no store of kebab")
    if version != STORE_VERSION:
        raise IndexCorruptError(
            str(path),
            f"made by another version of kebab (format {version}, this one has {STORE_VERSION})",
            f"move {path} away and run `kebab ingest` with your folders again; what was given by `ingest-file` and"
            " `ingest-stdin` is in that file only: give it again, or read it with the version that made it",
        )


@contextmanager
def _opened(path: Path) -> Iterator[FileIO]:
    """The file of a store as bytes."""
    try:
        with open(path, "rb", buffering=0, opener=open_at_once) as file:  # Path.open takes no opener
            if not is_regular(file):
                raise store_corrupt(path, "no regular file")
            yield file
    except FileNotFoundError:
        raise NotIndexedError(str(path.parent)) from None
    except NotADirectoryError:
        raise no_folder(path.parent, "read") from None
    except IsADirectoryError:
        raise store_corrupt(path, "a folder") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def _checksums(file: FileIO) -> tuple[bytes, bytes]:
    """What the checksum of a store is, and what it should be, as bytes. Reads all of the file."""
    before, stored = file.read(_CHECKSUM_AT), file.read(_CHECKSUM_BYTES)
    return checksum(chain([before], blocks(file))).to_bytes(_CHECKSUM_BYTES, "big"), stored


def write_checksum(path: Path) -> None:
    """Give a store, which nobody else has open, its checksum. Raises OSError."""
    with path.open("r+b", buffering=0) as file:
        found, _ = _checksums(file)
        file.seek(_CHECKSUM_AT)
        file.write(found)


def _check_sum(path: Path, file: FileIO) -> None:
    found, expected = _checksums(file)
    if found != expected:
        raise store_corrupt(path, "its bytes are not those that were written")


def store_corrupt(path: Path, problem: str) -> IndexCorruptError:
    """The store itself is damaged: unlike the index files, nothing can rebuild it but the documents."""
    return IndexCorruptError(str(path), problem, f"move {path} away and run `kebab ingest` with your folders again")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, but for ProgrammingError: a mistake of the caller, such as use after `close`."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.OperationalError as error:
        if str(error).startswith("Could not decode"):  # its text quotes the document
            raise store_corrupt(path, "a text in it is not UTF-8") from error
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR and str(error).startswith(("no such", "malformed")):
            raise store_corrupt(path, str(error)) from error
        raise StorageError(f"{path}: {error}") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise store_corrupt(path, str(error)) from error


@contextmanager
def _understood(path: Path) -> Iterator[None]:
    """Turn what comes of rows that make no sense into an error of ours."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise store_corrupt(path, f"a row makes no sense ({error})") from error


def marks(count: int) -> str:
    """So many places for values in a statement."""
    return ",".join("?" * count)


def _entry(row: Row) -> tuple[Chunk, Document]:
    """The chunk and the document of CHUNK_COLUMNS and DOCUMENT_COLUMNS."""
    document = document_of(row[N_CHUNK_COLUMNS:])
    return chunk_of(row[:N_CHUNK_COLUMNS], document.doc_id), document
