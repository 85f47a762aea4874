"""One query, from text to response: retrieve, page, rows, snippets, fit."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter

from kebab_stream.analyser import query_terms
from kebab_stream.embed import Embedder
from kebab_stream.embed.rerank import Reranker, no_reranker
from kebab_stream.index.generation import Generation
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import (
    ChunkId,
    Mode,
    RerankedRetrieval,
    Retrieval,
    SearchHit,
    SearchOpts,
    SearchQuery,
    SearchResponse,
)
from kebab_stream.single import validate
from kebab_stream.single.budget import Page, fit, max_chars_of
from kebab_stream.single.cursor import decode_cursor, encode_cursor, fingerprint
from kebab_stream.single.hints import filter_hint, missing_words_hint
from kebab_stream.single.hits import hit_of
from kebab_stream.single.mask import allowed_chunks
from kebab_stream.single.rerank import reranked
from kebab_stream.single.retrieve import Ranking, method_for, retrieve, vector_path
from kebab_stream.single.settings import SearchSettings
from kebab_stream.single.snippet import snippet_of
from kebab_stream.single.trace import trace_of

LoadEmbedder = Callable[[], Embedder | None]
LoadReranker = Callable[[], Reranker]


def search(
    snapshot: Snapshot,
    load_embedder: LoadEmbedder,
    query: SearchQuery,
    opts: SearchOpts,
    settings: SearchSettings,
    *,
    now: datetime,
    load_reranker: LoadReranker = no_reranker,
) -> SearchResponse:
    """Answer one query on one committed state.

    Raises:
        InvalidInputError: a value is of the wrong type or out of range, the query is blank, or a filter is malformed.
        StaleCursorError: the cursor cannot continue this query here.
        EmbeddingsDisabledError, ModelUnavailableError: the mode needs vectors, or rerank a model, that cannot be had.
        RetrievalError: the reranking model failed.
    """
    started = perf_counter()
    query = validate.search(query, opts)
    generation = snapshot.generation
    # What can be refused is, before a model is loaded for it.
    position = None if opts.cursor is None else decode_cursor(opts.cursor, snapshot.corpus_revision)
    allowed = allowed_chunks(snapshot, query.filters)
    method, embedder, method_hint = method_for(query.mode, generation, load_embedder)
    reranker = load_reranker() if query.rerank else None
    query_fingerprint = _fingerprint(query, method, generation, embedder, reranker, settings)
    offset = 0 if position is None else position.offset_in(query_fingerprint)
    wanted = query_terms(query.query)
    ranking = retrieve(
        generation, embedder, query.query, wanted,
        method=method, allowed=allowed, settings=settings, per_doc=query.per_doc,
    )  # fmt: skip
    if reranker:
        ranking = reranked(snapshot, ranking, query.query, reranker)
    missing = None if method == "vector" else missing_words_hint(generation, query.query)
    hints = (method_hint, missing, filter_hint(snapshot, query.filters, allowed))
    response = _page(snapshot, query, wanted, opts, settings, ranking, offset, query_fingerprint, hints, now)
    return replace(response, trace=trace_of(snapshot, ranking, started)) if opts.trace else response


def _fingerprint(
    query: SearchQuery,
    method: Mode,
    generation: Generation,
    embedder: Embedder | None,
    reranker: Reranker | None,
    settings: SearchSettings,
) -> str:
    fuses_cosines = method == "hybrid" and settings.fusion == "convex"
    return fingerprint(
        query,
        method,
        settings,
        vector_path(method, generation, settings, query.per_doc),
        reranker.fingerprint if reranker else None,
        embedder.score_floor if embedder and fuses_cosines else None,
    )


def _page(
    snapshot: Snapshot,
    query: SearchQuery,
    wanted: Sequence[str],
    opts: SearchOpts,
    settings: SearchSettings,
    ranking: Ranking,
    offset: int,
    query_fingerprint: str,
    hints: Sequence[str | None],
    now: datetime,
) -> SearchResponse:
    """The part of the ranking that was asked for, as far as it fits."""
    hits, texts = hits_of(snapshot, ranking, offset, query.k or settings.default_k, settings, now)
    weights = term_weights(snapshot.generation, wanted)
    snippet_chars = opts.snippet_chars or settings.snippet_chars

    def next_cursor(returned: int) -> str | None:
        end = offset + returned
        return encode_cursor(end, snapshot.corpus_revision, query_fingerprint) if end < len(ranking.numbers) else None

    page = Page(
        hits,
        [snippet_of(text, weights, snippet_chars) for text in texts],
        next_cursor,
        "; ".join(filter(None, hints)) or None,
    )
    return fit(page, snippet_chars=snippet_chars, max_chars=max_chars_of(opts.max_tokens, settings))


def term_weights(generation: Generation, wanted: Sequence[str]) -> dict[str, int]:
    """What each term of the query is worth in a snippet: its idf in thousandths. Terms that no chunk has are absent."""
    frequencies = {term: generation.lexical.document_frequency(term) for term in dict.fromkeys(wanted)}
    n_chunks = generation.lexical.n_chunks
    return {term: round(1000 * math.log(1 + n_chunks / count)) for term, count in frequencies.items() if count}


def hits_of(
    snapshot: Snapshot, ranking: Ranking, offset: int, limit: int, settings: SearchSettings, now: datetime
) -> tuple[list[SearchHit], list[str]]:
    """The hits from `offset` on, snippets still empty, and the texts to cut these from."""
    generation = snapshot.generation
    numbers = [int(number) for number in ranking.numbers[offset : offset + limit]]
    ids = [generation.chunk_id(number) for number in numbers]
    rows = snapshot.store.chunks_by_id(ids)
    hits, texts = [], []
    for place, (number, chunk_id) in enumerate(zip(numbers, ids, strict=True), start=offset):
        chunk, document = rows[ChunkId(chunk_id.hex())]
        hit = hit_of(
            chunk,
            document,
            rank=place + 1,
            score_kind=ranking.score_kind,
            retrieval=_retrieval(ranking, place, number),
            embedding=generation.manifest.embedding,
            settings=settings,
            now=now,
        )
        hits.append(hit)
        texts.append(chunk.text)
    return hits, texts


def _retrieval(ranking: Ranking, place: int, number: int) -> Retrieval:
    """How the chunk at a place of the ranking, from 0, was found."""
    score, found = float(ranking.scores[place]), ranking.found(number)
    if ranking.rerank_scores is None:
        return Retrieval(method=ranking.method, fusion_score=score, **found)
    asked = place < len(ranking.rerank_scores)
    rerank_score = float(ranking.rerank_scores[place]) if asked else None
    return RerankedRetrieval(method=ranking.method, fusion_score=score, **found, rerank_score=rerank_score)
