"""Text as it stands in the source: a chunk with its neighbours, a document, or a span of one.

A text is cut at its lines, or at its pages where it has pages. Lines keep their ends, so a document that is read piece
by piece is, put together, the document.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypedDict

from kebab_stream.errors import InvalidInputError, SpanNotSupportedError
from kebab_stream.index.rows import PAGE_END
from kebab_stream.index.store import STORE_FILE, Store, store_corrupt
from kebab_stream.model import Chunk, Citation, Document
from kebab_stream.render import to_json
from kebab_stream.reports.lookup import FetchResult, NeighbourChunk
from kebab_stream.single.budget import max_chars_of
from kebab_stream.single.facts import Facts, facts_of
from kebab_stream.single.hits import citation_of, line_citation, page_citation, section_label
from kebab_stream.single.locate import Lines, OnPage, Span, chunk_at, find_chunk, find_document, lines, uri_parts
from kebab_stream.single.settings import SearchSettings
from kebab_stream.single.snippet import FLOOR_CHARS
from kebab_stream.single.validate import shown, whole_number

_PAGED_MEDIA = ("pdf",)
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def fetch_chunk(
    store: Store, chunk_id: str, context: int = 0, *, settings: SearchSettings, now: datetime
) -> FetchResult:
    """A chunk as it is indexed, with up to `context` chunks before it and after it, in document order.

    Raises:
        ChunkNotFoundError: no chunk has this id.
        InvalidInputError: `context` is out of range.
    """
    whole_number("context", context)
    doc_id, ordinal = find_chunk(store, chunk_id)
    document = find_document(store, doc_id)
    chunks = store.chunks_in(doc_id, ordinal - context, ordinal + context)
    chunk = next(each for each in chunks if each.ordinal == ordinal)
    paged = is_paged(document)
    return FetchResult(
        **facts_of(document, settings, now),
        kind="chunk",
        citation=citation_of(chunk, document),
        heading_path=chunk.heading_path,
        text=chunk.text,
        line_start=None if paged else chunk.line_start,
        line_end=None if paged else chunk.line_end,
        page=chunk.page,
        **_totals(document, _parts(store, document)),
        truncated=False,
        next_line=None,
        next_page=None,
        hint=None,
        chunk_id=chunk.chunk_id,
        before=tuple(_neighbour(each, document) for each in chunks if each.ordinal < ordinal),
        after=tuple(_neighbour(each, document) for each in chunks if each.ordinal > ordinal),
    )


def fetch_document(
    store: Store,
    doc: str,
    *,
    source: str | None = None,
    max_tokens: int | None = None,
    settings: SearchSettings,
    now: datetime,
) -> FetchResult:
    """A document as it was read, whole or as much of it as the budget holds.

    Args:
        doc: doc_id or doc_path.
        source: the source_id, where several sources have the path.
        max_tokens: budget for the JSON of the answer.

    Raises:
        DocNotFoundError: there is no such document.
        InvalidInputError: a value cannot be used.
    """
    max_chars = _max_chars(max_tokens, settings)
    document = find_document(store, doc, source)
    parts = _parts(store, document)
    return _fitted(_Passage("doc", document, facts_of(document, settings, now), parts, 1, len(parts), None), max_chars)


def fetch_span(
    store: Store,
    doc: str,
    start: int | None = None,
    end: int | None = None,
    *,
    source: str | None = None,
    max_tokens: int | None = None,
    settings: SearchSettings,
    now: datetime,
) -> FetchResult:
    """Lines `start` to `end` of a document or, without these, what the `citation.uri` in place of `doc` names.

    A span beyond the end gives what there is, maybe nothing.

    Raises:
        DocNotFoundError: there is no such document.
        SpanNotSupportedError: lines of a paged document, or a page of one that has none.
        InvalidInputError: a value cannot be used.
    """
    max_chars = _max_chars(max_tokens, settings)
    if start is None and end is None:
        doc, span = uri_parts(doc)
    elif start is None or end is None:
        key = "start" if start is None else "end"
        raise InvalidInputError(f"{key} is missing", "a span is a start and an end, or a citation.uri", {"key": key})
    else:
        span = lines(start, end)
    document = find_document(store, doc, source)
    _check_kind(document, span)
    parts = _parts(store, document)
    first, last = (span.start, span.end) if isinstance(span, Lines) else (span.page, span.page)
    place = chunk_at(store.chunks_in(document.doc_id), span)
    passage = _Passage("span", document, facts_of(document, settings, now), parts, first, min(last, len(parts)), place)
    return _fitted(passage, max_chars)


def is_paged(document: Document) -> bool:
    """Whether a document has pages instead of lines."""
    return document.media in _PAGED_MEDIA


@dataclass(frozen=True, slots=True)
class _Passage:
    """Some of the lines or pages of a document."""

    kind: Literal["doc", "span"]
    document: Document
    facts: Facts
    parts: Sequence[str]
    """All lines, with their ends, or all pages."""
    first: int
    """From 1; may lie beyond the end."""
    last: int
    """Inclusive; less than `first` where there is nothing."""
    place: Chunk | None
    """The chunk that the passage begins in."""

    @property
    def count(self) -> int:
        """How many lines or pages it has."""
        return max(0, self.last - self.first + 1)

    def cut(self, count: int) -> FetchResult:
        """The first lines or pages of it."""
        paged = is_paged(self.document)
        last = self.first + count - 1
        following = last + 1 if count < self.count else None
        return FetchResult(
            **self.facts,
            kind=self.kind,
            citation=self._citation(last) if count else None,
            heading_path=self.place.heading_path if self.place and count else (),
            text=(PAGE_END if paged else "").join(self.parts[self.first - 1 : last]),
            line_start=self.first if count and not paged else None,
            line_end=last if count and not paged else None,
            page=self.first if paged and self.kind == "span" else None,
            **_totals(self.document, self.parts),
            truncated=following is not None,
            next_line=None if paged else following,
            next_page=following if paged else None,
            hint=None,
            chunk_id=None,
            before=(),
            after=(),
        )

    def _citation(self, last: int) -> Citation:
        section = section_label(self.place) if self.place else None
        if is_paged(self.document):
            return page_citation(self.document, self.first, section)
        return line_citation(self.document, self.first, last, section, self.place.symbol if self.place else None)


def _fitted(passage: _Passage, max_chars: float | None) -> FetchResult:
    """As many lines or pages as fit; of a first one that does not fit, as much of its text as does."""
    whole = passage.cut(passage.count)
    if max_chars is None or not passage.count or length(whole) <= max_chars:
        return whole
    count = bisect_right(range(1, passage.count), max_chars, key=lambda count: length(passage.cut(count)))
    if count:
        return passage.cut(count)
    return _cut_inside(passage, max_chars)


def _cut_inside(passage: _Passage, max_chars: float) -> FetchResult:
    """The first line or page, or as much of it as fits."""
    one = passage.cut(1)
    what = "page" if is_paged(passage.document) else "line"
    hint = f"{what} {passage.first} is longer than max_tokens allows and was cut: raise it, or fetch the chunks of it"
    cut = replace(one, truncated=True, hint=hint)
    lengths = range(FLOOR_CHARS, len(one.text))
    fitting = bisect_right(lengths, max_chars, key=lambda chars: length(replace(cut, text=one.text[:chars])))
    kept = FLOOR_CHARS + max(0, fitting - 1)
    return one if kept >= len(one.text) else replace(cut, text=one.text[:kept])


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, which are those that the parsers know."""
    return _LINE.findall(text)


def length(result: FetchResult) -> int:
    """What a budget counts: code points of the answer as it is written."""
    return len(to_json(result).decode("utf-8"))


def _max_chars(max_tokens: int | None, settings: SearchSettings) -> float | None:
    return max_chars_of(None if max_tokens is None else whole_number("max_tokens", max_tokens), settings)


def _check_kind(document: Document, span: Span) -> None:
    """Refuse lines of a paged document, and pages of any other."""
    if is_paged(document) and isinstance(span, Lines):
        raise SpanNotSupportedError(
            f"{shown(document.doc_path)} has pages, not lines",
            f"fetch a page with {shown(page_citation(document, 1, None).uri)}",
            {"doc_path": document.doc_path},
        )
    if not is_paged(document) and isinstance(span, OnPage):
        raise SpanNotSupportedError(
            f"{shown(document.doc_path)} has lines, not pages",
            f"fetch lines with {shown(line_citation(document, 1, 20, None, None).uri)}",
            {"doc_path": document.doc_path},
        )


class _Totals(TypedDict):
    total_lines: int | None
    total_pages: int | None


def _totals(document: Document, parts: Sequence[str]) -> _Totals:
    if is_paged(document):
        return _Totals(total_lines=None, total_pages=len(parts))
    return _Totals(total_lines=len(parts), total_pages=None)


def _parts(store: Store, document: Document) -> Sequence[str]:
    text = store.text_of(document.doc_id)
    if text is None:
        raise store_corrupt(Path(STORE_FILE), f"the text of {document.doc_path} is missing")
    return text.split(PAGE_END) if is_paged(document) else lines_of(text)


def _neighbour(chunk: Chunk, document: Document) -> NeighbourChunk:
    return NeighbourChunk(
        chunk_id=chunk.chunk_id,
        ordinal=chunk.ordinal,
        heading_path=chunk.heading_path,
        citation=citation_of(chunk, document),
        text=chunk.text,
    )
