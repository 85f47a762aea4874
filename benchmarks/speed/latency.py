"""Section: a search in a process that is warm, beside other indexes of the same texts, and how it grows."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.speed.baselines import K, bm25s_index, exact_scan, fts5, tantivy_index
from benchmarks.speed.figures import Section, Shares, Table, Target, p90, ratio, shown, times
from benchmarks.speed.setup import Indexed, Setup
from benchmarks.speed.synthetic import synthetic_index, synthetic_queries
from benchmarks.speed.timing import interleaved, timed
from kebab_stream.analyser import query_terms
from kebab_stream.config import load_config
from kebab_stream.embed import load_embedder
from kebab_stream.engine import Engine
from kebab_stream.index.lexical import LexicalIndex
from kebab_stream.index.ranking import rounded, top
from kebab_stream.model import MODES, Filters, Mode, SearchQuery
from kebab_stream.render import to_json

FTS5, BM25S, TANTIVY, SCAN = "SQLite FTS5", "bm25s", "tantivy", "NumPy, exact scan"
LEXICAL_ALONE, VECTOR_ALONE = "lexical look-up alone", "vector look-up alone"
FIRST, ABOUT = "the first queries", "queries about the corpus"
_LOOKED_AT = 40
"""So many times the queries are tried to find those that are about the corpus."""
Times = dict[str, list[float]]
"""Milliseconds by contestant, a value for each query and round."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """An opened index, what its queries are, and how many chunks it has."""

    engine: Engine
    queries: list[str]

    @property
    def n_chunks(self) -> int:
        return self.engine.snapshot.generation.manifest.n_chunks

    def search(self, mode: Mode, filters: Filters = Filters()) -> Callable[[int], object]:
        """The whole search, to the bytes that would be written, of the query with a number."""

        def ask(number: int) -> object:
            query = SearchQuery(query=self.queries[number % len(self.queries)], mode=mode, filters=filters)
            return to_json(self.engine.search_with_opts(query))

        return ask


def opened(data: Path, queries: list[str]) -> Corpus:
    """Open an index with the default settings."""
    environment = {"KEBAB_STORAGE_DATA_DIR": str(data)}
    return Corpus(Engine.open(load_config(Path(os.devnull), environ=environment)), queries)


def measure(setup: Setup, place: Path, small: Indexed, large: Indexed) -> Section:
    """The two sizes, each with two sets of queries, then how a lexical index grows ten times larger."""
    found = {}
    for one in (small, large):
        corpus = opened(one.data, setup.queries())
        found[corpus.n_chunks] = by_set(setup, corpus, one.data, place)
    n_chunks = max(found)
    grown = growth(setup, place)
    tables = [
        latency_table(f"{count:,} chunks, {name}", values)
        for count, sets in found.items()
        for name, values in sets.items()
    ]
    return Section(
        "Latency: a search in a warm process",
        [
            f"{setup.n_queries} queries of each set, all contestants in turn for each query."
            " A whole search ends with the bytes of its JSON: snippets are in it.",
            f"{FIRST.capitalize()} of the file are about anything, and most of their words are in no document;"
            f" {ABOUT} have none that is not in some document.",
            "FTS5 and tantivy have the texts and are asked for any of the words; bm25s has our terms of them.",
        ],
        [
            *(target for name, values in found[n_chunks].items() for target in targets(n_chunks, name, values)),
            growth_target(grown),
        ],
        [*tables, growth_table(grown)],
        [latency_plot(found)],
    )


def by_set(setup: Setup, corpus: Corpus, data: Path, place: Path) -> dict[str, Times]:
    """What each contestant takes for the first queries, and for those whose words the corpus has."""
    more = about(corpus, setup.queries(_LOOKED_AT * setup.n_queries))[: setup.n_queries]
    first, whole = len(corpus.queries), Corpus(corpus.engine, [*corpus.queries, *more])
    count = len(whole.queries)
    found = interleaved(contestants(whole, data, place), count * (1 if setup.quick else 2))
    sets = {FIRST: range(first), ABOUT: range(first, count)}
    return {
        name: {
            contestant: [value for number, value in enumerate(values) if number % count in numbers]
            for contestant, values in found.items()
        }
        for name, numbers in sets.items()
        if numbers
    }


def about(corpus: Corpus, queries: list[str]) -> list[str]:
    """The queries all of whose terms are in the corpus."""
    frequency = corpus.engine.snapshot.generation.lexical.document_frequency
    return [query for query in queries if (terms := query_terms(query)) and all(map(frequency, terms))]


def contestants(corpus: Corpus, data: Path, place: Path) -> dict[str, Callable[[int], float]]:
    """What is timed with one query: whole searches, look-ups alone, and the baselines."""
    generation = corpus.engine.snapshot.generation
    embedder = load_embedder(corpus.engine.config.models.embedding)
    assert embedder
    assert generation.vectors
    terms = [query_terms(query) for query in corpus.queries]
    vectors = [embedder.embed_query(query) for query in corpus.queries]
    depth = corpus.engine.config.search.candidate_depth
    cosines, has_vector = generation.vectors.cosines, generation.vectors.has_vector
    sql = fts5(data, place / f"{generation.manifest.n_chunks}.sqlite")
    tantivy, bm25s = tantivy_index(data), bm25s_index(generation.lexical)
    scan = exact_scan(generation.vectors.rows)
    count = len(corpus.queries)
    every: dict[str, Callable[[int], object]] = {mode: corpus.search(mode) for mode in MODES}
    every |= {
        LEXICAL_ALONE: lambda number: look_up(generation.lexical, terms[number % count], depth),
        VECTOR_ALONE: lambda number: top(rounded(cosines(vectors[number % count])), depth, has_vector),
        BM25S: lambda number: bm25s(terms[number % count]),
        FTS5: lambda number: sql(corpus.queries[number % count]),
        TANTIVY: lambda number: tantivy(corpus.queries[number % count]),
        SCAN: lambda number: scan(vectors[number % count]),
    }
    return {name: timed(work) for name, work in every.items()}


def look_up(lexical: LexicalIndex, terms: list[str], depth: int) -> object:
    """The best chunks for some terms, by the index alone."""
    scores, _ = lexical.scores(terms)
    return top(rounded(scores), depth, scores > 0)


def targets(n_chunks: int, name: str, found: Times) -> list[Target]:
    """What is promised at the larger size, for one set of queries."""
    size = f"{n_chunks:,} chunks, {name}"
    both = [one + other for one, other in zip(found[LEXICAL_ALONE], found[VECTOR_ALONE], strict=True)]
    return [
        ratio(f"whole lexical search to bm25s, {size}", 1.5, found["lexical"], found[BM25S]),
        ratio(f"lexical look-up alone to bm25s, {size}", 1.5, found[LEXICAL_ALONE], found[BM25S]),
        ratio(f"whole lexical search to SQLite FTS5, {size}", 1 / 20, found["lexical"], found[FTS5]),
        ratio(f"lexical look-up alone to SQLite FTS5, {size}", 1 / 20, found[LEXICAL_ALONE], found[FTS5]),
        ratio(f"whole hybrid search to its two look-ups alone, {size}", 2, found["hybrid"], both),
    ]


def latency_table(title: str, found: Times) -> Table:
    """Medians, and their ratios to the baselines."""
    bases = [name for name in (FTS5, BM25S, TANTIVY, SCAN) if name in found]
    rows = [
        (
            name if name not in MODES else f"whole search, {name}",
            shown(median(values)),
            shown(p90(values)),
            *(times(median(values) / median(found[base])) for base in bases),
        )
        for name, values in found.items()
    ]
    return Table(title, ("", "p50 ms", "p90 ms", *(f"to {base}" for base in bases)), rows)


def latency_plot(found: dict[int, dict[str, Times]]) -> Shares:
    """Whole searches beside FTS5, for each size, of queries about the corpus."""
    rows = []
    for n_chunks, sets in found.items():
        values = sets.get(ABOUT, sets[FIRST])
        base = median(values[FTS5])
        rows.append((f"{n_chunks:,} chunks", [(mode, min(median(values[mode]) / base, 1.0)) for mode in MODES]))
    return Shares("latency", "A warm search: share of the time of SQLite FTS5", rows)


def growth(setup: Setup, place: Path) -> dict[int, list[float]]:
    """Milliseconds of look-ups in synthetic indexes, by their number of chunks."""
    queries = synthetic_queries(100)
    every = {}
    for n_chunks in setup.synthetic_sizes:
        index = LexicalIndex.open(synthetic_index(n_chunks, place))
        every[str(n_chunks)] = _look_ups(index, queries)
    return {int(name): values for name, values in interleaved(every, 100).items()}


def _look_ups(index: LexicalIndex, queries: list[list[str]]) -> Callable[[int], float]:
    return timed(lambda number: look_up(index, queries[number % len(queries)], K))


def growth_target(grown: dict[int, list[float]]) -> Target:
    """Ten times the chunks take less than fifteen times as long."""
    few, many = sorted(grown)
    return ratio(f"lexical look-up, {many:,} synthetic chunks to {few:,}", 15, grown[many], grown[few])


def growth_table(grown: dict[int, list[float]]) -> Table:
    """A row for each size."""
    least = median(grown[min(grown)])
    rows = [
        (f"{count:,}", shown(median(values)), shown(p90(values)), times(median(values) / least))
        for count, values in grown.items()
    ]
    return Table("Lexical look-up, synthetic chunks", ("chunks", "p50 ms", "p90 ms", "to the smallest"), rows)
