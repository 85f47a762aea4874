"""The ranking of one query: scores by their formulas, ties by chunk id, and the answer where there are no vectors."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kebab_stream.analyser import query_terms, script_of
from kebab_stream.config import Search
from kebab_stream.embed import Embedder
from kebab_stream.engine import Engine
from kebab_stream.errors import EmbeddingsDisabledError, ModelUnavailableError, StaleCursorError
from kebab_stream.index import graph as graph_module
from kebab_stream.index import vectors as vectors_module
from kebab_stream.index.graph import Graph
from kebab_stream.model import MODES, Filters, Mode, SearchHit, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.single import retrieve as retrieve_module
from kebab_stream.single.fusion import weight_across
from kebab_stream.single.retrieve import NO_MODEL_HINT, NO_VECTORS_HINT, method_for, vector_path
from kebab_stream.single.search import search
from tests.cli.program import environment
from tests.corpora import ENGLISH, KOREAN, config_of, ingest_files
from tests.single.library import ITEMS

WORDS = "coffee 커피 word1 word2 word3 word12 pour over tea 내린다 strasse 한글 unbekannt file7 zzz"
words = st.sampled_from(WORDS.split())
queries = st.lists(words, min_size=1, max_size=6).map(" ".join)


def ask(engine: Engine, text: str, mode: Mode, settings: Search) -> SearchResponse:
    query = SearchQuery(query=text, mode=mode, k=1000)
    now = datetime(2026, 2, 1, tzinfo=UTC)
    return search(engine.snapshot, engine._embedder, query, SearchOpts(), settings, now=now)


def in_order(hits: Sequence[SearchHit]) -> bool:
    keys = [(-hit.score, hit.chunk_id) for hit in hits]
    return keys == sorted(keys)


@given(queries)
def test_a_lexical_score_is_bm25_and_only_chunks_with_a_term_are_found(library: Engine, text: str) -> None:
    generation = library.snapshot.generation
    scores, _ = generation.lexical.scores(query_terms(text))

    hits = ask(library, text, "lexical", Search()).hits

    expected = {
        generation.chunk_id(number).hex(): round(float(scores[number]), 6) for number in np.flatnonzero(scores).tolist()
    }
    assert {hit.chunk_id: hit.score for hit in hits} == expected
    assert in_order(hits)
    for hit in hits:
        retrieval = hit.retrieval
        assert (hit.score_kind, retrieval.method) == ("bm25", "lexical")
        assert hit.score == retrieval.fusion_score == retrieval.lexical_score
        assert (retrieval.lexical_rank, retrieval.vector_rank, retrieval.vector_score) == (hit.rank, None, None)


@given(queries)
def test_a_vector_score_is_the_cosine_of_the_best_window(library: Engine, text: str) -> None:
    embedder = library._embedder()
    generation = library.snapshot.generation
    assert embedder is not None
    assert generation.vectors is not None
    cosines = generation.vectors.cosines(embedder.embed_query(text))

    hits = ask(library, text, "vector", Search()).hits

    expected = {generation.chunk_id(number).hex(): round(float(cosines[number]), 6) for number in range(len(ITEMS))}
    assert {hit.chunk_id: hit.score for hit in hits} == expected
    assert in_order(hits)
    for hit in hits:
        retrieval = hit.retrieval
        assert (hit.score_kind, retrieval.method) == ("cosine", "vector")
        assert hit.score == retrieval.fusion_score == retrieval.vector_score
        assert (retrieval.vector_rank, retrieval.lexical_rank, retrieval.lexical_score) == (hit.rank, None, None)


settings = st.builds(
    Search,
    fusion=st.sampled_from(["convex", "rrf"]),
    fusion_weight=st.floats(0, 1),
    rrf_k=st.integers(1, 1000),
    candidate_depth=st.integers(1, 70),
)


@given(queries, settings)
def test_a_hybrid_score_is_its_formula_over_the_union_of_both_sides(
    library: Engine, text: str, settings: Search
) -> None:
    depth = settings.candidate_depth
    lexical = {hit.chunk_id: hit for hit in ask(library, text, "lexical", settings).hits}
    vector = {hit.chunk_id: hit for hit in ask(library, text, "vector", settings).hits}
    best = [{name: hit.rank for name, hit in side.items() if hit.rank <= depth} for side in (lexical, vector)]
    generation = library.snapshot.generation
    bound = generation.lexical.scores(query_terms(text))[1]

    hits = ask(library, text, "hybrid", settings).hits

    assert {hit.chunk_id for hit in hits} == best[0].keys() | best[1].keys()
    assert in_order(hits)
    for hit in hits:
        name, retrieval = hit.chunk_id, hit.retrieval
        assert (hit.score_kind, retrieval.method) == (settings.fusion, "hybrid")
        assert hit.score == retrieval.fusion_score == round(hit.score, 6)
        assert (retrieval.lexical_rank, retrieval.vector_rank) == (best[0].get(name), best[1].get(name))
        assert retrieval.lexical_score == (lexical[name].score if name in lexical else 0.0)
        assert retrieval.vector_score == vector[name].score
        if settings.fusion == "convex":
            weight, cosine = settings.fusion_weight, max(0.0, retrieval.vector_score or 0.0)
            expected = (1 - weight) * (retrieval.lexical_score or 0.0) / bound + weight * cosine
            familiar = generation.scripts == script_of(text)
            if not familiar[generation.number_of(bytes.fromhex(name))]:
                expected = max(expected, weight_across(weight, float(familiar.mean())) * cosine)
        else:
            ranks = (retrieval.lexical_rank, retrieval.vector_rank)
            expected = sum(1 / (settings.rrf_k + rank) for rank in ranks if rank) * (settings.rrf_k + 1) / 2
        assert hit.score == pytest.approx(expected, abs=1e-6)
        assert 0 <= hit.score <= 1


def test_the_first_of_both_sides_has_the_reciprocal_rank_score_one(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data")
    ingest_files(config, tmp_path / "source", {"a.md": "coffee", "b.md": "coffee with milk and sugar", "c.md": "tea"})
    with Engine.open(config) as engine:
        hits = ask(engine, "coffee", "hybrid", Search(fusion="rrf")).hits

    ranks = [(hit.doc_path, hit.retrieval.lexical_rank, hit.retrieval.vector_rank) for hit in hits]
    assert ranks == [("a.md", 1, 1), ("b.md", 2, 2), ("c.md", None, 3)]
    assert [hit.score == 1.0 for hit in hits] == [True, False, False]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fusion", ["convex", "rrf"])
def test_equal_scores_are_ordered_by_chunk_id(tmp_path: Path, mode: Mode, fusion: str) -> None:
    config = config_of(tmp_path / "data")
    ingest_files(config, tmp_path / "source", {f"{number}/same.md": "coffee and tea" for number in range(30)})
    with Engine.open(config) as engine:
        hits = ask(engine, "coffee", mode, Search(fusion=fusion, candidate_depth=7)).hits  # type: ignore[arg-type]
        names = sorted(engine.snapshot.generation.chunk_id(number).hex() for number in range(30))

    assert [hit.chunk_id for hit in hits] == names[: 7 if mode == "hybrid" else 30]


@dataclass(frozen=True)
class NeverAtALoss:
    """A model that has a vector for anything, and the name of another."""

    model_id: str
    fingerprint: str
    dim: int
    score_floor: float = 0.0

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), self.dim), dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.ones(self.dim, dtype=np.float32)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["?!", "…", "「」", "☕", "-- \"'", "\u200b", "، ۔"])
def test_a_query_of_punctuation_finds_nothing_in_every_mode(library: Engine, mode: Mode, text: str) -> None:
    model = library._embedder()
    assert model is not None
    willing = NeverAtALoss(model.model_id, model.fingerprint, model.dim)
    opts, now = SearchOpts(), datetime(2026, 2, 1, tzinfo=UTC)

    response = search(library.snapshot, lambda: willing, SearchQuery(query=text, mode=mode), opts, Search(), now=now)

    assert response.hits == ()
    assert (response.next_cursor, response.truncated, response.hint) == (None, False, None)


def test_words_that_the_model_does_not_know_have_no_neighbours(library: Engine) -> None:
    assert ask(library, "ⵜⵉⴼⵉⵏⴰⵖ", "vector", Search()).hits == ()
    assert ask(library, "ⵜⵉⴼⵉⵏⴰⵖ", "hybrid", Search()).hits == ()


def test_a_chunk_without_vectors_is_found_by_its_words_with_cosine_zero(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data")
    ingest_files(config, tmp_path / "source", {"a.md": "ⵜⵉⴼⵉⵏⴰⵖ", "b.md": "coffee"})
    with Engine.open(config) as engine:
        (hit,) = [hit for hit in ask(engine, "ⵜⵉⴼⵉⵏⴰⵖ coffee", "hybrid", Search()).hits if hit.doc_path == "a.md"]
        paths = [hit.doc_path for hit in ask(engine, "ⵜⵉⴼⵉⵏⴰⵖ coffee", "vector", Search()).hits]

    assert (hit.retrieval.vector_score, hit.retrieval.vector_rank) == (0.0, None)
    assert (hit.retrieval.lexical_rank or 0) > 0
    assert paths == ["b.md"]


# --- without vectors, without a model, with another model -------------------------------------------------


def no_model() -> Embedder | None:
    return None


def never_loaded() -> Embedder | None:
    raise AssertionError("nobody needs the model")


def test_a_lexical_search_never_loads_the_model(library: Engine) -> None:
    assert method_for("lexical", library.snapshot.generation, never_loaded) == ("lexical", None, None)


def test_an_index_without_vectors_answers_lexically_with_a_hint_and_without_the_model(plain_library: Engine) -> None:
    assert method_for("hybrid", plain_library.snapshot.generation, never_loaded) == ("lexical", None, NO_VECTORS_HINT)


def test_without_a_model_the_vectors_of_an_index_are_not_used(library: Engine) -> None:
    assert method_for("hybrid", library.snapshot.generation, no_model) == ("lexical", None, NO_MODEL_HINT)


def test_vectors_alone_need_vectors_and_a_model(library: Engine, plain_library: Engine) -> None:
    for engine in (library, plain_library):
        with pytest.raises(EmbeddingsDisabledError) as caught:
            method_for("vector", engine.snapshot.generation, no_model)

        assert caught.value.hint


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_vectors_of_another_model_are_never_compared(library: Engine, mode: Mode) -> None:
    with pytest.raises(ModelUnavailableError) as caught:
        method_for(mode, library.snapshot.generation, lambda: NeverAtALoss("other", "f" * 16, 256))

    assert "static-koen-256" in caught.value.message
    assert "other" in caught.value.message
    assert "kebab ingest" in (caught.value.hint or "")


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_a_model_that_cannot_be_loaded_is_an_error_in_hybrid_too(library: Engine, tmp_path: Path, mode: Mode) -> None:
    embedding = replace(library.config.models.embedding, model_path=tmp_path / "nothing")
    config = replace(library.config, models=replace(library.config.models, embedding=embedding))
    with pytest.raises(ModelUnavailableError):
        Engine(config, library.snapshot).search(SearchQuery(query="coffee", mode=mode))


def test_the_lexical_answer_in_place_of_a_hybrid_one_says_so(plain_library: Engine) -> None:
    response = plain_library.search_with_opts(SearchQuery(query="coffee"))
    lexical = plain_library.search_with_opts(SearchQuery(query="coffee", mode="lexical"))

    assert response.hint == NO_VECTORS_HINT
    assert response.hits == lexical.hits
    assert {(hit.score_kind, hit.retrieval.method, hit.embedding_model) for hit in response.hits} == {
        ("bm25", "lexical", None)
    }


def test_switching_the_model_off_leaves_the_lexical_answer_of_an_index_with_vectors(library: Engine) -> None:
    embedding = replace(library.config.models.embedding, provider="none")
    config = replace(library.config, models=replace(library.config.models, embedding=embedding))
    engine = Engine(config, library.snapshot)

    response = engine.search_with_opts(SearchQuery(query="coffee"))

    assert response.hint == NO_MODEL_HINT
    assert response.hits == library.search_with_opts(SearchQuery(query="coffee", mode="lexical")).hits
    with pytest.raises(EmbeddingsDisabledError):
        engine.search(SearchQuery(query="coffee", mode="vector"))


# --- with a graph over the vectors ------------------------------------------------------------------------

WALK = Search(vector_index="hnsw", candidate_depth=60)
SCAN = replace(WALK, vector_index="exact")
QUERIES = ["coffee backup", "커피 검색", "rotate keys 교체한다", "brewing", "zzz"]


@pytest.fixture(scope="module")
def graphed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """600 chunks of few words, half of them tagged, every tenth by another tag too, with a graph."""
    place = tmp_path_factory.mktemp("graphed")
    vocabulary = f"{KOREAN} {ENGLISH}".split()
    random = np.random.default_rng(1)
    files = {}
    for number in range(600):
        tags = (["half"] if number % 2 else []) + (["tenth"] if number % 10 == 0 else [])
        body = " ".join(random.choice(vocabulary, 6))
        files[f"{number}.md"] = f"---\ntags: [{', '.join(tags)}]\n---\n{body} number{number}"
    config = config_of(place / "data", search=WALK)
    ingest_files(config, place / "source", files)
    with Engine.open(config) as engine:
        yield engine


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Lets the graph be walked in a small collection; how many chunks each walk found."""
    monkeypatch.setattr(graph_module, "LEAST_ASKED", 1)
    monkeypatch.setattr(retrieve_module, "MAX_RESULTS", 60)
    found: list[int | None] = []
    candidates = Graph.candidates

    def noted(graph: Graph, query: NDArray[np.float32], **how: Any) -> NDArray[np.int64] | None:
        numbers = candidates(graph, query, **how)
        found.append(None if numbers is None else len(numbers))
        return numbers

    monkeypatch.setattr(Graph, "candidates", noted)
    return found


@pytest.mark.parametrize("text", QUERIES)
def test_the_graph_finds_nearly_the_hits_of_the_scan_with_its_scores(
    graphed: Engine, walks: list[int | None], text: str
) -> None:
    walked, scanned = (ask(graphed, text, "vector", settings).hits for settings in (WALK, SCAN))

    assert [count is not None for count in walks] == [True]
    assert len(walked) == len(scanned) == 60
    assert in_order(walked)
    assert len({hit.chunk_id for hit in walked} & {hit.chunk_id for hit in scanned}) >= 57
    everything = {hit.chunk_id: hit.score for hit in every_hit(graphed, text)}
    assert all(hit.score == everything[hit.chunk_id] for hit in walked)


def every_hit(engine: Engine, text: str) -> Sequence[SearchHit]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieve_module, "MAX_RESULTS", 1000)
        return ask(engine, text, "vector", SCAN).hits


@pytest.mark.parametrize("fusion", ["convex", "rrf"])
@pytest.mark.parametrize("text", QUERIES[:4])
def test_a_hybrid_search_has_the_exact_vector_score_of_every_hit(
    graphed: Engine, walks: list[int | None], text: str, fusion: Any
) -> None:
    """Also of those that only their words brought in."""
    everything = {hit.chunk_id: hit.score for hit in every_hit(graphed, text)}
    settings = replace(WALK, fusion=fusion, candidate_depth=20)
    scanned = {hit.chunk_id: hit for hit in ask(graphed, text, "hybrid", replace(settings, vector_index="exact")).hits}

    hits = ask(graphed, text, "hybrid", settings).hits

    assert [count is not None for count in walks] == [True]
    assert any(hit.retrieval.vector_rank is None for hit in hits)
    assert [hit.retrieval.vector_score for hit in hits] == [everything[hit.chunk_id] for hit in hits]
    assert in_order(hits)
    if fusion == "convex":
        same = [hit for hit in hits if hit.chunk_id in scanned]
        assert [hit.score for hit in same] == [scanned[hit.chunk_id].score for hit in same]
        assert len(same) >= 0.95 * len(scanned)


def test_the_same_query_gives_the_same_answer_each_time(graphed: Engine, walks: list[int | None]) -> None:
    with Engine.open(graphed.config) as other:
        answers = [ask(engine, QUERIES[0], "hybrid", WALK).hits for engine in (graphed, other, graphed)]

    assert answers[0] == answers[1] == answers[2]
    assert walks == [walks[0]] * 3


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_hits_beyond_a_filter_are_never_found(graphed: Engine, walks: list[int | None], mode: Mode) -> None:
    """The walk is made cheap, so that it is tried with a filter too."""
    query = SearchQuery(query=QUERIES[0], mode=mode, k=1000, filters=Filters(tag=("half",)))
    settings = replace(WALK, candidate_depth=30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_module, "WALK_COST", 1)
        patch.setattr(retrieve_module, "MAX_RESULTS", 30)
        hits = answer(graphed, query, settings)
    scanned = answer(graphed, query, replace(settings, vector_index="exact"))

    assert None not in walks
    assert len(walks) == 1
    assert all(int(hit.doc_path.removesuffix(".md")) % 2 for hit in hits)
    assert len(hits) >= 30
    assert len({hit.chunk_id for hit in hits} & {hit.chunk_id for hit in scanned}) >= 0.95 * len(hits)


def answer(engine: Engine, query: SearchQuery, settings: Search) -> Sequence[SearchHit]:
    now = datetime(2026, 2, 1, tzinfo=UTC)
    return search(engine.snapshot, engine._embedder, query, SearchOpts(), settings, now=now).hits


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
@pytest.mark.parametrize("filters", [Filters(tag=("tenth",)), Filters(tag=("half",)), Filters(must=("number599",))])
def test_with_a_filter_the_answer_is_that_of_the_scan_whatever_is_picked(
    graphed: Engine, walks: list[int | None], monkeypatch: pytest.MonkeyPatch, mode: Mode, filters: Filters
) -> None:
    query = SearchQuery(query=QUERIES[1], mode=mode, k=1000, filters=filters)

    hits = answer(graphed, query, WALK)
    exact = answer(graphed, query, SCAN)
    monkeypatch.setattr(vectors_module, "GATHER_COST", 10**9)  # nothing is worth picking
    in_a_row = answer(graphed, query, SCAN)
    monkeypatch.setattr(vectors_module, "GATHER_COST", 0)
    picked = answer(graphed, query, SCAN)

    assert walks == [None]
    assert hits
    assert hits == exact == in_a_row == picked


@pytest.mark.parametrize("settings", [SCAN, Search(vector_index="auto"), Search(exact_below=600)])
def test_settings_without_a_wish_leave_the_graph_alone(
    graphed: Engine, walks: list[int | None], settings: Search
) -> None:
    settings = replace(settings, candidate_depth=60)

    assert ask(graphed, QUERIES[0], "hybrid", settings).hits == ask(graphed, QUERIES[0], "hybrid", SCAN).hits
    assert walks == []


def test_auto_asks_the_graph_of_a_large_index_and_scans_where_that_is_less_work(
    graphed: Engine, walks: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    auto = replace(WALK, vector_index="auto", exact_below=599)

    hits = ask(graphed, QUERIES[0], "vector", auto).hits
    monkeypatch.setattr(graph_module, "WALK_COST", 1)
    walked = ask(graphed, QUERIES[0], "vector", auto).hits

    assert walks[0] is None
    assert walks[1] is not None
    assert hits == ask(graphed, QUERIES[0], "vector", SCAN).hits
    assert walked == ask(graphed, QUERIES[0], "vector", WALK).hits


def test_where_there_is_no_graph_all_vectors_are_compared(library: Engine) -> None:
    assert library.snapshot.generation.graph is None
    for mode in MODES:
        assert ask(library, "coffee", mode, WALK) == ask(library, "coffee", mode, SCAN)


@dataclass(frozen=True)
class Contrary:
    """A model whose queries point away from what they mean."""

    model: Embedder
    model_id: str
    fingerprint: str
    dim: int
    score_floor: float = 0.0

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.model.embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return -self.model.embed_query(text)


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_chunks_that_were_not_compared_are_no_hits_though_all_cosines_are_negative(
    graphed: Engine, walks: list[int | None], mode: Mode
) -> None:
    model = graphed._embedder()
    assert model
    contrary = Contrary(model, model.model_id, model.fingerprint, model.dim)
    now = datetime(2026, 2, 1, tzinfo=UTC)
    query = SearchQuery(query=KOREAN, mode=mode, k=1000)
    settings = replace(WALK, candidate_depth=20)

    walked, scanned = (
        search(graphed.snapshot, lambda: contrary, query, SearchOpts(), replace(settings, vector_index=path), now=now)
        for path in ("hnsw", "exact")
    )

    assert None not in walks
    assert all(hit.retrieval.vector_score for hit in walked.hits)
    ids = [{hit.chunk_id for hit in response.hits} for response in (walked, scanned)]
    assert len(ids[0] & ids[1]) >= 0.8 * len(ids[1])


def test_words_that_the_model_does_not_know_do_not_walk(graphed: Engine, walks: list[int | None]) -> None:
    assert ask(graphed, "ⵜⵉⴼⵉⵏⴰⵖ", "vector", WALK).hits == ()
    assert ask(graphed, "ⵜⵉⴼⵉⵏⴰⵖ", "hybrid", WALK).hits == ()
    assert walks == []


def test_a_cursor_does_not_go_on_where_another_path_would_answer(graphed: Engine, walks: list[int | None]) -> None:
    now = datetime(2026, 2, 1, tzinfo=UTC)
    query = SearchQuery(query=QUERIES[0], k=7)

    def page(settings: Search, cursor: str | None = None, mode: Mode = "hybrid") -> SearchResponse:
        asked = replace(query, mode=mode)
        opts = SearchOpts(cursor=cursor)
        return search(graphed.snapshot, graphed._embedder, asked, opts, settings, now=now)

    whole = ask(graphed, QUERIES[0], "hybrid", WALK).hits
    first = page(WALK)
    second = page(WALK, first.next_cursor)
    assert [hit.chunk_id for hit in (*first.hits, *second.hits)] == [hit.chunk_id for hit in whole[:14]]
    for settings in (SCAN, replace(WALK, vector_index="auto", exact_below=0)):
        with pytest.raises(StaleCursorError):
            page(settings, first.next_cursor)
    in_words = page(WALK, mode="lexical").next_cursor
    assert page(SCAN, in_words, mode="lexical").hits


def test_paths_are_named_by_what_really_happens(graphed: Engine, library: Engine) -> None:
    generation = graphed.snapshot.generation
    auto = Search(exact_below=599)

    assert [vector_path("hybrid", generation, settings) for settings in (WALK, SCAN, auto)] == ["hnsw", "exact", "auto"]
    assert vector_path("vector", generation, Search(exact_below=600)) == "exact"
    assert vector_path("lexical", generation, WALK) == "exact"
    assert vector_path("vector", library.snapshot.generation, WALK) == "exact"


_PROBE = """
import json, os, sys
from kebab_stream.cli.main import run
from kebab_stream.index import graph
graph.LEAST_ASKED = 1
status = run(sys.argv[1:])
os.write(2, json.dumps([status, "usearch" in sys.modules]).encode())
"""


@pytest.mark.parametrize(
    ("arguments", "settings", "loaded"),
    [
        ((), {"KEBAB_SEARCH_VECTOR_INDEX": "hnsw"}, True),
        ((), {"KEBAB_SEARCH_VECTOR_INDEX": "exact"}, False),
        ((), {}, False),
        (("--tag", "tenth"), {"KEBAB_SEARCH_VECTOR_INDEX": "hnsw"}, False),
        (("--mode", "lexical"), {"KEBAB_SEARCH_VECTOR_INDEX": "hnsw"}, False),
    ],
)
def test_only_a_search_that_walks_loads_the_library_of_the_graph(
    graphed: Engine, arguments: tuple[str, ...], settings: dict[str, str], loaded: bool
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, "search", QUERIES[0], "--json", *arguments],
        capture_output=True,
        env=environment(graphed.config.storage.data_dir, {**settings, "KEBAB_SEARCH_CANDIDATE_DEPTH": "60"}),
        check=True,
    )

    assert json.loads(done.stderr) == [0, loaded]
