"""The ranking of one query: ask each side, fuse what they return."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from kebab_stream.analyser import script_of
from kebab_stream.embed import Embedder
from kebab_stream.errors import EmbeddingsDisabledError, ModelUnavailableError
from kebab_stream.index.generation import Generation
from kebab_stream.index.graph import graph_above
from kebab_stream.index.ranking import rounded, top, union_of
from kebab_stream.model import Mode, ScoreKind
from kebab_stream.single.fusion import Floats, Numbers, above_floor, convex, rrf, weight_across
from kebab_stream.single.per_doc import within_limit
from kebab_stream.single.phrases import find_phrases
from kebab_stream.single.settings import MAX_RESULTS, SearchSettings, VectorPath

Mask = NDArray[np.bool_]

NO_VECTORS_HINT = (
    "the index has no vectors, so this is the lexical answer; ingest with models.embedding.provider = static"
)
NO_MODEL_HINT = "models.embedding.provider is none, so this is the lexical answer"


@dataclass(frozen=True, slots=True)
class Side:
    """What one retriever says: scores of chunks, and the best of them."""

    scores: Floats
    """(n_chunks,) rounded as written. Of the vector side: 0 where a filter, or the graph, left a chunk out."""
    best: Numbers
    """(k,) chunk numbers, best first, ties by number; with a limit per document, more than without."""
    ranks: dict[int, int]
    """Rank from 1 of each of the best, among all chunks that this side has a score for."""
    milliseconds: float

    def score(self, number: int) -> float:
        """The score of a chunk that either side returned."""
        return float(self.scores[number])

    def rank(self, number: int) -> int | None:
        """The rank of a chunk; None where this side did not return it."""
        return self.ranks.get(number)


class Found(TypedDict):
    """What each side says of a chunk: None where it did not run; no rank where it did not return the chunk."""

    lexical_score: float | None
    vector_score: float | None
    lexical_rank: int | None
    vector_rank: int | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The whole result set of a query, best first."""

    method: Mode
    score_kind: ScoreKind
    numbers: Numbers
    scores: Floats
    lexical: Side | None
    vector: Side | None
    fusion_ms: float
    rerank_scores: Floats | None = None
    """(m,) what a model said of the first m, which it has put in this order; None where none was asked."""

    def found(self, number: int) -> Found:
        """What both sides say of a chunk."""
        lexical, vector = self.lexical, self.vector
        return Found(
            lexical_score=lexical.score(number) if lexical else None,
            vector_score=vector.score(number) if vector else None,
            lexical_rank=lexical.rank(number) if lexical else None,
            vector_rank=vector.rank(number) if vector else None,
        )


def retrieve(
    generation: Generation,
    embedder: Embedder | None,
    text: str,
    query_terms: Sequence[str],
    *,
    method: Mode,
    allowed: Mask | None,
    settings: SearchSettings,
    per_doc: int | None = None,
) -> Ranking:
    """Rank the chunks that `allowed` lets through.

    Args:
        embedder: needed for the methods vector and hybrid.
        query_terms: what `text` looks for, analysed; without any (only punctuation) nothing is found in any mode.
        allowed: (n_chunks,) False for chunks a filter excludes; None lets all through.
        per_doc: the most chunks of one document in the ranking; None for no limit. The next best of other documents
            take the places that become free, also where a side returns only so many.
    """
    if not query_terms:
        return _nothing(method)
    depth = settings.candidate_depth if method == "hybrid" else MAX_RESULTS
    cut = _Cut(depth, allowed, generation.chunk_docs, per_doc)
    if method == "lexical":
        side, _ = _lexical_side(generation, text, query_terms, cut)
        best = cut.limited(side.best)
        return Ranking(method, "bm25", best, side.scores[best], side, None, 0.0)
    assert embedder is not None
    path = vector_path(method, generation, settings, per_doc)
    if method == "vector":
        vector = _vector_side(generation, embedder, text, cut, path)
        best = cut.limited(vector.best)
        return Ranking(method, "cosine", best, vector.scores[best], None, vector, 0.0)
    lexical, lexical_max = _lexical_side(generation, text, query_terms, cut)
    vector = _vector_side(generation, embedder, text, cut, path, found=lexical.best)
    familiar = generation.scripts == script_of(text)
    return _fuse(lexical, lexical_max, vector, familiar, cut, settings, floor=embedder.score_floor)


def vector_path(
    method: Mode, generation: Generation, settings: SearchSettings, per_doc: int | None = None
) -> VectorPath:
    """How a query's nearest vectors are looked for.

    `exact` also where there is no graph, where no vector is needed, and for a limit per document: near the query a
    graph may find the chunks of one document only.
    """
    above = graph_above(settings.vector_index, settings.exact_below)
    if method == "lexical" or generation.graph is None or above is None or generation.manifest.n_windows <= above:
        return "exact"
    return "exact" if per_doc else settings.vector_index


def method_for(
    mode: Mode, generation: Generation, load_embedder: Callable[[], Embedder | None]
) -> tuple[Mode, Embedder | None, str | None]:
    """How a query of this mode is really answered: (method, its embedder, a hint where it is not as asked).

    Raises:
        EmbeddingsDisabledError: mode is vector and there are no vectors or no model.
        ModelUnavailableError: the vectors in the index are of another model.
    """
    if mode == "lexical":
        return mode, None, None
    embedder = load_embedder() if generation.vectors is not None else None
    hint = NO_VECTORS_HINT if generation.vectors is None else NO_MODEL_HINT
    if embedder is None:
        if mode == "vector":
            raise EmbeddingsDisabledError(
                "vector search needs vectors: " + hint.partition(",")[0], "use --mode lexical, or ingest with a model"
            )
        return "lexical", None, hint
    stored = generation.manifest.embedding
    assert stored is not None
    if (stored.fingerprint, stored.dim) != (embedder.fingerprint, embedder.dim):
        raise ModelUnavailableError(
            f"the index holds vectors of {stored.model_id} ({stored.fingerprint}), the configured model is"
            f" {embedder.model_id} ({embedder.fingerprint})",
            "run `kebab ingest` to embed again, or set models.embedding back",
        )
    return mode, embedder, None


@dataclass(frozen=True, slots=True)
class _Cut:
    """What a side returns of the chunks that it has scores for."""

    depth: int
    allowed: Mask | None
    documents: NDArray[np.int32]
    """(n_chunks,) the document number of each chunk."""
    per_doc: int | None

    def best(self, scores: Floats, present: Mask) -> tuple[Numbers, Numbers]:
        """The best `depth` chunks, and behind them what is among the best `depth` of a ranking with the limit.

        Returns:
            Chunk numbers, and the rank from 1 of each among all chunks that have a score.
        """
        eligible = present if self.allowed is None else present & self.allowed
        best = top(scores, self.depth, eligible)
        if self.per_doc is None or len(best) < self.depth:
            return best, np.arange(1, len(best) + 1)
        every = top(scores, len(scores), eligible)
        limited = self.limited(every)[: self.depth]
        places = union_of(np.arange(self.depth), np.flatnonzero(np.isin(every, limited)))
        return every[places], places + 1

    def limited(self, best: Numbers) -> Numbers:
        """A ranking within the limit per document."""
        return best if self.per_doc is None else within_limit(best, self.documents, self.per_doc)


def _lexical_side(generation: Generation, text: str, query_terms: Sequence[str], cut: _Cut) -> tuple[Side, float]:
    started = perf_counter()
    scores, maximum = generation.lexical.scores(query_terms, find_phrases(generation, text))
    return _side(scores, scores > 0, cut, started), maximum


def _vector_side(
    generation: Generation,
    embedder: Embedder,
    text: str,
    cut: _Cut,
    path: VectorPath,
    *,
    found: Numbers | None = None,
) -> Side:
    """`found`: chunks that need a score whether they are near or not."""
    started = perf_counter()
    vectors = generation.vectors
    assert vectors is not None
    query = embedder.embed_query(text)
    if not query.any():
        # A query without a known token has no direction: nothing is near it.
        nothing = np.zeros(vectors.n_chunks, dtype=np.bool_)
        return _side(np.zeros(vectors.n_chunks), nothing, cut, started)
    present = vectors.has_vector
    numbers = _worth_comparing(generation, query, cut.allowed, cut.depth, path)
    if numbers is not None:
        numbers = numbers if found is None else union_of(numbers, found)
        compared = np.zeros(vectors.n_chunks, dtype=np.bool_)
        compared[numbers] = True
        present &= compared
    return _side(vectors.cosines(query, numbers), present, cut, started)


def _worth_comparing(
    generation: Generation, query: NDArray[np.float32], allowed: Mask | None, depth: int, path: VectorPath
) -> Numbers | None:
    """The chunks to compare with a query: what the graph finds, or the few that a filter leaves; None for all."""
    vectors = generation.vectors
    assert vectors is not None
    if path != "exact":
        assert generation.graph is not None
        near = generation.graph.candidates(query, wanted=depth, allowed=allowed, always=path == "hnsw")
        if near is not None:
            return near
    if allowed is not None and vectors.worth_picking(vectors.windows_of(allowed)):
        return np.flatnonzero(allowed)
    return None


def _side(exact: Floats, present: Mask, cut: _Cut, started: float) -> Side:
    scores = rounded(exact)
    best, ranks = cut.best(scores, present)
    return Side(scores, best, dict(zip(best.tolist(), ranks.tolist(), strict=True)), _since(started))


def _nothing(method: Mode) -> Ranking:
    return Ranking(method, "bm25", np.empty(0, np.int64), np.empty(0), None, None, 0.0)


def _fuse(
    lexical: Side,
    lexical_max: float,
    vector: Side,
    familiar: Mask,
    cut: _Cut,
    settings: SearchSettings,
    *,
    floor: float,
) -> Ranking:
    """`familiar`: (n_chunks,) whether a chunk is in the script of the query. `floor`: the cosine that counts as 0."""
    started = perf_counter()
    union = union_of(lexical.best, vector.best)
    if settings.fusion == "convex":
        weight = settings.fusion_weight
        share = np.count_nonzero(familiar) / max(len(familiar), 1)
        alone = np.where(familiar[union], 0.0, weight_across(weight, share))
        meaning = above_floor(vector.scores[union], floor)
        scores = convex(lexical.scores[union], lexical_max, meaning, weight=weight, alone=alone)
    else:
        scores = rrf(_ranks(lexical, union), _ranks(vector, union), k=settings.rrf_k)
    order = np.lexsort((union, -scores))
    best = cut.limited(union[order])
    return Ranking(
        "hybrid", settings.fusion, best, scores[np.searchsorted(union, best)], lexical, vector, _since(started)
    )


def _ranks(side: Side, union: Numbers) -> Floats:
    """(len(union),) the rank of each chunk on this side, infinity where it did not return it."""
    return np.array([side.ranks.get(number, np.inf) for number in union.tolist()], dtype=np.float64)


def _since(started: float) -> float:
    return (perf_counter() - started) * 1000
