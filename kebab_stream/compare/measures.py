"""How alike two rankings are, from 0 to 1."""

from collections.abc import Sequence


def overlap(a: Sequence[str], b: Sequence[str], k: int) -> float:
    """Share of the first `k` ids that both rankings have, of the most that they could have in common.

    A ranking with fewer is as long as it is: two with the same three ids overlap fully, and so do two empty ones.
    """
    first, second = set(a[:k]), set(b[:k])
    longest = max(len(first), len(second))
    return len(first & second) / longest if longest else 1.0


def rank_biased_overlap(a: Sequence[str], b: Sequence[str], p: float) -> float:
    """Extrapolated rank-biased overlap, the top counting most.

    W. Webber, A. Moffat, J. Zobel: A Similarity Measure for Indefinite Rankings, ACM TOIS 28(4), 2010, equation 32: the
    agreement seen so far is taken to go on below the end of the pages. With s and l the lengths of the shorter and the
    longer one, and X_d the number of ids that the first d of both have in common:

        RBO = (1 - p)/p · (Σ_{d=1..l} X_d/d · p^d + Σ_{d=s+1..l} X_s·(d - s)/(s·d) · p^d)
              + ((X_l - X_s)/l + X_s/s) · p^l

    Args:
        a: ids, best first, each at most once.
        p: persistence, between 0 and 1: the chance that a reader goes on to the next hit. With 0.9 the first ten ranks
            have 86 % of the weight.

    Returns:
        1 for equal rankings, also for empty ones; 0 where nothing is in common.
    """
    shorter, longer = sorted((a, b), key=len)
    s, length = len(shorter), len(longer)
    if not s:
        return 1.0 if not length else 0.0
    common = _common(shorter, longer)
    at_s, at_l = common[s - 1], common[-1]
    seen = sum(common[d - 1] / d * p**d for d in range(1, length + 1))
    unseen = sum(at_s * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    return (1 - p) / p * (seen + unseen) + ((at_l - at_s) / length + at_s / s) * p**length


def _common(shorter: Sequence[str], longer: Sequence[str]) -> list[int]:
    """How many ids the first d of both have in common, for d from 1 to the length of the longer one."""
    counts: list[int] = []
    first: set[str] = set()
    second: set[str] = set()
    for place, one in enumerate(longer):
        if place < len(shorter):
            first.add(shorter[place])
        second.add(one)
        counts.append(len(first & second))
    return counts
