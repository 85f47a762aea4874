"""The best of many scores: rounding, the tie rule and the cut, the same for both retrievers."""

import numpy as np
from numpy.typing import NDArray

SCORE_DECIMALS = 6
"""Scores are written with this many decimals, and compared as written."""


def rounded(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores as they are written and compared; never -0.0."""
    exact: NDArray[np.float64] = np.asarray(scores, dtype=np.float64)
    return np.round(exact, SCORE_DECIMALS) + 0.0


def top(scores: NDArray[np.float64], limit: int, eligible: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Find the best chunks.

    Args:
        scores: (n,), one score per chunk number, rounded; no NaN.
        limit: the most chunks to return; 0 or less gives none.
        eligible: (n,), False excludes the chunk before the cut.

    Returns:
        Chunk numbers: score descending, then number ascending, also at the cut.
    """
    numbers = np.flatnonzero(eligible)
    values = scores[numbers]
    if 0 < limit < len(numbers):
        near = values >= _reached_by(limit, values)
        numbers, values = numbers[near], values[near]
    return numbers[np.argsort(-values, kind="stable")[: max(limit, 0)]]  # numbers ascend, equal scores keep their order


def union_of(some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Chunk numbers that are among either, ascending, each once. (`np.union1d` imports numpy.ma: 6 ms of start-up.)"""
    numbers: NDArray[np.int64] = np.sort(np.concatenate([some, others]))
    return numbers[np.diff(numbers, prepend=-1) > 0]


def _reached_by(limit: int, values: NDArray[np.float64]) -> float:
    """A high score that at least `limit` of the values reach: the `limit`-th best of the maxima of equal groups.

    Over twenty times faster than the `limit`-th best value itself.
    """
    group_size = max(len(values) // (4 * limit), 1)
    groups = len(values) // group_size
    maxima: NDArray[np.float64] = values[: groups * group_size].reshape(group_size, groups).max(axis=0)
    return float(np.partition(maxima, -limit)[-limit])
