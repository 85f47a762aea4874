"""What the model gets to read, and when it is not asked at all."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kebab_stream.ask.passages import CONTEXT_CHARS, DEFAULT_K, Found, find_passages, has_evidence
from kebab_stream.config import Chunking, Embedding, Ingest, Models, Search
from kebab_stream.embed import load_embedder
from kebab_stream.embed.once import Once
from kebab_stream.engine import Engine
from kebab_stream.model import Filters, Mode, SearchHit, SearchQuery
from tests.corpora import config_of, ingest_files


@pytest.fixture
def engine(fixture_data: Path) -> Iterator[Engine]:
    with Engine.open(config_of(fixture_data)) as opened:
        yield opened


def found(engine: Engine, question: str, **more: Any) -> Found:
    return find_passages(engine, SearchQuery(query=question, **more))


def hits_of(engine: Engine, question: str, **more: Any) -> list[SearchHit]:
    return engine.search(SearchQuery(query=question, **more))


def test_passages_are_the_hits_in_their_order_with_their_whole_text(engine: Engine) -> None:
    hits = hits_of(engine, "restore the wiki database", k=3)
    passages = found(engine, "restore the wiki database", k=3).passages

    assert [each.chunk_id for each in passages] == [hit.chunk_id for hit in hits]
    assert [each.number for each in passages] == [1, 2, 3]
    assert [each.text for each in passages] == [engine.fetch_chunk(hit.chunk_id).text for hit in hits]
    assert passages[0].citation == hits[0].citation


@pytest.mark.parametrize("k", [None, 0])
def test_without_a_number_eight_passages_are_read(engine: Engine, k: int | None) -> None:
    assert found(engine, "how are backups made", k=k).hits == DEFAULT_K


def test_filters_hold(engine: Engine) -> None:
    passages = found(engine, "backup", filters=Filters(lang="ko")).passages

    assert passages
    assert all(each.doc_path.startswith("ko/") for each in passages)


def test_the_passages_fit_however_many_are_asked_for(engine: Engine) -> None:
    read = found(engine, "backup coffee kimchi 백업 커피", k=1000)

    assert read.hits > len(read.passages) > DEFAULT_K
    assert sum(len(each.text) for each in read.passages) <= CONTEXT_CHARS


def test_a_passage_that_is_larger_than_all_that_fits_is_cut(tmp_path: Path) -> None:
    chunking = Chunking(target_chars=50_000, max_chars=100_000)
    config = replace(config_of(tmp_path / "data", provider="none"), ingest=Ingest(chunking=chunking))
    ingest_files(config, tmp_path / "notes", {"a.md": "coffee " * 2_000, "b.md": "tea, no coffee"})

    with Engine.open(config) as engine:
        (first,) = found(engine, "coffee", filters=Filters(path_glob="a.md")).passages

    assert len(first.text) == CONTEXT_CHARS
    assert first.text.endswith("…")


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_without_hits_there_is_nothing_to_read(engine: Engine, mode: Mode) -> None:
    assert found(engine, "!!! ???", mode=mode) == Found(hits=0, passages=(), missing="no_hits")
    assert found(engine, "coffee", mode=mode, filters=Filters(lang="xx")).missing == "no_hits"


@pytest.mark.parametrize("fusion", ["convex", "rrf"])
def test_the_best_of_nothing_is_refused_whatever_the_fusion(fixture_data: Path, fusion: Any) -> None:
    """Reciprocal ranks give the first hit about 1.0 however little it has to do with the question."""
    config = config_of(fixture_data, search=Search(fusion=fusion))
    with Engine.open(config) as engine:
        best = hits_of(engine, "rath vorpal the bandersnatch")[0]
        nonsense = found(engine, "rath vorpal the bandersnatch")
        question = found(engine, "How is pour-over coffee brewed?")

    assert (nonsense.missing, nonsense.passages) == ("low_evidence", ())
    assert nonsense.hits == DEFAULT_K
    assert question.missing is None
    assert fusion == "convex" or best.score > 0.4


@pytest.mark.parametrize(
    "question",
    [
        "how long should pour-over coffee bloom",
        "위키 데이터베이스는 어떻게 복구하나요?",
        "What do I do when the router is locked?",
        "김치찌개에는 뭐가 들어가?",
        "kubernetes에서 파드가 안 뜨면?",
        "why did the certificate expire",
    ],
)
@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_questions_that_the_corpus_answers_pass(engine: Engine, question: str, mode: Mode) -> None:
    assert found(engine, question, mode=mode).missing is None


def test_a_question_in_another_language_passes_by_its_meaning(engine: Engine) -> None:
    question = "how is kimchi stew cooked"
    filters = Filters(lang="ko")

    assert found(engine, question, filters=filters).missing is None


def test_words_or_meaning_are_enough_and_neither_is_not(engine: Engine) -> None:
    (hit,) = hits_of(engine, "coffee", k=1)
    (by_meaning,) = hits_of(engine, "coffee", k=1, mode="vector")
    score = hit.retrieval.lexical_score
    assert score

    assert has_evidence([hit], score)
    assert has_evidence([by_meaning], score)
    assert not has_evidence(hits_of(engine, "coffee", k=1, mode="lexical"), score * 1000)


def test_a_meaning_counts_as_far_as_it_lies_above_the_floor_of_the_model(engine: Engine) -> None:
    (hit,) = hits_of(engine, "coffee", k=1, mode="vector")
    cosine = hit.retrieval.vector_score
    assert cosine

    assert has_evidence([hit], 1.0, floor=cosine - 0.5 * (1 - cosine))
    assert not has_evidence([hit], 1.0, floor=cosine - 0.1 * (1 - cosine))


def test_the_floor_of_evidence_is_that_of_the_model_which_ranked(engine: Engine) -> None:
    raised = load_embedder(Embedding(score_floor=0.98))
    engine._embedder = Once(lambda: raised)

    assert found(engine, "how are backups made", mode="vector").missing == "low_evidence"
    assert found(engine, "how are backups made", mode="lexical").missing is None


def test_a_question_by_words_loads_no_model(fixture_data: Path) -> None:
    config = config_of(fixture_data)
    nowhere = replace(config, models=Models(embedding=Embedding(model_path=fixture_data / "nowhere")))
    with Engine.open(nowhere) as engine:
        assert found(engine, "how are backups made", mode="lexical").passages
