"""The best of a ranking in a new order: a model reads the query and each of them together."""

from dataclasses import replace

import numpy as np

from kebab_stream.embed.rerank import Reranker
from kebab_stream.index.ranking import rounded
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import ChunkId
from kebab_stream.single.retrieve import Ranking


def reranked(snapshot: Snapshot, ranking: Ranking, query: str, reranker: Reranker) -> Ranking:
    """The first `reranker.depth` chunks by what the model says of them, ties in their former order; then the others.

    It does not depend on the page that is looked at, so that pages never change the order.

    Raises:
        ModelUnavailableError: the model's files cannot be used.
        RetrievalError: the model failed.
    """
    first = ranking.numbers[: reranker.depth]
    ids = [snapshot.generation.chunk_id(int(number)) for number in first]
    rows = snapshot.store.chunks_by_id(ids)
    texts = [rows[ChunkId(chunk_id.hex())][0].text for chunk_id in ids]
    scores = rounded(reranker.scores(query, texts))
    order = np.argsort(-scores, kind="stable")
    places = np.concatenate([order, np.arange(len(first), len(ranking.numbers))])
    return replace(
        ranking,
        numbers=ranking.numbers[places],
        scores=ranking.scores[places],
        rerank_scores=scores[order],
    )
