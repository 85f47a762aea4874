"""From the bytes of a file to its document and chunks, and to what is indexed of them."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Chunking, Source
from kebab_stream.errors import InvalidInputError
from kebab_stream.ingest import prepare as module
from kebab_stream.ingest.identity import ChunkIds, doc_id_of
from kebab_stream.ingest.prepare import Prepared, embedded_windows, indexed_terms, prepare, signature_of
from kebab_stream.ingest.versions import CHUNKER_VERSION
from kebab_stream.ingest.walk import SourceFile
from kebab_stream.model import Document
from tests.ingest.strategies import markdown_documents

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SOURCE = Source(id="notes", root=Path("/notes"), trust_level="secondary", source_type="wiki")


CHUNKING = Chunking()
FILE = SourceFile("sub/a.md", Path("/notes/sub/a.md"), size=7, mtime_ns=8, repo="r")


def prepared(text: str, path: str = "sub/a.md", chunking: Chunking = CHUNKING) -> Prepared:
    file = SourceFile(path, Path("/notes", path), size=7, mtime_ns=8, repo="r")
    return prepare(SOURCE, file, text.encode(), chunking, now=NOW)


def test_a_document_says_where_it_is_from() -> None:
    assert prepared("# Title\n\nSome English text for a reader.\n").document == Document(
        doc_id=doc_id_of("notes", "sub/a.md"),
        source_id="notes",
        doc_path="sub/a.md",
        title="Title",
        media="markdown",
        lang="en",
        code_lang=None,
        repo="r",
        source_type="wiki",
        trust_level="secondary",
        tags=(),
        aliases=(),
        created=None,
        modified=None,
        content_hash="c180656812a6a78bac48573c74eac4d4",
        size=7,
        mtime_ns=8,
        signature=signature_of(SOURCE, CHUNKING, FILE),
        chunker_version=CHUNKER_VERSION,
        indexed_at=NOW,
    )


def test_front_matter_has_the_last_word() -> None:
    document = prepared("---\ntitle: T\ntags: [x, y]\ntrust_level: generated\nsource_type: log\n---\ntext\n").document

    assert (document.title, document.tags) == ("T", ("x", "y"))
    assert (document.trust_level, document.source_type) == ("generated", "log")


def test_chunks_are_numbered_and_have_the_ids_of_their_texts() -> None:
    one = prepared("# A\n\ntext\n\n# B\n\nmore\n\n# A\n\ntext\n")
    ids = ChunkIds(one.document.doc_id)

    assert [(chunk.text, chunk.line_start, chunk.line_end, chunk.heading_path) for chunk in one.chunks] == [
        ("# A\n\ntext", 1, 3, ("A",)),
        ("# B\n\nmore", 5, 7, ("B",)),
        ("# A\n\ntext", 9, 11, ("A",)),
    ]
    assert [chunk.ordinal for chunk in one.chunks] == [0, 1, 2]
    assert [chunk.chunk_id for chunk in one.chunks] == [ids.next(chunk.text) for chunk in one.chunks]
    assert {chunk.doc_id for chunk in one.chunks} == {one.document.doc_id}


@given(markdown_documents, st.sampled_from(["a.md", "a.txt", "a.py"]))
def test_a_document_has_no_two_chunks_of_one_id(text: str, path: str) -> None:
    ids = [
        chunk.chunk_id for chunk in prepared(text, path, chunking=Chunking(target_chars=100, overlap_chars=50)).chunks
    ]

    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n"])
def test_a_file_without_text_is_a_document_without_chunks(text: str) -> None:
    assert list(prepared(text).chunks) == []


def test_a_file_that_is_no_text_is_refused() -> None:
    file = SourceFile("a.md", Path("/notes/a.md"), size=1, mtime_ns=1)
    with pytest.raises(InvalidInputError, match="byte 0"):
        prepare(SOURCE, file, b"\xff", CHUNKING, now=NOW)


def test_a_signature_changes_with_all_that_decides_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    signatures = {
        signature_of(SOURCE, CHUNKING, FILE),
        signature_of(SOURCE, CHUNKING, replace(FILE, repo=None)),
        signature_of(replace(SOURCE, trust_level="primary"), CHUNKING, FILE),
        signature_of(replace(SOURCE, source_type="log"), CHUNKING, FILE),
        signature_of(SOURCE, Chunking(target_chars=1500), FILE),
        signature_of(SOURCE, Chunking(overlap_chars=100), FILE),
        signature_of(SOURCE, Chunking(max_chars=5000), FILE),
    }
    for version in ("PARSER_VERSION", "CHUNKER_VERSION", "INDEXED_VERSION"):
        monkeypatch.setattr(module, version, "next")
        signatures.add(signature_of(SOURCE, CHUNKING, FILE))

    assert len(signatures) == 10
    monkeypatch.undo()
    moved = replace(SOURCE, root=Path("/moved"), exclude=("*.log",))
    assert signature_of(moved, CHUNKING, FILE) == signature_of(SOURCE, CHUNKING, FILE)


def test_a_chunk_is_known_by_its_text_headings_title_and_file_name() -> None:
    one = prepared("---\ntitle: mango\n---\n# apple\n\n## banana\n\ncherry\n", "damson/elderberry.md")
    (chunk,) = one.chunks
    found = indexed_terms(chunk, one.document)

    assert {term for term in found if term in ("mango", "appl", "banana", "cherri", "damson", "elderberri")} == {
        "mango",
        "appl",
        "banana",
        "cherri",
        "elderberri",
    }
    assert "".join(embedded_windows(chunk.text)).split() == chunk.text.split()


def test_what_is_above_a_chunk_counts_twice_and_the_name_that_it_defines_four_times() -> None:
    one = prepared("# Apple\n\n" + "## Banana\n\ncherry\n", "damson.md")
    counts = Counter(indexed_terms(one.chunks[-1], one.document))
    assert (counts["banana"], counts["cherri"], counts["damson"]) == (3, 1, 2)

    code = prepared("class Basket:\n    def weigh_all(self):\n        return self.weigh_all\n", "fruit.py")
    chunk = replace(code.chunks[0], symbol="Basket.weigh_all", text="x")
    counts = Counter(indexed_terms(chunk, code.document))
    assert (counts["weigh_al"], counts["basket"], counts["fruit"]) == (4, 2, 4)  # the title of code is its file name


def test_a_chunk_is_embedded_by_its_windows_and_as_a_whole() -> None:
    text = "First sentence of a chunk. " * 10 + "Last sentence of it. " * 10
    *pieces, whole = embedded_windows(text)

    assert len(pieces) > 1
    assert " ".join(pieces).split() == text.split()
    assert whole == text
    assert embedded_windows("One window.") == ["One window."]
    assert embedded_windows(" ") == []
