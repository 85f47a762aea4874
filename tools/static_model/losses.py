"""The two losses, each with its gradient written out."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

TEMPERATURE: Final = 0.05
MASKED: Final = -1e4


def contrast(
    first: NDArray[np.float32], second: NDArray[np.float32], equal: NDArray[np.bool_]
) -> tuple[float, NDArray[np.float32], NDArray[np.float32]]:
    """Symmetric InfoNCE (van den Oord et al. 2018; both directions as in Radford et al. 2021), in-batch negatives.

        S = first · secondᵀ / TEMPERATURE,  loss = ½ · mean_i (−ln softmax_j(S_ij)_i − ln softmax_j(S_ji)_i)
        ∂loss/∂S = (softmax over rows + softmax over columns − 2 · identity) / (2 n)

    Args:
        first, second: (n, dim) unit vectors, row i of one belongs to row i of the other.
        equal: (n, n), pairs that share a text and so are no negatives of each other; the diagonal is left out.

    Returns:
        The loss and its gradients at `first` and `second`.
    """
    n = len(first)
    scores = first @ second.T / np.float32(TEMPERATURE)
    scores[equal & ~np.eye(n, dtype=bool)] = MASKED
    rows, columns = _log_softmax(scores), _log_softmax(scores.T).T
    loss = -float(np.mean(rows.diagonal()) + np.mean(columns.diagonal())) / 2
    slope = np.exp(rows) + np.exp(columns) - 2 * np.eye(n, dtype=np.float32)
    slope = np.asarray(slope / (2 * n * TEMPERATURE), dtype=np.float32)
    return loss, slope @ second, slope.T @ first


def regression(units: NDArray[np.float32], targets: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
    """1 − mean cosine of (n, dim) unit vectors with their targets, and its gradient at `units`."""
    return 1 - float(np.mean(np.einsum("bd,bd->b", units, targets))), -targets / np.float32(len(units))


def _log_softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Along rows; the greatest score is taken off first, so nothing overflows."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
