"""How good a ranking is, by the definitions of trec_eval (and so of ir_measures): 0 to 1, higher is better."""

import math
from collections.abc import Mapping, Sequence

DEEP = 100
"""Cut-off of the second recall."""

Grades = Mapping[str, int]
"""Relevance of the judged documents: more than 0 is relevant; what is not judged counts as not relevant."""


def measure(ranking: Sequence[str], grades: Grades, *, k: int) -> dict[str, float]:
    """All measures of one ranking, by name: `ndcg@k`, `recall@k`, `recall@100` and `mrr@k`.

    Args:
        ranking: ids, best first, each at most once.
        grades: at least one of them more than 0.
    """
    return {
        f"ndcg@{k}": ndcg(ranking, grades, k),
        f"recall@{k}": recall(ranking, grades, k),
        f"recall@{DEEP}": recall(ranking, grades, DEEP),
        f"mrr@{k}": reciprocal_rank(ranking, grades, k),
    }


def ndcg(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """Discounted gain of the first `k`, as a share of the best that the judgements allow.

    The gain is the grade itself (not 2^grade - 1), the discount log2(rank + 1). Grades below 0 count as 0.
    """
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    best = _discounted(ideal[:k])
    return _discounted([max(grades.get(one, 0), 0) for one in ranking[:k]]) / best if best else 0.0


def recall(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """Share of the relevant documents that are among the first `k`."""
    relevant = {one for one, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """1 / rank of the first relevant document, 0 if it is not among the first `k`."""
    rank = first_rank(ranking[:k], grades)
    return 1 / rank if rank else 0.0


def first_rank(ranking: Sequence[str], grades: Grades) -> int | None:
    """Rank, from 1, of the first relevant document."""
    return next((rank for rank, one in enumerate(ranking, start=1) if grades.get(one, 0) > 0), None)


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
