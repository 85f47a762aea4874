"""Which document, and which part of it: ids, paths, and the `citation.uri` of a hit."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice, pairwise
from unicodedata import normalize
from urllib.parse import unquote

from kebab_stream.errors import ChunkNotFoundError, DocNotFoundError, InvalidInputError
from kebab_stream.index.store import Store
from kebab_stream.model import Chunk, ChunkId, DocId, Document
from kebab_stream.single.validate import refused, shown, unicode_text, whole_number

_ID = re.compile(r"[0-9a-f]{32}")
_NUMBER = "[0-9]{1,18}"
_URI = re.compile(rf"(.+)#(?:L({_NUMBER})(?:-L({_NUMBER}))?|page=({_NUMBER}))", re.DOTALL)
_MAX_CLOSEST = 3
_LIKELY = 20
"""Paths that are compared letter by letter with one that is not there."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file, from 1, both ends included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OnPage:
    """A page of a file, from 1."""

    page: int


Span = Lines | OnPage


def uri_parts(uri: str) -> tuple[str, Span]:
    """The document, by id or path, and the part of it that a `citation.uri` names.

    Raises:
        InvalidInputError: it is no such URI, or names lines that no file has.
    """
    match = _URI.fullmatch(_given("uri", uri))
    if match is None:
        raise refused("uri", uri)
    doc, start, end, page = match.groups()
    if page is None:
        return unquote(doc), lines(int(start), int(end or start))
    return unquote(doc), OnPage(whole_number("page", int(page)))


def lines(start: int, end: int) -> Lines:
    """The lines of a span. Raises InvalidInputError if no file has them."""
    whole_number("start", start)
    if whole_number("end", end) < start:
        raise refused("end", end, f"a whole number from {start}, where the span starts")
    return Lines(start, end)


def find_chunk(store: Store, chunk_id: str) -> tuple[DocId, int]:
    """The document of a chunk, and its ordinal there.

    Raises:
        ChunkNotFoundError: no chunk has this id.
        InvalidInputError: it is no text.
    """
    place = store.place_of(ChunkId(chunk_id)) if is_id(_given("chunk_id", chunk_id)) else None
    if place is not None:
        return place
    hint = "the hits of a search have a chunk_id; one that was good before may have gone with a change of its document"
    if is_id(chunk_id) and store.document(DocId(chunk_id)) is not None:
        hint = f"it is the id of a document: `kebab fetch doc {chunk_id}`"
    raise ChunkNotFoundError(f"no chunk has the id {shown(chunk_id)}", hint, {"chunk_id": chunk_id})


def find_document(store: Store, doc: str, source: str | None = None) -> Document:
    """The document of this doc_id, doc_path, or `source_id/doc_path`.

    Args:
        source: the source_id of the document, where a path is in several sources.

    Raises:
        DocNotFoundError: there is none; the hint names a path that is like it.
        InvalidInputError: several sources have the path and none was named, or a value is no text.
    """
    path = normalize("NFC", _given("doc", doc))
    wanted = None if source is None else normalize("NFC", _given("source", source))
    by_id = store.document(DocId(doc)) if is_id(doc) else None
    found = [by_id] if by_id else _at_path(store, path)
    matching = [document for document in found if wanted in (None, document.source_id)]
    if not matching:
        raise _not_found(store, doc, path, found)
    if len(matching) > 1:
        names = [document.source_id for document in matching]
        raise InvalidInputError(
            f"doc: {shown(doc)} is in several sources: {', '.join(names)}",
            f"say which one: {' or '.join(shown(f'{name}/{path}') for name in names)}",
            {"key": "doc", "value": shown(doc), "sources": names},
        )
    return matching[0]


def _at_path(store: Store, path: str) -> list[Document]:
    if found := [document for document, _ in store.documents("WHERE doc_path = ?", (path,))]:
        return found
    where = "WHERE source_id || '/' || doc_path = ?"
    return [document for document, _ in store.documents(where, (path,))]


def is_id(text: str) -> bool:
    """Whether a text looks like the id of a chunk or a document."""
    return _ID.fullmatch(text) is not None


def chunk_at(chunks: Iterable[Chunk], span: Span) -> Chunk | None:
    """The chunk that a span begins with or, if there is none, the first that has the span's first line."""
    first = None
    for chunk in chunks:
        if isinstance(span, OnPage):
            if chunk.page == span.page:
                return chunk
        elif chunk.line_start == span.start:
            return chunk
        elif chunk.line_start < span.start <= chunk.line_end:
            first = first or chunk
    return first


def _given(key: str, text: str) -> str:
    """The text as given, unless it is blank, no valid Unicode or no text at all."""
    if not isinstance(text, str) or not text.strip():
        raise refused(key, text)
    return unicode_text(key, text)


def _not_found(store: Store, doc: str, path: str, elsewhere: list[Document]) -> DocNotFoundError:
    closest = [] if elsewhere or is_id(doc) else _closest(store, path)
    if elsewhere:
        hint = f"it is in {', '.join(document.source_id for document in elsewhere)}"
    elif is_id(doc) and store.place_of(ChunkId(doc)) is not None:
        hint = f"it is the id of a chunk: `kebab fetch chunk {doc}`"
    elif closest:
        hint = f"the closest doc_path is {', or '.join(map(shown, closest))}"
    else:
        hint = "`kebab list` shows the documents"
    return DocNotFoundError(f"no document has the id or path {shown(doc)}", hint, {"doc": doc, "closest": closest})


def _closest(store: Store, path: str) -> list[str]:
    """Paths that may be meant: those with this file name, or else the one spelled most alike."""
    paths = [doc_path for (doc_path,) in store.rows("SELECT DISTINCT doc_path FROM documents ORDER BY doc_path")]
    name = _name(path)
    if same := list(islice((each for each in paths if _name(each) == name), _MAX_CLOSEST)):
        return same
    from difflib import get_close_matches  # late: only mistakes need it

    # It takes 6 s for 100,000 paths; those with most pairs of letters in common are found in 0.4 s.
    pairs = _pairs(path)
    likely = nlargest(_LIKELY, paths, key=lambda each: len(pairs & _pairs(each)) / (len(each) + len(path)))
    return get_close_matches(path, likely, 1)


def _pairs(text: str) -> set[str]:
    return {first + second for first, second in pairwise(text)}


def _name(path: str) -> str:
    return path.rpartition("/")[2].casefold()
