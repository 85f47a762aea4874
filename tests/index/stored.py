"""Documents and chunks to store: some by number, and strategies for any."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from kebab_stream.index.moves import Moves
from kebab_stream.index.rows import SourceRow
from kebab_stream.index.store import STORE_FILE, write_checksum
from kebab_stream.model import TRUST_LEVELS, Chunk, ChunkId, DocId, Document
from tests import corpora

DOCUMENT = corpora.document()
SOURCE = SourceRow(source_id="notes", root="/notes", exclude=("*.tmp",), trust_level="primary", source_type="notes")


def document(number: int) -> Document:
    """The document of this number, with its own id and path."""
    return corpora.document(doc_id=DocId(f"{number:032x}"), doc_path=f"{number}.md")


def chunks_of(owner: Document, *numbers: int) -> list[Chunk]:
    """Chunks with the ids of these numbers, in this order."""
    return [
        corpora.chunk(chunk_id=ChunkId(f"{number:032x}"), doc_id=owner.doc_id, ordinal=ordinal, text=f"text {number}")
        for ordinal, number in enumerate(numbers)
    ]


def moves(n_chunks: int, old_to_new: Sequence[int], added_to_new: Sequence[int]) -> Moves:
    """Moves of chunks to these numbers."""
    return Moves(n_chunks, np.array(old_to_new, dtype=np.int32), np.array(added_to_new, dtype=np.int32))


def all_added(n_chunks: int) -> Moves:
    """Every chunk is new, and they come in order."""
    return moves(n_chunks, [], range(n_chunks))


def listing(folder: Path) -> list[tuple[str, int, int, int]]:
    """Everything in a folder, with what would change if it were written."""
    return [
        (str(path), status.st_ino, status.st_size, status.st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        for status in [path.stat()]
    ]


@contextmanager
def changed_store(data_dir: Path) -> Iterator[sqlite3.Connection]:
    """A store to change in place with any statement; its checksum is right again afterwards."""
    path = data_dir / STORE_FILE
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection
    write_checksum(path)


IDS = st.binary(min_size=16, max_size=16).map(bytes.hex)
TEXT = st.text(max_size=20)
MAYBE = st.none() | TEXT
WHOLE = st.integers(0, (1 << 63) - 1)
DOCUMENTS = st.builds(
    Document,
    doc_id=IDS.map(DocId),
    source_id=TEXT,
    doc_path=TEXT,
    title=TEXT,
    media=TEXT,
    lang=MAYBE,
    code_lang=MAYBE,
    repo=MAYBE,
    source_type=TEXT,
    trust_level=st.sampled_from(TRUST_LEVELS),
    tags=st.lists(TEXT, max_size=3, unique=True).map(tuple),
    aliases=st.lists(TEXT, max_size=3).map(tuple),
    created=MAYBE,
    modified=MAYBE,
    content_hash=TEXT,
    size=WHOLE,
    mtime_ns=st.integers(-(1 << 63), (1 << 63) - 1),
    signature=TEXT,
    chunker_version=TEXT,
    indexed_at=st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0)),
)
CHUNKS = st.builds(
    Chunk,
    chunk_id=IDS.map(ChunkId),
    doc_id=st.just(DOCUMENT.doc_id),
    ordinal=WHOLE,
    text=TEXT,
    heading_path=st.lists(TEXT, max_size=3).map(tuple),
    symbol=MAYBE,
    line_start=WHOLE,
    line_end=WHOLE,
    page=st.none() | WHOLE,
)
