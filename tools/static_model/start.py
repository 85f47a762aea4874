"""Token vectors before training, and the teacher's vectors in as many dimensions.

A token starts as the teacher's vector of its text, cut to the principal axes of the teacher's vectors, with a weight
that falls with its frequency (Arora, Liang and Ma 2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings";
as in model2vec, https://github.com/MinishLab/model2vec).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kebab_stream.embed.static import UNKNOWN_TOKEN

AXES_SAMPLE: Final = 20_000
SIF_SCALE: Final = 1e-3
UNSEEN_WEIGHT: Final = 0.7
"""Of a token that no pair holds: nothing says that it is rare in text, only that it is rare here."""


def principal_axes(taught: NDArray[np.float32], dim: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """(teacher dim, dim): the first right singular vectors of at most AXES_SAMPLE rows, the mean of all removed."""
    centred = taught - taught.mean(axis=0)
    sample = centred[rng.permutation(len(taught))[:AXES_SAMPLE]]
    return np.asarray(np.linalg.svd(sample, full_matrices=False)[2][:dim].T)


def targets(taught: NDArray[np.float32], axes: NDArray[np.float32]) -> NDArray[np.float32]:
    """The teacher's vectors on the axes, mean removed: (texts, dim), L2 norm 1."""
    projected = ((taught - taught.mean(axis=0)) @ axes).astype(np.float32)
    return np.asarray(projected / np.maximum(np.linalg.norm(projected, axis=1, keepdims=True), np.float32(1e-12)))


def token_vectors(
    taught_tokens: NDArray[np.float32], axes: NDArray[np.float32], seen: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Start of the training: (vocabulary, dim).

    Row t has the length a / (a + p(t)) with a = SIF_SCALE and p(t) = (seen[t] + 1/2) / Σ seen, times UNSEEN_WEIGHT
    where seen[t] = 0; the row of the unknown token is zeros.

    Args:
        taught_tokens: (vocabulary, teacher dim), the teacher's vector of each token's text.
        seen: (vocabulary,), how often the pairs hold each token.
    """
    vectors = (taught_tokens - taught_tokens.mean(axis=0)) @ axes
    shares = (seen + 0.5) / seen.sum()
    lengths = SIF_SCALE / (SIF_SCALE + shares) * np.where(seen == 0, UNSEEN_WEIGHT, 1)
    vectors *= (lengths / np.maximum(np.linalg.norm(vectors, axis=1), 1e-12))[:, np.newaxis]
    vectors[UNKNOWN_TOKEN] = 0
    return np.asarray(vectors, dtype=np.float32)
