"""Two rankings to one. Scores are rounded as they are written: order and ties are decided on what callers see."""

import numpy as np
from numpy.typing import NDArray

from kebab_stream.index.ranking import rounded

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


def weight_across(weight: float, familiar: float) -> float:
    """What the cosine alone counts for a chunk in another script than the query: 4 to 2 times its weight, at most 1.

    With nothing in the index in the script of the query, only the meaning can tell, and with the default weight the
    score is the cosine. Where a fifth of it is, words tell more, and chunks in that script should not have to stand
    behind all others: half the cosine.

    Args:
        weight: that of the cosine in the sum, in [0, 1].
        familiar: share of the index that is in the script of the query, in [0, 1].
    """
    return min(1.0, (4 - 2 * min(1.0, 5 * familiar)) * weight)


def above_floor(cosine: Floats, floor: float) -> Floats:
    """Cosines on a scale where `floor`, in [0, 1), is 0 and 1 stays 1; that of many models never comes near 0."""
    return (cosine - floor) / (1 - floor)


def convex(
    lexical: Floats, lexical_max: float, cosine: Floats, *, weight: float, alone: Floats | float = 0.0
) -> Floats:
    """Weighted sum of two scores that are each in [0, 1] by nature, not by rescaling a result list.

        score = (1 - weight) * BM25 / BM25max(query) + weight * max(0, cosine)

    Where the words of a query can hardly stand, the meaning may do without them: the score is at least
    alone * cosine. It still rises with either side.

    Args:
        lexical: (n,) BM25 scores without the (k1 + 1) factor.
        lexical_max: what BM25 cannot reach: the sum of idf over the query's term occurrences.
        cosine: (n,) in [-1, 1].
        weight: in [0, 1].
        alone: (n,) what the cosine counts without words, in [0, 1]: 0 in the language of the query.
    """
    share = lexical / lexical_max if lexical_max > 0 else np.zeros_like(lexical)
    meaning = np.maximum(cosine, 0.0)
    return rounded(np.maximum((1 - weight) * share + weight * meaning, alone * meaning))


def rrf(lexical_ranks: Floats, vector_ranks: Floats, *, k: int) -> Floats:
    """Reciprocal rank fusion (Cormack et al. 2009), divided by its maximum: 1.0 is first on both sides.

    Args:
        lexical_ranks: (n,) from 1; infinity where that side did not return the chunk.
        vector_ranks: the same for the other side.
        k: damping constant; larger values flatten the difference between ranks.
    """
    return rounded((1 / (k + lexical_ranks) + 1 / (k + vector_ranks)) * (k + 1) / 2)
