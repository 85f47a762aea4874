"""Adam for a table of which a step touches few rows.

Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization", in the lazy form of `torch.optim.SparseAdam`: rows
without a gradient keep their moments, and the correction of the bias counts all steps.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

DECAYS: Final = (0.9, 0.999)
EPSILON: Final = 1e-8


class SparseAdam:
    """Changes `rows` of shape (vocabulary, dim) in place."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        self.rows = rows
        self._means = np.zeros_like(rows)
        self._squares = np.zeros_like(rows)
        self._steps = 0

    def step(self, ids: NDArray[np.int64], gradients: NDArray[np.float32], *, rate: float) -> None:
        """One step down, for distinct rows `ids` with `gradients` of shape (len(ids), dim)."""
        self._steps += 1
        means, squares = self._means[ids], self._squares[ids]
        means += (gradients - means) * np.float32(1 - DECAYS[0])
        squares += (gradients * gradients - squares) * np.float32(1 - DECAYS[1])
        self._means[ids], self._squares[ids] = means, squares
        corrections = [1 - decay**self._steps for decay in DECAYS]
        size = np.float32(rate * corrections[1] ** 0.5 / corrections[0])
        self.rows[ids] -= size * means / (np.sqrt(squares) + np.float32(EPSILON))


def summed(
    ids: Sequence[NDArray[np.int64]], gradients: Sequence[NDArray[np.float32]], lengths: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Gradients of bags → distinct row numbers, ascending, and the sum of the gradients of each.

    Args:
        ids: the row numbers of the bags of each part, one after the other.
        gradients: for each part (bags, dim), the gradient of every row in a bag.
        lengths: for each part (bags,), how many rows a bag holds.
    """
    numbers = np.concatenate(ids)
    owners = np.repeat(np.arange(sum(map(len, lengths))), np.concatenate(lengths))
    order = np.argsort(numbers, kind="stable")
    distinct, starts = np.unique(numbers[order], return_index=True)
    spread = np.concatenate(gradients).take(owners[order], axis=0)
    return distinct, np.add.reduceat(spread, starts, axis=0)
