"""What a hit is among the judged targets of a query: a document of a corpus, or whatever a golden file names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kebab_stream.analyser import fold
from kebab_stream.evaluate.corpus import SOURCE, path_of
from kebab_stream.index.store import Store
from kebab_stream.ingest.identity import doc_id_of
from kebab_stream.model import Chunk, ChunkId, DocId, SearchHit

_CHUNK_ID = re.compile(r"[0-9a-f]{32}")


class Targets(Protocol):
    """Relates hits to targets."""

    def of_hit(self, hit: SearchHit, grades: Mapping[str, int]) -> Sequence[str]:
        """The ids a hit counts as, at least one: those of judged targets that it is (part of), or its own."""

    def text_of(self, target: str) -> str | None:
        """The text of a target; None if the index does not have it."""


class CorpusTargets:
    """Targets are documents of a corpus, by their id there."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_hit(self, hit: SearchHit, grades: Mapping[str, int]) -> Sequence[str]:
        """The document."""
        return (id_of(hit.doc_path),)

    def text_of(self, target: str) -> str | None:
        """The whole text, its title included."""
        return self._store.text_of(doc_id_of(SOURCE.id, path_of(target)))


@dataclass(frozen=True, slots=True)
class _Place:
    """What a target of a golden file names, and the beginning of its text."""

    text: str
    chunk_id: str | None = None
    documents: Sequence[DocId] = ()
    heading: str | None = None

    def has(self, hit: SearchHit) -> bool:
        if self.chunk_id is not None:
            return hit.chunk_id == self.chunk_id
        return hit.doc_id in self.documents and (self.heading is None or _is_under(hit.heading_path, self.heading))


class GoldenTargets:
    """Targets are documents, sections (what is under their heading counts too), or chunks.

    They are named `path` or `SOURCE/path`, the same with `#heading`, or by the id of the chunk.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._places: dict[str, _Place | None] = {}
        self._documents: dict[str, list[DocId]] = {}
        with_source: dict[str, list[DocId]] = {}
        for document, _ in store.documents():
            self._documents.setdefault(document.doc_path, []).append(document.doc_id)
            with_source.setdefault(f"{document.source_id}/{document.doc_path}", []).append(document.doc_id)
        self._documents = with_source | self._documents  # as for `kebab fetch`, the path alone is tried first

    def of_hit(self, hit: SearchHit, grades: Mapping[str, int]) -> Sequence[str]:
        """The targets that the hit is in. Else its path, or its citation where not only whole documents are judged."""
        if found := [target for target in grades if (place := self._place(target)) and place.has(hit)]:
            return found
        return (hit.doc_path if all(target in self._documents for target in grades) else hit.citation.uri,)

    def text_of(self, target: str) -> str | None:
        """The text of the document, or of the first chunk of the section."""
        place = self._place(target)
        return place.text if place else None

    def _place(self, target: str) -> _Place | None:
        if target not in self._places:
            self._places[target] = self._found(target)
        return self._places[target]

    def _found(self, target: str) -> _Place | None:
        if target in self._documents:
            return _Place(self._store.text_of(self._documents[target][0]) or "", documents=self._documents[target])
        if _CHUNK_ID.fullmatch(target):
            return self._chunk(ChunkId(target))
        # A path may have a # in it, and so may a heading.
        for mark in re.finditer("#", target):
            path, heading = target[: mark.start()], fold(target[mark.end() :])
            documents = self._documents.get(path, ())
            for doc_id in documents:
                for chunk in self._store.chunks_in(doc_id):
                    if _is_under(chunk.heading_path, heading):
                        return _Place(chunk.text, documents=documents, heading=heading)
        return None

    def _chunk(self, chunk_id: ChunkId) -> _Place | None:
        place = self._store.place_of(chunk_id)
        if place is None:
            return None
        chunk: Chunk
        (chunk,) = self._store.chunks_in(place[0], place[1], place[1])
        return _Place(chunk.text, chunk_id=chunk_id)


def id_of(doc_path: str) -> str:
    """The entry that `path_of` made this path of."""
    return doc_path.removesuffix("/-.txt")


def _is_under(heading_path: Sequence[str], heading: str) -> bool:
    return any(fold(one) == heading for one in heading_path)
