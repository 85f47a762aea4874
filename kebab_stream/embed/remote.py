"""A model on a server: Ollama's `/api/embed`, or the `/embeddings` of an OpenAI-compatible one.

A server gives no promise of the same bits in every batch. What is indexed comes from the first answer and is kept; an
index that is built anew may differ in the last digit. The vector of a query is asked for with each page: where its
digits vary, hits whose scores are nearly the same may change places between two pages.
"""

import hashlib
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from kebab_stream.embed.profile import Profile
from kebab_stream.embed.settings import EmbeddingSettings
from kebab_stream.embed.vectors import encodable, unit_rows
from kebab_stream.errors import (
    EmbeddingFailedError,
    KebabError,
    ModelNotPulledError,
    ModelUnavailableError,
    ModelUnreachableError,
)
from kebab_stream.ndjson import Malformed, parse_json
from kebab_stream.render import to_json
from kebab_stream.servers.blocking import BlockingClient
from kebab_stream.servers.server import Interface, ModelServer, failure, refusal, server_from, unexpected

ALGORITHM: Final = "server.1"
"""Part of the fingerprint: goes up when the same model would be asked for other vectors."""

_PROBE: Final = "probe"
_ANSWER_BYTES: Final = 1 << 20
_LIST_BYTES: Final = 1 << 24
_NO_LIST: Final = (404, 405)
_VECTOR_BYTES: Final = 1 << 18
"""Of an answer, at most, and for each text in it: 8,000 numbers of 32 characters."""
_BUSY: Final = (429, 503)
_PAUSES_S: Final = (1.0, 2.0, 4.0, 8.0)
"""Before a busy server is asked again: what an ingest would lose is worth some patience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingServer(ModelServer):
    """A server and the embedding model on it."""

    OLLAMA_PATH: ClassVar[str] = "/api/embed"
    OPENAI_PATH: ClassVar[str] = "/embeddings"
    SECTION: ClassVar[str] = "models.embedding"

    def request(self, texts: Sequence[str]) -> bytes:
        """The body that asks for the vectors of some texts."""
        if self.provider == "ollama":
            return to_json({"model": self.model, "input": texts, "truncate": True})
        return to_json({"model": self.model, "input": texts, "encoding_format": "float"})


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RemoteEmbedder:
    """An `Embedder` that asks a server, over a connection that stays open; safe to use from several threads."""

    model_id: str
    fingerprint: str
    dim: int
    profile: Profile
    batch_size: int
    server: EmbeddingServer
    client: BlockingClient = field(repr=False)

    @property
    def score_floor(self) -> float:
        return self.profile.score_floor

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts: shape (len(texts), dim), rows of L2 norm 1, or of zeros where the server gives that.

        Raises:
            ModelUnavailableError, ModelTimeoutError: the server does not answer, or not in time.
            EmbeddingFailedError: what it answers are not the vectors.
        """
        rows = [np.zeros((0, self.dim), dtype=np.float32)]
        for start in range(0, len(texts), self.batch_size):
            batch = [self.profile.passage_prefix + text for text in texts[start : start + self.batch_size]]
            rows.append(self._vectors(batch, _PAUSES_S))
        return np.concatenate(rows)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a query: shape (dim,). Raises as `embed_passages`; a busy server is not asked again."""
        row: NDArray[np.float32] = self._vectors([self.profile.query_prefix + text], ())[0]
        return row

    def _vectors(self, texts: Sequence[str], pauses: Sequence[float]) -> NDArray[np.float32]:
        vectors = _vectors(self.client, self.server, texts, pauses)
        if vectors.shape[1] != self.dim:
            raise _no_vectors(self.server, f"{vectors.shape[1]} dimensions, and {self.dim} before")
        return vectors


def load_remote(
    provider: Interface, wanted: EmbeddingSettings, profile: Profile, environ: Mapping[str, str]
) -> RemoteEmbedder:
    """Ask the server for one vector, to see that it has the model, and how long its vectors are.

    The fingerprint is of the model's name, the prefixes and the dimension, and of Ollama's own checksum of the model.
    Other servers do not tell whether a name still means the same weights, and bits of a vector would not: they vary
    with load and hardware. The address has no part in it, so a model may move.

    Raises:
        ModelUnavailableError, ModelTimeoutError: the server does not answer, has no such model, or not in time.
        ConfigInvalidError: the variable of the key is not set, or holds no key.
        EmbeddingFailedError: what it answers is no vector.
    """
    server = server_from(EmbeddingServer, provider, wanted, environ)
    try:
        client = BlockingClient(server)
    except ModelUnreachableError as error:
        raise _unavailable(error) from error
    try:
        dim = _vectors(client, server, [_PROBE], ()).shape[1]
        version = _ollama_digest(client, server) if provider == "ollama" else ""
    except KebabError as error:
        client.close()
        if isinstance(error, ModelUnreachableError):
            raise _unavailable(error) from error
        raise
    identity = (ALGORITHM, provider, server.model, version, dim, profile.query_prefix, profile.passage_prefix)
    fingerprint = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
    embedder = RemoteEmbedder(server.model, fingerprint, dim, profile, wanted.batch_size, server, client)
    weakref.finalize(embedder, client.close)  # an embedder is kept as long as it is of use, and closed by nobody
    return embedder


def _ollama_digest(client: BlockingClient, server: EmbeddingServer) -> str:
    """The checksum of the model, as Ollama's list has it; empty where there is no such list, or the model not in it.

    A list that cannot be had just now is an error: without the checksum the model would count as another one.
    """
    url = server.endpoint.rstrip("/") + "/api/tags"
    status, body, location = client.exchange("GET", url, None, limit=_LIST_BYTES)
    if status in _NO_LIST:
        return ""
    if status != 200:
        raise refusal(server, status, body, location)
    value: Any = parse_json(body)
    name = server.model if ":" in server.model else f"{server.model}:latest"
    try:
        return next((str(each["digest"]) for each in value["models"] if name in (each["name"], each.get("model"))), "")
    except (AttributeError, TypeError, LookupError):
        raise unexpected(server, "no list of its models under /api/tags") from None


def _vectors(
    client: BlockingClient, server: EmbeddingServer, texts: Sequence[str], pauses: Sequence[float]
) -> NDArray[np.float32]:
    """One request: shape (len(texts), as the server has it)."""
    content = server.request([encodable(text) for text in texts])
    limit = _ANSWER_BYTES + _VECTOR_BYTES * len(texts)
    try:
        status, body, location = client.exchange("POST", server.url, content, limit=limit)
        for pause in pauses:
            if status not in _BUSY:
                break
            time.sleep(pause)
            status, body, location = client.exchange("POST", server.url, content, limit=limit)
        if status != 200:
            raise refusal(server, status, body, location, texts=texts)
        value = parse_json(body)
        if isinstance(value, Malformed):
            raise unexpected(server, value.problem)
        if isinstance(value, dict) and value.get("error"):
            raise failure(server, value, texts=texts)
    except (ModelUnreachableError, ModelNotPulledError) as error:
        raise _unavailable(error) from error
    return _rows(server, value, len(texts))


def _rows(server: EmbeddingServer, value: Any, count: int) -> NDArray[np.float32]:
    """The vectors in an answer, in the order of the texts."""
    try:
        vectors = value["embeddings"] if server.provider == "ollama" else _by_index(value["data"])
        if not {type(each) for vector in vectors for each in vector} <= {int, float}:
            raise _no_vectors(server, "vectors of what is no number")
        if len(vectors) != count:
            raise _no_vectors(server, f"{len(vectors)} vectors for {count} texts")
        rows = np.array(vectors, dtype=np.float64)
    except (AttributeError, TypeError, LookupError) as error:
        raise _no_vectors(server, "an object of another form") from error
    except (ValueError, OverflowError) as error:
        raise _no_vectors(server, "vectors of several lengths") from error
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise _no_vectors(server, "vectors without components")
    return unit_rows(rows)


def _by_index(data: Any) -> list[Any]:
    """OpenAI's list; each vector says for itself which text it is of."""
    places = [each.get("index", place) for place, each in enumerate(data)]
    if sorted(places) != list(range(len(data))):
        raise LookupError
    return [each["embedding"] for _, each in sorted(zip(places, data, strict=True), key=lambda pair: pair[0])]


# --- what can be wrong -----------------------------------------------------------------------------------


def _no_vectors(server: EmbeddingServer, problem: str) -> EmbeddingFailedError:
    return EmbeddingFailedError(
        f"{server.url} did not give the vectors that were asked for: {problem}",
        "check that models.embedding.model is an embedding model, and models.embedding.provider and endpoint",
        server.details(),
    )


def _unavailable(error: KebabError) -> ModelUnavailableError:
    """The error of a server as one of the embedding model."""
    return ModelUnavailableError(error.message, error.hint, error.details)
