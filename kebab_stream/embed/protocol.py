"""What an embedder is: texts in, unit vectors out."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors whose inner product says how alike they are.

    The bundled model gives the same text the same bits on every machine, so that an index can be compared byte by byte
    with a rebuilt one. An ONNX model gives them in whatever batch, on one machine; a server promises nothing like that.
    """

    @property
    def model_id(self) -> str:
        """The name that hits show, for example `static-koen-256`."""

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change with the weights: vectors of two fingerprints must not be compared."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    @property
    def score_floor(self) -> float:
        """Cosine of texts that have nothing in common, in [0, 1): it counts as 0 in the fusion."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts to be found: shape (len(texts), dim), rows of L2 norm 1, or of zeros where nothing is known.

        Raises:
            EmbeddingFailedError: the model cannot embed one of the texts.
            ModelUnavailableError, ModelTimeoutError: its server does not answer.
        """

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a text to search with: shape (dim,), L2 norm 1, or zeros where nothing is known.

        Raises:
            EmbeddingFailedError: the model cannot embed the text.
            ModelUnavailableError, ModelTimeoutError: its server does not answer.
        """
