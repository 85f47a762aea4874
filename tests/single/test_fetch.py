"""Reading from the source: what comes back is what stands in the file, line by line."""

import functools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unicodedata import normalize

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Search
from kebab_stream.engine import Engine
from kebab_stream.errors import (
    ChunkNotFoundError,
    DocNotFoundError,
    IndexCorruptError,
    InvalidInputError,
    SpanNotSupportedError,
)
from kebab_stream.ingest import IngestRequest, ingest
from kebab_stream.ingest.read import split_lines
from kebab_stream.model import CodeCitation, LineCitation, SearchQuery
from kebab_stream.render import to_json
from kebab_stream.reports.lookup import FetchResult
from kebab_stream.single.fetch import fetch_document, length, lines_of
from kebab_stream.single.hits import citation_of
from tests.corpora import config_of, ingest_files
from tests.index.stored import changed_store
from tests.paths import SHARED
from tests.wire import checked

SECTIONS = "".join(f"# 제목 {number}\n\n문단 {number} says something.\n\n" for number in range(1, 8))
FILES = {
    "a.md": SECTIONS,
    "한글/내 노트 #1 100%25.md": "첫째\n둘째\n셋째\n",
    "windows.md": "# One\r\n\r\ntwo\r\nthree\r\n",
    "old-mac.txt": "one\rtwo\rthree",
    "odd.txt": "one\x0btwo\x0cthree\u2028four\x85five\nsix",
    "code.py": "def one():\n    return 1\n\n\ndef two():\n\treturn 2\n",
    "one-line.json": '{"key": "' + "value " * 400 + '"}',
    "paper.txt": "page one\nstill one\fpage two\nmore\fpage three\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """`FILES`, one of them made a paged document, and a second source that also has an `a.md`."""
    folder = tmp_path_factory.mktemp("fetch")
    config = config_of(folder / "data", provider="none")
    ingest_files(config, folder / "notes", FILES)
    ingest_files(config, folder / "other", {"a.md": "another\n", "only-here.md": "x\n"})
    with changed_store(folder / "data") as connection:
        connection.execute("UPDATE documents SET media = 'pdf' WHERE doc_path = 'paper.txt'")
        connection.execute(
            "UPDATE chunks SET page = 1, heading_path = '[\"Part\"]'"
            " WHERE doc_no = (SELECT doc_no FROM documents WHERE doc_path = 'paper.txt')"
        )
    with Engine.open(config) as opened:
        yield opened


def wire(result: FetchResult) -> FetchResult:
    """The result, after its JSON fitted its schema."""
    checked(to_json(result))
    return result


def doc(engine: Engine, path: str, max_tokens: int | None = None) -> FetchResult:
    return wire(engine.fetch_document(path, source="notes", max_tokens=max_tokens))


def span(engine: Engine, path: str, start: int | None = None, end: int | None = None) -> FetchResult:
    return wire(engine.fetch_span(path, start, end, source="notes"))


# --- documents -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES)
def test_a_document_comes_back_as_it_was_read(engine: Engine, path: str) -> None:
    result = doc(engine, path)

    assert result.text == FILES[path]
    assert (result.kind, result.doc_path, result.truncated, result.hint) == ("doc", path, False, None)


def test_a_document_is_found_by_its_id_or_its_path_in_any_normal_form(engine: Engine) -> None:
    path = "한글/내 노트 #1 100%25.md"
    found = doc(engine, path)

    assert engine.fetch_document(found.doc_id).text == found.text
    assert doc(engine, normalize("NFD", path)).doc_id == found.doc_id


def test_a_path_in_two_sources_is_refused_until_one_is_named(engine: Engine) -> None:
    with pytest.raises(InvalidInputError, match="in several sources: notes, other") as caught:
        engine.fetch_document("a.md")

    assert caught.value.details["sources"] == ["notes", "other"]
    assert engine.fetch_document("a.md", source="other").text == "another\n"
    assert engine.fetch_document("only-here.md").source_id == "other"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("A.md", 'the closest doc_path is "a.md"'),
        ("/home/me/notes/windows.md", 'the closest doc_path is "windows.md"'),
        ("windoes.md", 'the closest doc_path is "windows.md"'),
        ("zzz", "`kebab list` shows the documents"),
        ("0" * 32, "`kebab list` shows the documents"),
    ],
)
def test_a_document_that_is_not_there_is_told_with_the_closest_path(engine: Engine, asked: str, hint: str) -> None:
    with pytest.raises(DocNotFoundError) as caught:
        engine.fetch_document(asked)

    assert (caught.value.hint, caught.value.details["doc"]) == (hint, asked)


def test_a_document_of_another_source_is_told_where_it_is(engine: Engine) -> None:
    with pytest.raises(DocNotFoundError, match="only-here") as caught:
        engine.fetch_document("only-here.md", source="notes")

    assert caught.value.hint == "it is in other"


def test_an_id_of_the_other_kind_is_recognised(engine: Engine) -> None:
    (hit, *_) = engine.search(SearchQuery(query="문단", mode="lexical"))

    with pytest.raises(DocNotFoundError) as not_a_document:
        engine.fetch_document(hit.chunk_id)
    with pytest.raises(ChunkNotFoundError) as not_a_chunk:
        engine.fetch_chunk(hit.doc_id)

    assert "fetch chunk" in str(not_a_document.value.hint)
    assert "fetch doc" in str(not_a_chunk.value.hint)


@pytest.mark.parametrize("asked", ["", "  ", "\udcff", None, 3])
def test_what_is_no_text_is_refused(engine: Engine, asked: str) -> None:
    for fetch in (engine.fetch_document, engine.fetch_chunk, engine.fetch_span):
        with pytest.raises(InvalidInputError):
            fetch(asked)


def test_freshness_is_that_of_a_hit(engine: Engine) -> None:
    (hit, *_) = engine.search(SearchQuery(query="windows", mode="lexical"))
    result = engine.fetch_chunk(hit.chunk_id)
    facts = (result.indexed_at, result.stale, result.lang, result.trust_level, result.source_type, result.repo)

    assert facts == (hit.indexed_at, hit.stale, hit.lang, hit.trust_level, hit.source_type, hit.repo)
    later = datetime.now(UTC) + timedelta(days=3)
    store = engine.snapshot.store
    for days, stale in ((0, False), (2, True), (4, False)):
        settings = Search(stale_threshold_days=days)
        assert fetch_document(store, hit.doc_id, settings=settings, now=later).stale is stale


def test_a_store_without_the_text_is_damaged(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest_files(config, tmp_path / "notes", {"a.md": "text\n"})
    with changed_store(tmp_path / "data") as connection:
        connection.execute("DELETE FROM texts")

    with Engine.open(config) as damaged, pytest.raises(IndexCorruptError):
        damaged.fetch_document("a.md")


# --- spans -----------------------------------------------------------------------------------------------


def test_a_span_is_these_lines_with_their_ends(engine: Engine) -> None:
    assert span(engine, "windows.md", 2, 3).text == "\r\ntwo\r\n"
    assert span(engine, "old-mac.txt", 2, 3).text == "two\rthree"
    assert span(engine, "odd.txt", 2, 2).text == "six"
    assert span(engine, "code.py#L5-L6").text == "def two():\n\treturn 2\n"
    assert span(engine, "windows.md#L3").text == "two\r\n"


def test_a_span_says_where_it_stands(engine: Engine) -> None:
    result = span(engine, "a.md", 7, 9)

    assert (result.line_start, result.line_end, result.total_lines, result.page) == (7, 9, 28, None)
    assert result.heading_path == ("제목 2",)
    assert result.citation == LineCitation(path="a.md", uri="a.md#L7-L9", start=7, end=9, section="제목 2")
    citation = span(engine, "code.py", 1, 1).citation
    assert isinstance(citation, CodeCitation)
    assert (citation.uri, citation.line_start, citation.line_end, citation.lang) == ("code.py#L1", 1, 1, "python")


def test_a_uri_is_decoded_and_a_path_is_not(engine: Engine) -> None:
    path = "한글/내 노트 #1 100%25.md"

    assert span(engine, "한글/내%20노트%20%231%20100%2525.md#L2").text == "둘째\n"
    assert span(engine, path, 2, 2).text == "둘째\n"
    assert span(engine, "%ED%95%9C%EA%B8%80/내 노트 %231 100%2525.md#L1-L2").text == "첫째\n둘째\n"


def test_a_span_beyond_the_end_gives_what_there_is(engine: Engine) -> None:
    some = span(engine, "windows.md", 4, 10**17)
    none = span(engine, "windows.md", 5, 9)

    assert (some.text, some.line_start, some.line_end) == ("three\r\n", 4, 4)
    assert (none.text, none.line_start, none.line_end, none.citation, none.total_lines) == ("", None, None, None, 4)
    assert not none.truncated


@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (-1, 4), (3, 2), (1, None), (None, 1), (True, 2), (1, 2.0), ("1", "2")]
)
def test_lines_that_no_file_has_are_refused(engine: Engine, start: int, end: int) -> None:
    with pytest.raises(InvalidInputError):
        engine.fetch_span("a.md", start, end, source="notes")


NO_URIS = ["a.md", "a.md#", "a.md#L0", "a.md#L3-L2", "a.md#L3-5", "a.md#l3", "a.md#L", "#L3", "a.md#page=0", "a.md#L3#"]


@pytest.mark.parametrize("uri", [*NO_URIS, "a.md#L3 ", f"a.md#L{'9' * 5000}"])
def test_what_is_no_uri_is_refused(engine: Engine, uri: str) -> None:
    with pytest.raises(InvalidInputError):
        engine.fetch_span(uri, source="notes")


@given(text=st.text(alphabet="ab\n\r\x0b\x0c\x1c\x85\u2028", max_size=20))
def test_lines_are_those_of_the_parsers_and_nothing_gets_lost(text: str) -> None:
    lines = lines_of(text)

    assert "".join(lines) == text
    assert [line.removesuffix("\n").removesuffix("\r") for line in lines] == split_lines(text)


# --- paged documents -------------------------------------------------------------------------------------


def test_a_page_is_a_span_of_a_paged_document(engine: Engine) -> None:
    second = span(engine, "paper.txt#page=2")

    assert (second.text, second.page, second.total_pages) == ("page two\nmore", 2, 3)
    assert (second.line_start, second.line_end, second.total_lines) == (None, None, None)
    assert second.citation is not None
    assert second.citation.uri == "paper.txt#page=2"
    assert span(engine, "paper.txt#page=1").heading_path == ("Part",)
    beyond = span(engine, "paper.txt#page=4")
    assert (beyond.text, beyond.citation, beyond.total_pages) == ("", None, 3)


def test_lines_of_a_paged_document_and_pages_of_another_are_refused(engine: Engine) -> None:
    with pytest.raises(SpanNotSupportedError) as lines:
        engine.fetch_span("paper.txt", 1, 2)
    with pytest.raises(SpanNotSupportedError) as pages:
        engine.fetch_span("code.py#page=1")

    assert "#page=1" in str(lines.value.hint)
    assert "#L1-L20" in str(pages.value.hint)


def test_a_paged_document_is_cut_after_pages(engine: Engine) -> None:
    whole = doc(engine, "paper.txt")
    cut = doc(engine, "paper.txt", max_tokens=(length(whole) - 3) // 4)

    assert (cut.truncated, cut.next_page, cut.next_line) == (True, 3, None)
    assert cut.text == "page one\nstill one\fpage two\nmore"


# --- budgets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_tokens", [1, 170, 200, 230, 260, 1000])
def test_a_budget_holds_and_going_on_gives_the_whole_document(engine: Engine, max_tokens: int) -> None:
    parts = [doc(engine, "a.md", max_tokens)]
    while parts[-1].truncated:
        start, total = parts[-1].next_line, parts[-1].total_lines
        parts.append(wire(engine.fetch_span("a.md", start, total, source="notes", max_tokens=max_tokens)))

    assert "".join(part.text for part in parts) == FILES["a.md"]
    assert all(length(part) <= 4 * max_tokens or part.text.count("\n") == 1 for part in parts)
    assert [part.next_line is None for part in parts] == [not part.truncated for part in parts]


def test_a_budget_is_used_up(engine: Engine) -> None:
    whole = doc(engine, "a.md")

    for max_tokens in range(170, length(whole) // 4 + 2, 7):
        cut = doc(engine, "a.md", max_tokens)
        assert cut.line_end is not None
        longer = span(engine, "a.md", 1, cut.line_end + 1)
        assert not cut.truncated or length(longer) - length(cut) > 4 * max_tokens - length(cut) - 20


def test_a_line_longer_than_the_budget_is_cut_and_said_to_be(engine: Engine) -> None:
    cut = doc(engine, "one-line.json", 300)

    assert (cut.truncated, cut.next_line) == (True, None)
    assert "line 1 is longer than max_tokens allows" in str(cut.hint)
    assert FILES["one-line.json"].startswith(cut.text)
    assert 4 * 300 - 2 <= length(cut) <= 4 * 300
    assert len(doc(engine, "one-line.json", 1).text) == 60


@pytest.mark.parametrize("max_tokens", [0, -1, True, 1.5])
def test_a_budget_of_nothing_is_refused(engine: Engine, max_tokens: int) -> None:
    with pytest.raises(InvalidInputError, match="max_tokens"):
        engine.fetch_document("code.py", max_tokens=max_tokens)


def test_a_budget_of_any_size_is_fine(engine: Engine) -> None:
    assert doc(engine, "code.py", 10**400).text == FILES["code.py"]


# --- chunks ----------------------------------------------------------------------------------------------


def test_a_chunk_comes_with_its_neighbours_in_document_order(engine: Engine) -> None:
    document = doc(engine, "a.md")
    chunks = engine.snapshot.store.chunks_in(document.doc_id)
    assert len(chunks) == 7

    for context in (0, 1, 2, 50):
        for place, chunk in enumerate(chunks):
            result = wire(engine.fetch_chunk(chunk.chunk_id, context=context))
            around = [*(each.chunk_id for each in result.before), result.chunk_id]
            around += [each.chunk_id for each in result.after]
            assert around == [each.chunk_id for each in chunks[max(0, place - context) : place + context + 1]]
            assert (result.text, result.line_start, result.line_end) == (chunk.text, chunk.line_start, chunk.line_end)


def test_a_chunk_names_its_lines(engine: Engine) -> None:
    (hit, *_) = [hit for hit in engine.search(SearchQuery(query="code two")) if hit.doc_path == "code.py"]
    result = wire(engine.fetch_chunk(hit.chunk_id))

    assert (result.kind, result.chunk_id, result.citation) == ("chunk", hit.chunk_id, hit.citation)
    assert (result.total_lines, result.truncated) == (6, False)


@pytest.mark.parametrize("chunk_id", ["0" * 32, "nonsense", "F" * 32, "0" * 31 + "\n"])
def test_a_chunk_that_is_not_there_is_told(engine: Engine, chunk_id: str) -> None:
    with pytest.raises(ChunkNotFoundError) as caught:
        engine.fetch_chunk(chunk_id)

    assert caught.value.details == {"chunk_id": chunk_id}


@pytest.mark.parametrize("context", [-1, 51, True, 1.0, "1"])
def test_more_neighbours_than_allowed_are_refused(engine: Engine, context: int) -> None:
    with pytest.raises(InvalidInputError, match="context"):
        engine.fetch_chunk("0" * 32, context=context)


# --- real documents --------------------------------------------------------------------------------------


@pytest.mark.skipif(not (SHARED / "corpora").exists(), reason="the shared corpora are not here")
def test_every_citation_of_real_documents_leads_to_the_text_of_its_chunk(tmp_path: Path) -> None:
    config = config_of(tmp_path, provider="none")
    request = IngestRequest(paths=sorted((SHARED / "corpora").iterdir()))
    anyio.run(functools.partial(ingest, config, request, lambda *_: None))

    whole_lines = 0
    with Engine.open(config) as engine:
        entries = list(engine.snapshot.store.every_chunk())[::4]
        for chunk, document in entries:
            citation = citation_of(chunk, document)
            result = engine.fetch_span(citation.uri, source=document.source_id)
            text = "\n".join(split_lines(result.text))
            # A line too long for one chunk is cut: then the chunk has a part of its first or last line.
            assert chunk.text in text, citation
            assert chunk.text.count("\n") == text.count("\n"), citation
            assert result.citation == citation
            whole_lines += text == chunk.text
    assert len(entries) > 2000
    assert whole_lines > 0.99 * len(entries)
