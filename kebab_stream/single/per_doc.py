"""At most so many chunks of one document in a ranking."""

import numpy as np
from numpy.typing import NDArray

from kebab_stream.single.fusion import Numbers


def within_limit(best: Numbers, documents: NDArray[np.integer], limit: int) -> Numbers:
    """The ranking without what comes after the first `limit` chunks of the same document.

    Args:
        best: (k,) chunk numbers, best first.
        documents: (n_chunks,) the document number of each chunk.
        limit: at least 1.
    """
    of = documents[best]
    by_document = np.argsort(of, kind="stable")  # chunks of one document stay in their order
    grouped = of[by_document]
    earlier = np.empty(len(best), dtype=np.int64)
    earlier[by_document] = np.arange(len(best)) - np.searchsorted(grouped, grouped)
    return best[earlier < limit]
