"""Small corpora for tests: texts to draw, folders to write, indexes made by the real ingest."""

import functools
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
from hypothesis import strategies as st

from kebab_stream.config import Config, Embedding, EmbeddingProvider, Models, Search, Storage
from kebab_stream.ingest import IngestRequest, ingest
from kebab_stream.model import Chunk, ChunkId, DocId, Document

KOREAN = "검색 색인은 문서를 조각으로 나눈다 커피를 내리는 방법 백업 절차와 복구 키를 교체한다 하이브리드"
ENGLISH = "search the index splits documents into chunks brewing coffee backup runbook rotate keys getUserName"
MIXED = "kubectl로 배포한다 BM25와 벡터 v2.1 日本語の検索 snake_case_name utf8 café 全文検索 (coffee) [커피]"

words = st.sampled_from(f"{KOREAN} {ENGLISH} {MIXED}".split())
"""Words that queries and documents share, so that searches find something."""
prose = (st.lists(words, min_size=1, max_size=9) | st.lists(words, min_size=20, max_size=60)).map(" ".join)

_PLAIN = "a b Z 1 _ . ( ) \" ' 가 나 커피 中 文 か ー é ß ☕"
GRAPHEMES = (
    *_PLAIN.split(),
    " ",
    "\n",
    "\r\n",
    "\t",
    "\u3000",
    "👩\u200d👩\u200d👧",  # joined by ZWJ
    "🇰🇷",
    "🏴\U000e0067\U000e0062\U000e007f",
    "👍🏽",
    "1\ufe0f\u20e3",
    "e\u0301\u0323",
    "か\u3099",
    unicodedata.normalize("NFD", "각"),
    "नि",
    "ก็",
    "\u0600a",  # a mark that comes before its letter
    "\u200d",
    "\u0301",
)
"""What people see as one character, and pieces that join whatever stands beside them."""
odd_text = st.lists(st.sampled_from(GRAPHEMES), max_size=20).map("".join)
long_odd_text = st.lists(st.sampled_from(GRAPHEMES), min_size=40, max_size=120).map("".join)


def config_of(data_dir: Path, *, provider: EmbeddingProvider = "static", search: Search | None = None) -> Config:
    """Settings for an index in a folder; provider `none` is the quickest, as no model is loaded."""
    return Config(
        storage=Storage(data_dir=data_dir),
        models=Models(embedding=Embedding(provider=provider)),
        search=search or Search(),
    )


def ingest_files(config: Config, root: Path, files: Mapping[str, str]) -> None:
    """Write texts under a folder and ingest it, as a source named after it.

    Args:
        files: path below the root to text.
    """
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    anyio.run(functools.partial(ingest, config, IngestRequest(paths=[root]), lambda *_: None))


def document(**changes: Any) -> Document:
    """A document with nothing special about it, but for the changes."""
    plain = Document(
        doc_id=DocId("0f" * 16),
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
        aliases=(),
        created=None,
        modified=None,
        content_hash="",
        size=1,
        mtime_ns=0,
        signature="",
        chunker_version="c1",
        indexed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return replace(plain, **changes)


def chunk(**changes: Any) -> Chunk:
    """A chunk with nothing special about it, but for the changes."""
    plain = Chunk(
        chunk_id=ChunkId("1e" * 16),
        doc_id=DocId("0f" * 16),
        ordinal=0,
        text="text",
        heading_path=(),
        symbol=None,
        line_start=3,
        line_end=9,
        page=None,
    )
    return replace(plain, **changes)
