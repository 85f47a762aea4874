"""Ids that are the same on every machine: of a document by its place, of a chunk by its document and its text."""

import hashlib
from collections import Counter

from kebab_stream.model import ChunkId, DocId

_ID_BYTES = 16


def doc_id_of(source_id: str, doc_path: str) -> DocId:
    """The id of the document at a path of a source."""
    return DocId(_digest(source_id, doc_path))


class ChunkIds:
    """Gives out the chunk ids of one document: equal texts get different ids by how often they came before."""

    def __init__(self, doc_id: DocId) -> None:
        self._doc_id = doc_id
        self._seen: Counter[str] = Counter()

    def next(self, text: str) -> ChunkId:
        """The id of the next chunk, which has this text."""
        ordinal = self._seen[text]
        self._seen[text] += 1
        return ChunkId(_digest(self._doc_id, text, str(ordinal)))


def _digest(*parts: str) -> str:
    hasher = hashlib.blake2b(digest_size=_ID_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        # The length before each part keeps ("ab", "c") and ("a", "bc") apart.
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.hexdigest()
