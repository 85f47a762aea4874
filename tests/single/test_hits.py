"""Rows of the store in the shape of the wire: citations, labels, stamps."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Search
from kebab_stream.index.generation import INDEX_VERSION, EmbeddingSpec
from kebab_stream.model import ChunkId, CodeCitation, DocId, LineCitation, PageCitation, Retrieval, SearchHit
from kebab_stream.render import to_json
from kebab_stream.single.hits import citation_of, hit_of, section_label
from tests.corpora import chunk, document

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RETRIEVAL = Retrieval(
    method="hybrid", fusion_score=0.5, lexical_score=1.25, vector_score=0.125, lexical_rank=1, vector_rank=None
)


def hit(*, stale_days: int = 0, embedding: EmbeddingSpec | None = None, **changes: Any) -> SearchHit:
    return hit_of(
        chunk(heading_path=("가", "나")),
        document(**changes),
        rank=11,
        score_kind="convex",
        retrieval=RETRIEVAL,
        embedding=embedding,
        settings=Search(stale_threshold_days=stale_days),
        now=NOW,
    )


def test_a_hit_tells_all_that_is_known_of_its_chunk_and_document() -> None:
    made = hit(
        embedding=EmbeddingSpec(model_id="m", fingerprint="f", dim=2),
        doc_path="폴더/a b.md",
        source_id="s",
        source_type="wiki",
        trust_level="secondary",
        repo="r",
        lang="ko",
        indexed_at=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
    )

    assert made == SearchHit(
        rank=11,
        score=0.5,
        score_kind="convex",
        chunk_id=ChunkId("1e" * 16),
        doc_id=DocId("0f" * 16),
        doc_path="폴더/a b.md",
        heading_path=("가", "나"),
        section_label="나",
        snippet="",
        snippet_full_text=False,
        citation=LineCitation(path="폴더/a b.md", uri="폴더/a%20b.md#L3-L9", start=3, end=9, section="나"),
        retrieval=RETRIEVAL,
        index_version=INDEX_VERSION,
        embedding_model="m",
        chunker_version="c1",
        indexed_at="2026-02-03T04:05:06Z",
        stale=False,
        source_id="s",
        source_type="wiki",
        trust_level="secondary",
        repo="r",
        code_lang=None,
        lang="ko",
    )
    assert made.score == made.retrieval.fusion_score


def test_without_vectors_there_is_no_embedding_model() -> None:
    assert hit().embedding_model is None


def test_the_section_label_is_the_symbol_or_the_last_heading_or_nothing() -> None:
    assert section_label(chunk(symbol="main", heading_path=("a",))) == "main"
    assert section_label(chunk(heading_path=("a", "b"))) == "b"
    assert section_label(chunk()) is None


def test_a_text_is_cited_by_lines_with_its_section() -> None:
    cited = citation_of(chunk(heading_path=("a", "b")), document(doc_path="x/y.md"))

    assert cited == LineCitation(path="x/y.md", uri="x/y.md#L3-L9", start=3, end=9, section="b")
    assert to_json(cited) == (
        b'{"schema_version":"citation.v1","kind":"line","path":"x/y.md","uri":"x/y.md#L3-L9",'
        b'"start":3,"end":9,"section":"b"}'
    )


def test_a_single_line_is_cited_without_a_range() -> None:
    cited = citation_of(chunk(line_start=1, line_end=1), document())

    assert cited == LineCitation(path="a.md", uri="a.md#L1", start=1, end=1, section=None)


def test_code_is_cited_by_lines_with_symbol_and_language() -> None:
    cited = citation_of(chunk(symbol="run"), document(doc_path="a.py", media="code", code_lang="python", lang=None))

    assert cited == CodeCitation(path="a.py", uri="a.py#L3-L9", line_start=3, line_end=9, symbol="run", lang="python")


def test_a_paged_file_is_cited_by_page() -> None:
    cited = citation_of(chunk(page=4, heading_path=("a",)), document(doc_path="a.pdf", media="pdf"))

    assert cited == PageCitation(path="a.pdf", uri="a.pdf#page=4", page=4, section="a")


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b.md", "a%20b.md#L3-L9"),
        ("C#/100%.md", "C%23/100%25.md#L3-L9"),
        ("what?.md", "what%3F.md#L3-L9"),
        ("한글/문서.md", "한글/문서.md#L3-L9"),
        ("a\nb\x1b[1m.md", "a%0Ab%1B[1m.md#L3-L9"),
        ('"<a>\\^`{|}.md', "%22%3Ca%3E%5C%5E%60%7B%7C%7D.md#L3-L9"),
    ],
)
def test_only_what_breaks_a_uri_is_percent_encoded_and_only_there(path: str, uri: str) -> None:
    cited = citation_of(chunk(), document(doc_path=path))

    assert cited.path == path
    assert cited.uri == uri


# A colon before the first slash would make a scheme of what stands before it; it is left readable all the same.
segments = st.text(st.characters(codec="utf-8", exclude_characters="/\0:"), min_size=1).filter(
    lambda name: name not in (".", "..")
)


@given(st.lists(segments, min_size=1, max_size=4).map("/".join))
def test_a_uri_leads_back_to_the_path_and_the_lines(path: str) -> None:
    parts = urlsplit(citation_of(chunk(), document(doc_path=path)).uri)

    assert unquote(parts.path, errors="strict") == path
    assert parts.fragment == "L3-L9"
    assert not parts.query


@pytest.mark.parametrize(
    ("age", "days", "stale"),
    [
        (timedelta(days=30), 30, False),
        (timedelta(days=30, microseconds=1), 30, True),
        (timedelta(days=29), 30, False),
        (timedelta(days=4000), 0, False),
        (timedelta(days=-1), 1, False),
        (timedelta(days=2), 1, True),
    ],
)
def test_a_hit_is_stale_when_its_document_is_older_than_the_threshold(age: timedelta, days: int, stale: bool) -> None:
    assert hit(stale_days=days, indexed_at=NOW - age).stale is stale
