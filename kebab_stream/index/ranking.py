"""The best of many scores: rounding, the tie rule and the cut, the same for both retrievers."""

import numpy as np
from numpy.typing import NDArray

SCORE_DECIMALS = 6
"""Scores are written with this many decimals, and compared as written."""

_ONE_UNIT = 10.0**-SCORE_DECIMALS


def rounded(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores as they are written and compared; never -0.0."""
    exact: NDArray[np.float64] = np.asarray(scores, dtype=np.float64)
    return np.round(exact, SCORE_DECIMALS) + 0.0


def top(
    scores: NDArray[np.floating],
    limit: int,
    mask: NDArray[np.bool_] | None = None,
    *,
    above: float | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the best chunks.

    Args:
        scores: (n,), one score per chunk number; no NaN.
        limit: the most chunks to return; 0 or less gives none.
        mask: (n,), False excludes the chunk before the cut; None excludes none.
        above: only scores greater than this, before rounding, are results (0 for BM25, None for cosines).

    Returns:
        Chunk numbers and rounded scores: score descending, then chunk number ascending, also at the cut.
    """
    numbers = _eligible(scores, mask, above)
    values: NDArray[np.float64] = scores[numbers].astype(np.float64, copy=False)
    if 0 < limit < len(numbers):
        # Rounding keeps the order and moves a score by half a unit at most, so two units cover every possible result.
        near = np.flatnonzero(values >= _reached_by(limit, values) - 2 * _ONE_UNIT)
        numbers, values = numbers[near], values[near]
    values = rounded(values)
    order = np.argsort(-values, kind="stable")[: max(limit, 0)]  # numbers ascend, and equal scores keep their order
    return numbers[order], values[order]


def _eligible(scores: NDArray[np.floating], mask: NDArray[np.bool_] | None, above: float | None) -> NDArray[np.int64]:
    if above is None:
        return np.arange(len(scores)) if mask is None else np.flatnonzero(mask)
    passed = scores > above
    return np.flatnonzero(passed if mask is None else passed & mask)


def _reached_by(limit: int, values: NDArray[np.float64]) -> float:
    """A high score that at least `limit` of the values reach: the `limit`-th best of the maxima of equal groups.

    Over twenty times faster than the `limit`-th best value itself.
    """
    group_size = max(len(values) // (4 * limit), 1)
    groups = len(values) // group_size
    maxima: NDArray[np.float64] = values[: groups * group_size].reshape(group_size, groups).max(axis=0)
    return float(np.partition(maxima, -limit)[-limit])
