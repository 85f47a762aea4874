"""Cursors: where to go on, in which revision of the corpus, of which query. Opaque to callers."""

import binascii
import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, replace

import orjson

from kebab_stream.errors import StaleCursorError
from kebab_stream.model import SearchQuery
from kebab_stream.single.settings import SearchSettings, VectorPath

_SHOWN_CHARS = 80
"""A message repeats no more of what a caller made up."""


def fingerprint(
    query: SearchQuery,
    method: str,
    settings: SearchSettings,
    vector_path: VectorPath = "exact",
    reranker: str | None = None,
    score_floor: float | None = None,
) -> str:
    """What must not change between pages: query, mode, filters and ranking settings, but not the page size.

    Args:
        method: how the query is really answered (hybrid without vectors is lexical).
        vector_path: how its nearest vectors are really looked for: the graph may miss some.
        reranker: the fingerprint of the model that orders the best hits anew, if one does.
        score_floor: the cosine that counts as 0 in the fusion, if one does.
    """
    ranking = (
        settings.fusion, settings.fusion_weight, settings.rrf_k, settings.candidate_depth, vector_path, reranker,
        score_floor,
    )  # fmt: skip
    text = ascii((replace(query, k=None), method, ranking))
    return hashlib.blake2b(text.encode("ascii"), digest_size=8).hexdigest()


def encode_cursor(offset: int, corpus_revision: str, query_fingerprint: str) -> str:
    """A cursor that goes on after `offset` returned hits."""
    fields = {"offset": offset, "corpus_revision": corpus_revision, "query": query_fingerprint}
    return _to_base64(orjson.dumps(fields))


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page of some query begins."""

    offset: int
    query_fingerprint: str

    def offset_in(self, query_fingerprint: str) -> int:
        """The offset. Raises StaleCursorError: it is one of another query."""
        if self.query_fingerprint != query_fingerprint:
            raise StaleCursorError(
                "query", "cursor was issued for another query, mode, filter, per_doc, rerank or ranking setting"
            )
        return self.offset


def decode_cursor(cursor: str, corpus_revision: str) -> Position:
    """The position that a cursor of this revision stands for; of which query it is, is still to be checked.

    Raises:
        StaleCursorError: it is malformed, or of another revision; checked in this order.
    """
    revision, position = _parse(cursor)
    if revision != corpus_revision:
        raise StaleCursorError(
            "revision",
            f"cursor was issued against corpus_revision {revision[:_SHOWN_CHARS]!r}; current revision is"
            f" {corpus_revision!r}. Re-issue search to obtain a fresh cursor.",
        )
    return position


def _parse(cursor: str) -> tuple[str, Position]:
    malformed = StaleCursorError("malformed", f"cursor {cursor[:_SHOWN_CHARS]!r} is not one that this program issued")
    try:
        fields = orjson.loads(_from_base64(cursor))
    except (ValueError, binascii.Error):  # orjson's error is a ValueError
        raise malformed from None
    match fields:
        case {"offset": bool()}:
            raise malformed
        case {"offset": int(offset), "corpus_revision": str(revision), "query": str(query)} if offset >= 0:
            return revision, Position(offset, query)
    raise malformed


def _to_base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _from_base64(text: str) -> bytes:
    """The bytes of unpadded base64url. Raises ValueError for any other text."""
    data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    if _to_base64(data) != text:  # the decoder skips characters that do not belong, and bits that are left over
        raise ValueError("no base64url")
    return data
