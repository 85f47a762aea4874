"""One file's bytes to what is stored of it: a document, its chunks, and what is indexed of each chunk."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from kebab_stream.analyser import Script, fold, script_of, terms
from kebab_stream.config import Chunking, Source
from kebab_stream.ingest.grammars import code_parser_version
from kebab_stream.ingest.identity import ChunkIds, doc_id_of
from kebab_stream.ingest.media import media_of
from kebab_stream.ingest.read import content_hash, decode
from kebab_stream.ingest.versions import CHUNKER_VERSION, INDEXED_VERSION, PARSER_VERSION
from kebab_stream.ingest.walk import SourceFile
from kebab_stream.ingest.windows import windows
from kebab_stream.model import COPIES, Chunk, Document


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored."""

    document: Document
    text: str
    """The whole text of the file, as it was parsed."""
    chunks: Sequence[Chunk]


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """What the indexes know of a chunk."""

    chunk_id: str
    script: Script
    frequencies: dict[str, int]
    """Its terms, and how often each occurs."""
    folded: bytes
    """Its text as `fold` gives it, UTF-8."""
    text: str
    windows: list[str]


def signature_of(source: Source, chunking: Chunking, file: SourceFile) -> str:
    """All that decides, besides a file's content, what is stored of it; run-time settings are not part of it."""
    sizes = f"{chunking.target_chars}.{chunking.overlap_chars}.{chunking.max_chars}"
    _, code_lang = media_of(file.doc_path) or ("text", None)
    code_parser = code_parser_version(code_lang) if code_lang else ""
    versions = f"{PARSER_VERSION}|{CHUNKER_VERSION}|{INDEXED_VERSION}|{code_parser}"
    if source.id in COPIES:  # what was said of a copy when it was given stays
        return f"{versions}|{sizes}"
    return f"{versions}|{sizes}|{source.trust_level}|{source.source_type}|{file.repo or ''}"


def prepare(source: Source, file: SourceFile, data: bytes, chunking: Chunking, *, now: datetime) -> Prepared:
    """Parse and chunk one file.

    Raises:
        InvalidInputError: it is no text that can be read.
    """
    return prepare_text(source, file, decode(file.doc_path, data), content_hash(data), chunking, now=now)


def prepare_text(
    source: Source, file: SourceFile, text: str, hash_of_file: str, chunking: Chunking, *, now: datetime
) -> Prepared:
    """Parse and chunk the text of one file, as `decode` gave it."""
    # Late: an ingest that finds nothing new, or lets others parse, does without what parsers import.
    from kebab_stream.ingest.chunk import chunk
    from kebab_stream.ingest.parse import parse

    parsed = parse(file.doc_path, text)
    doc_id = doc_id_of(source.id, file.doc_path)
    document = Document(
        doc_id=doc_id,
        source_id=source.id,
        doc_path=file.doc_path,
        title=parsed.title,
        media=parsed.media,
        lang=parsed.lang,
        code_lang=parsed.code_lang,
        repo=file.repo,
        source_type=parsed.source_type or source.source_type,
        trust_level=parsed.trust_level or source.trust_level,
        tags=parsed.tags,
        aliases=parsed.aliases,
        created=parsed.created,
        modified=parsed.modified,
        content_hash=hash_of_file,
        size=file.size,
        mtime_ns=file.mtime_ns,
        signature=signature_of(source, chunking, file),
        chunker_version=CHUNKER_VERSION,
        indexed_at=now,
    )
    ids = ChunkIds(doc_id)
    chunks = [
        Chunk(
            chunk_id=ids.next(piece.text),
            doc_id=doc_id,
            ordinal=ordinal,
            text=piece.text,
            heading_path=piece.heading_path,
            symbol=piece.symbol,
            line_start=piece.line_start,
            line_end=piece.line_end,
            page=piece.page,
        )
        for ordinal, piece in enumerate(chunk(parsed, chunking))
    ]
    return Prepared(document, text, chunks)


def indexed_chunks(prepared: Prepared) -> list[IndexedChunk]:
    """What is indexed of a document."""
    return [indexed_chunk(chunk, prepared.document) for chunk in prepared.chunks]


def indexed_chunk(chunk: Chunk, document: Document) -> IndexedChunk:
    """What is indexed of a chunk."""
    return IndexedChunk(
        chunk_id=chunk.chunk_id,
        script=script_of(chunk.text),
        frequencies=dict(Counter(indexed_terms(chunk, document))),
        folded=fold(chunk.text).encode("utf-8"),
        text=chunk.text,
        windows=embedded_windows(chunk.text),
    )


def indexed_terms(chunk: Chunk, document: Document) -> list[str]:
    """What the lexical index knows a chunk by: its text, and the titles, headings, symbol and file name above it.

    What is above counts twice, because it is short and says what the chunk is about; the name of what is defined here
    counts twice more than that, so that a definition is before its uses.
    """
    symbol = chunk.symbol or ""
    name = symbol.rpartition(".")[2]
    file_name = PurePosixPath(document.doc_path).stem
    above = " ".join((document.title, *document.aliases, *chunk.heading_path, symbol, name, file_name))
    return terms(chunk.text) + 2 * terms(above)


def embedded_windows(text: str) -> list[str]:
    """What the vector index knows a chunk with this text by: each of its windows and, if there are several, the whole.

    A window answers a question about a detail, the whole one about the subject: measured in `benchmarks/quality`.
    """
    pieces = windows(text)
    return [*pieces, text] if len(pieces) > 1 else pieces
