"""Tables of the store, and values to rows and back."""

import json
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kebab_stream.model import Chunk, ChunkId, DocId, Document, TrustLevel

Row = tuple[Any, ...]
"""A row as sqlite3 gives it: the types are those of the schema below."""

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sources (
    source_id TEXT PRIMARY KEY, root TEXT NOT NULL, exclude TEXT NOT NULL, trust_level TEXT NOT NULL,
    source_type TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE documents (
    doc_no INTEGER PRIMARY KEY, doc_id BLOB NOT NULL UNIQUE,
    source_id TEXT NOT NULL, doc_path TEXT NOT NULL, title TEXT NOT NULL, media TEXT NOT NULL,
    lang TEXT, code_lang TEXT, repo TEXT, source_type TEXT NOT NULL, trust_level TEXT NOT NULL,
    content_hash TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, signature TEXT NOT NULL,
    chunker_version TEXT NOT NULL, aliases TEXT NOT NULL, created TEXT, modified TEXT,
    indexed_at INTEGER NOT NULL,
    UNIQUE (source_id, doc_path)
);
CREATE TABLE texts (doc_no INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE, text BLOB NOT NULL);
CREATE TABLE tags (
    doc_no INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, tag TEXT NOT NULL, PRIMARY KEY (doc_no, tag)
) WITHOUT ROWID;
CREATE INDEX tags_by_name ON tags (tag);
CREATE TABLE chunks (
    chunk_no INTEGER PRIMARY KEY, chunk_id BLOB NOT NULL UNIQUE,
    doc_no INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, ordinal INTEGER NOT NULL,
    text TEXT NOT NULL, heading_path TEXT NOT NULL, symbol TEXT,
    line_start INTEGER NOT NULL, line_end INTEGER NOT NULL, page INTEGER,
    UNIQUE (doc_no, ordinal)
);
"""

DOCUMENT_COLUMNS = (
    "doc_id, source_id, doc_path, title, media, lang, code_lang, repo, source_type, trust_level,"
    " content_hash, size, mtime_ns, signature, chunker_version, aliases, created, modified, indexed_at"
)
CHUNK_COLUMNS = "chunk_id, ordinal, text, heading_path, symbol, line_start, line_end, page"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A folder that was ingested."""

    source_id: str
    root: str
    exclude: tuple[str, ...]
    trust_level: TrustLevel
    source_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """What is known of a file from its last ingest."""

    doc_id: DocId
    size: int
    mtime_ns: int
    content_hash: str
    signature: str


def document_row(document: Document) -> tuple[object, ...]:
    return (
        bytes.fromhex(document.doc_id),
        document.source_id,
        document.doc_path,
        document.title,
        document.media,
        document.lang,
        document.code_lang,
        document.repo,
        document.source_type,
        document.trust_level,
        document.content_hash,
        document.size,
        document.mtime_ns,
        document.signature,
        document.chunker_version,
        json.dumps(document.aliases, ensure_ascii=False),
        document.created,
        document.modified,
        int(document.indexed_at.timestamp()),
    )


def document_of(row: Row) -> Document:
    (doc_id, source_id, doc_path, title, media, lang, code_lang, repo, source_type, trust_level, *rest) = row
    content_hash, size, mtime_ns, signature, chunker_version, aliases, created, modified, indexed_at = rest
    return Document(
        doc_id=DocId(doc_id.hex()),
        source_id=source_id,
        doc_path=doc_path,
        title=title,
        media=media,
        lang=lang,
        code_lang=code_lang,
        repo=repo,
        source_type=source_type,
        trust_level=trust_level,
        tags=(),
        aliases=tuple(json.loads(aliases)),
        created=created,
        modified=modified,
        content_hash=content_hash,
        size=size,
        mtime_ns=mtime_ns,
        signature=signature,
        chunker_version=chunker_version,
        indexed_at=datetime.fromtimestamp(indexed_at, UTC),
    )


PAGE_END = "\f"
"""Between the pages of the text of a file that has pages."""


def packed_text(text: str) -> bytes:
    """The text of a document as it is stored: deflate takes Markdown to a third, and only `fetch` reads it."""
    return zlib.compress(text.encode("utf-8"), level=1)


def unpacked_text(data: bytes) -> str:
    """The inverse of `packed_text`.

    Raises:
        ValueError: it is damaged.
    """
    try:
        return zlib.decompress(data).decode("utf-8")
    except zlib.error as error:
        raise ValueError(str(error)) from error


def chunk_row(chunk: Chunk) -> tuple[object, ...]:
    return (
        bytes.fromhex(chunk.chunk_id),
        chunk.ordinal,
        chunk.text,
        json.dumps(chunk.heading_path, ensure_ascii=False),
        chunk.symbol,
        chunk.line_start,
        chunk.line_end,
        chunk.page,
    )


def chunk_of(row: Row, doc_id: DocId) -> Chunk:
    chunk_id, ordinal, text, heading_path, symbol, line_start, line_end, page = row
    return Chunk(
        chunk_id=ChunkId(chunk_id.hex()),
        doc_id=doc_id,
        ordinal=ordinal,
        text=text,
        heading_path=tuple(json.loads(heading_path)),
        symbol=symbol,
        line_start=line_start,
        line_end=line_end,
        page=page,
    )
