"""What all models of others have in common: texts that can be sent, vectors of length 1."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kebab_stream.errors import EmbeddingFailedError


def encodable(text: str) -> str:
    """The text with `?` for lone surrogates, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def unit_rows(vectors: ArrayLike) -> NDArray[np.float32]:
    """Rows of L2 norm 1, those of zeros left as they are: shape (n, dim).

    Raises:
        EmbeddingFailedError: a component is not finite, or too large to be squared.
    """
    wide = np.asarray(vectors, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    if not np.isfinite(norms).all():
        raise EmbeddingFailedError("the embedding model returned a vector with components that are not finite")
    norms[norms == 0] = 1.0
    rows: NDArray[np.float32] = (wide / norms).astype(np.float32)
    return rows
