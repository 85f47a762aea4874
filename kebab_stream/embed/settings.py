"""What says which embedder is wanted, and how it is used, as the configuration gives it."""

from pathlib import Path
from typing import Protocol

from kebab_stream.embed.static import BUNDLED_MODEL
from kebab_stream.model import EmbeddingProvider, Pooling


class EmbeddingSettings(Protocol):
    """The settings of an embedder; `config.Embedding` has them, with defaults and ranges."""

    @property
    def provider(self) -> EmbeddingProvider:
        """Who turns texts into vectors."""

    @property
    def model(self) -> str:
        """The name that hits show: of the bundled model, from fastembed's list, or of a model on the server."""

    @property
    def model_path(self) -> Path | None:
        """Folder with the model's files."""

    @property
    def pooling(self) -> Pooling:
        """How a model in a folder makes one vector of those of the tokens."""

    @property
    def query_prefix(self) -> str:
        """Put before each query; `auto` and `none` have a meaning of their own."""

    @property
    def passage_prefix(self) -> str:
        """Put before each passage; `auto` and `none` have a meaning of their own."""

    @property
    def score_floor(self) -> float:
        """Cosine that counts as 0 in the fusion; -1 takes the model's own."""

    @property
    def batch_size(self) -> int:
        """Texts in one request to a server."""

    @property
    def threads(self) -> int:
        """Threads of an ONNX model; 0 lets its library choose."""

    @property
    def endpoint(self) -> str | None:
        """Address of the server."""

    @property
    def api_key_env(self) -> str | None:
        """The environment variable that holds the server's key."""

    @property
    def timeout_s(self) -> float:
        """Seconds that a request to the server may take."""


def model_id_of(wanted: EmbeddingSettings) -> str:
    """The name that hits show: a model in a folder is called like the folder, unless it is given a name."""
    if wanted.model_path is None or wanted.model != BUNDLED_MODEL:
        return wanted.model
    return wanted.model_path.resolve().name
