"""What models have in common: texts that they can take, vectors of length 1."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kebab_stream.errors import EmbeddingFailedError


def encodable(text: str) -> str:
    """The text with `?` for lone surrogates, which no tokenizer takes; the static model has no vector for that."""
    return text.encode("utf-8", "replace").decode("utf-8")


def unit_rows(vectors: ArrayLike) -> NDArray[np.float32]:
    """Rows of L2 norm 1, those of zeros left as they are: shape (n, dim).

    Raises:
        EmbeddingFailedError: a component is not finite.
    """
    wide = np.asarray(vectors, dtype=np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True, initial=0.0)
    if not np.isfinite(largest).all():
        raise EmbeddingFailedError("the embedding model returned a vector with components that are not finite")
    # By a power of two, which changes no digit: the squares of the largest and the smallest numbers are none.
    wide = np.ldexp(wide, -np.frexp(largest)[1])
    norms = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    norms[norms == 0] = 1.0
    rows: NDArray[np.float32] = (wide / norms).astype(np.float32)
    return rows
