"""Whether a difference between two rankings is more than chance, from the same queries answered by both.

p is that of a paired randomisation test (Fisher's; Smucker, Allan and Carterette, CIKM 2007): under the null
hypothesis each query's difference may as well have the other sign. The interval is the bootstrap's, by percentiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 5_000
_SEED = 20_260_101
_AT_ONCE = 250
"""Resamples in memory together."""
_SAME = 1e-6
"""Measures are kept with six decimals; a smaller difference is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """What the differences say; positive is better than the other."""

    difference: float
    """Mean over the queries."""
    low: float
    high: float
    """The 95 % interval of the mean."""
    p_value: float
    """Two-sided; at least 1 / (resamples + 1)."""
    wins: int
    ties: int
    losses: int


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Paired:
    """Compare the values of a measure for the same queries, at least one. The same input gives the same result."""
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    differences[np.abs(differences) < _SAME] = 0.0
    count = len(differences)
    mean = float(differences.mean())
    # Of their own each, so that neither depends on how many numbers the other draws.
    signs, picks = np.random.default_rng(_SEED), np.random.default_rng(_SEED + 1)
    extreme, means = 0, []
    for _ in range(RESAMPLES // _AT_ONCE):
        flips = signs.integers(0, 2, size=(_AT_ONCE, count), dtype=np.int8) * 2 - 1
        extreme += int(np.sum(np.abs(flips @ differences) / count >= abs(mean) - 1e-12))
        means.append(differences[picks.integers(0, count, size=(_AT_ONCE, count))].mean(axis=1))
    low, high = np.quantile(np.concatenate(means), (0.025, 0.975))
    return Paired(
        difference=mean,
        low=float(low),
        high=float(high),
        p_value=(extreme + 1) / (RESAMPLES + 1),
        wins=int(np.sum(differences > 0)),
        ties=int(np.sum(differences == 0)),
        losses=int(np.sum(differences < 0)),
    )
