"""The ranking of one query: scores by their formulas, ties by chunk id, and the answer where there are no vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kebab_stream.analyser import terms
from kebab_stream.config import Search
from kebab_stream.embed import Embedder
from kebab_stream.engine import Engine
from kebab_stream.errors import EmbeddingsDisabledError, ModelUnavailableError
from kebab_stream.model import MODES, Mode, SearchHit, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.single.retrieve import NO_MODEL_HINT, NO_VECTORS_HINT, method_for
from kebab_stream.single.search import search
from tests.corpora import config_of, ingest_files
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
    scores, _ = generation.lexical.scores(terms(text))

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
    bound = library.snapshot.generation.lexical.scores(terms(text))[1]

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
