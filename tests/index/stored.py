"""Documents and chunks to store, with defaults for all that a test does not care about, and strategies for any."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import strategies as st

from kebab_stream.index.rows import SourceRow
from kebab_stream.model import TRUST_LEVELS, Chunk, ChunkId, DocId, Document

DOCUMENT = Document(
    doc_id=DocId("d0" * 16),
    source_id="notes",
    doc_path="a.md",
    title="A",
    media="markdown",
    lang="en",
    code_lang=None,
    repo=None,
    source_type="notes",
    trust_level="primary",
    tags=(),
    content_hash="0" * 32,
    size=1,
    mtime_ns=2,
    signature="1",
    chunker_version="1",
    indexed_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
)
CHUNK = Chunk(
    chunk_id=ChunkId("c0" * 16),
    doc_id=DOCUMENT.doc_id,
    ordinal=0,
    text="text",
    heading_path=(),
    symbol=None,
    line_start=1,
    line_end=1,
    page=None,
)
SOURCE = SourceRow(source_id="notes", root="/notes", exclude=("*.tmp",), trust_level="primary", source_type="notes")


def document(number: int, **fields: object) -> Document:
    """The document of this number, with its own id and path."""
    return replace(DOCUMENT, doc_id=DocId(f"{number:032x}"), doc_path=f"{number}.md", **fields)  # type: ignore[arg-type]


def chunks_of(owner: Document, *numbers: int) -> list[Chunk]:
    """Chunks with the ids of these numbers, in this order."""
    return [
        replace(CHUNK, chunk_id=ChunkId(f"{number:032x}"), doc_id=owner.doc_id, ordinal=ordinal, text=f"text {number}")
        for ordinal, number in enumerate(numbers)
    ]


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
