"""One query, from text to response: retrieve, page, rows, snippets, fit."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter

from kebab_stream.analyser import terms
from kebab_stream.embed import Embedder
from kebab_stream.index.generation import Generation
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import ChunkId, Retrieval, SearchHit, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.single import validate
from kebab_stream.single.budget import Page, fit
from kebab_stream.single.cursor import decode_cursor, encode_cursor, fingerprint
from kebab_stream.single.hints import filter_hint, missing_words_hint
from kebab_stream.single.hits import hit_of
from kebab_stream.single.mask import allowed_chunks
from kebab_stream.single.retrieve import Ranking, method_for, retrieve
from kebab_stream.single.settings import SearchSettings
from kebab_stream.single.snippet import Snippet, snippet_of
from kebab_stream.single.trace import trace_of

_BOUNDLESS = 10**12
"""More tokens than any response has; a whole number may be too large for a float."""

LoadEmbedder = Callable[[], Embedder | None]


def search(
    snapshot: Snapshot,
    load_embedder: LoadEmbedder,
    query: SearchQuery,
    opts: SearchOpts,
    settings: SearchSettings,
    *,
    now: datetime,
) -> SearchResponse:
    """Answer one query on one committed state.

    Raises:
        InvalidInputError: the query is blank, or a filter is malformed.
        StaleCursorError: the cursor cannot continue this query here.
        EmbeddingsDisabledError, ModelUnavailableError: the mode needs vectors that cannot be had.
    """
    started = perf_counter()
    validate.query_text(query.query)
    method, embedder, method_hint = method_for(query.mode, snapshot.generation, load_embedder)
    pager = Pager(snapshot.corpus_revision, fingerprint(query, method, settings))
    offset = pager.offset(opts.cursor)
    query_terms = terms(query.query)
    allowed = allowed_chunks(snapshot, query.filters)
    ranking = retrieve(
        snapshot.generation, embedder, query.query, query_terms, method=method, allowed=allowed, settings=settings
    )
    limit = query.k or settings.default_k
    snippet_chars = opts.snippet_chars or settings.snippet_chars
    shown = Shown(snapshot, ranking, settings, now)
    hits, snippets = shown.page(offset, limit, term_weights(snapshot.generation, query_terms), snippet_chars)
    hints = (
        method_hint,
        missing_words_hint(snapshot.generation, query.query) if method != "vector" else None,
        filter_hint(snapshot, query.filters, allowed),
    )
    page = Page(
        hits,
        snippets,
        lambda returned: pager.after(offset + returned, len(ranking.numbers)),
        "; ".join(filter(None, hints)) or None,
    )
    max_chars = None if opts.max_tokens is None else min(opts.max_tokens, _BOUNDLESS) * settings.chars_per_token
    response = fit(page, snippet_chars=snippet_chars, max_chars=max_chars)
    return replace(response, trace=trace_of(snapshot, ranking, started)) if opts.trace else response


def term_weights(generation: Generation, query_terms: Sequence[str]) -> dict[str, int]:
    """What each term of the query is worth in a snippet: its idf in thousandths. Terms that no chunk has are absent."""
    frequencies = {term: generation.lexical.document_frequency(term) for term in dict.fromkeys(query_terms)}
    n_chunks = generation.lexical.n_chunks
    return {term: round(1000 * math.log(1 + n_chunks / count)) for term, count in frequencies.items() if count}


@dataclass(frozen=True, slots=True)
class Pager:
    """Makes and reads the cursors of one query on one revision."""

    corpus_revision: str
    fingerprint: str

    def offset(self, cursor: str | None) -> int:
        """How many hits the pages before this one returned."""
        return 0 if cursor is None else decode_cursor(cursor, self.corpus_revision, self.fingerprint)

    def after(self, returned: int, total: int) -> str | None:
        """The cursor after so many hits; None when there are no more."""
        return encode_cursor(returned, self.corpus_revision, self.fingerprint) if returned < total else None


@dataclass(frozen=True, slots=True)
class Shown:
    """Turns a stretch of a ranking into hits."""

    snapshot: Snapshot
    ranking: Ranking
    settings: SearchSettings
    now: datetime

    def page(
        self, offset: int, limit: int, weights: Mapping[str, int], snippet_chars: int
    ) -> tuple[list[SearchHit], list[Snippet]]:
        """The hits from `offset` on, and the texts that their snippets are cut from."""
        generation = self.snapshot.generation
        numbers = [int(number) for number in self.ranking.numbers[offset : offset + limit]]
        ids = [generation.chunk_id(number) for number in numbers]
        rows = self.snapshot.store.chunks_by_id(ids)
        hits, snippets = [], []
        for place, (number, chunk_id) in enumerate(zip(numbers, ids, strict=True), start=offset):
            chunk, document = rows[ChunkId(chunk_id.hex())]
            hit = hit_of(
                chunk,
                document,
                rank=place + 1,
                score_kind=self.ranking.score_kind,
                retrieval=self._retrieval(number, float(self.ranking.scores[place])),
                embedding=generation.manifest.embedding,
                settings=self.settings,
                now=self.now,
            )
            hits.append(hit)
            snippets.append(snippet_of(chunk.text, weights, snippet_chars))
        return hits, snippets

    def _retrieval(self, number: int, score: float) -> Retrieval:
        lexical, vector = self.ranking.lexical, self.ranking.vector
        return Retrieval(
            method=self.ranking.method,
            fusion_score=score,
            lexical_score=lexical.score(number) if lexical else None,
            vector_score=vector.score(number) if vector else None,
            lexical_rank=lexical.rank(number) if lexical else None,
            vector_rank=vector.rank(number) if vector else None,
        )
