"""The best hits in the order of a model: what that order is made of, with a stand-in for the model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kebab_stream.embed.rerank import Reranker
from kebab_stream.engine import Engine
from kebab_stream.errors import ModelUnavailableError, RetrievalError
from kebab_stream.model import MODES, Mode, RerankedRetrieval, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.single.search import search
from tests.single.library import ITEMS
from tests.single.test_search import NOW, ask

QUERY = SearchQuery(query="coffee", k=1000, rerank=True)


class Says:
    """A model that says these numbers, one after the other, as a library's does: when asked for."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = numbers
        self.passages: list[str] = []

    def rerank(self, _query: str, passages: Sequence[str], **_options: Any) -> Iterator[float]:
        self.passages = list(passages)
        yield from self.numbers[: len(passages)]


def ordered(engine: Engine, says: Says, query: SearchQuery = QUERY, depth: int = 4) -> SearchResponse:
    reranker = Reranker(says, "stand-in", "0" * 16, depth)
    settings = engine.config.search
    return search(
        engine.snapshot, engine._embedder, query, SearchOpts(), settings, now=NOW, load_reranker=lambda: reranker
    )


@pytest.mark.parametrize("mode", MODES)
def test_equal_scores_as_written_keep_their_order(library: Engine, mode: Mode) -> None:
    query = replace(QUERY, mode=mode)
    before = [hit.chunk_id for hit in ask(library, replace(query, rerank=False)).hits]
    after = ordered(library, Says(0.1, 7.0000001, 7.0000004, -3.0), query).hits

    assert [hit.chunk_id for hit in after] == [*(before[place] for place in (1, 2, 0, 3)), *before[4:]]
    assert [hit.rank for hit in after] == list(range(1, len(before) + 1))
    found = [hit.retrieval for hit in after]
    assert all(isinstance(each, RerankedRetrieval) for each in found)
    scores = [getattr(each, "rerank_score", 0) for each in found]
    assert scores == [7.0, 7.0, 0.1, -3.0, *[None] * (len(before) - 4)]
    assert [hit.score for hit in after] == [each.fusion_score for each in found]


def test_the_model_reads_the_texts_of_the_chunks_in_their_order(library: Engine) -> None:
    says = Says(*range(4))
    first = ordered(library, says).hits[3]

    assert says.passages[0].strip() in {item.body.strip() for item in ITEMS}
    assert says.passages[0].strip() == first_text(library, first.chunk_id)


def first_text(library: Engine, chunk_id: str) -> str:
    ((chunk, _),) = library.snapshot.store.chunks_by_id([bytes.fromhex(chunk_id)]).values()
    return chunk.text.strip()


def test_more_depth_than_hits_and_no_hits_at_all_are_fine(library: Engine) -> None:
    every = ordered(library, Says(*np.arange(1000.0)), depth=1000).hits

    assert [getattr(hit.retrieval, "rerank_score", None) for hit in every] == list(range(len(every) - 1, -1, -1))
    assert ordered(library, Says(), replace(QUERY, query="?!")).hits == ()


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_what_is_no_number_is_a_failure_of_the_model(library: Engine, odd: float) -> None:
    with pytest.raises(RetrievalError, match="stand-in failed"):
        ordered(library, Says(1.0, odd, 2.0, 3.0))


def test_without_a_model_it_is_refused_before_anything_is_searched(library: Engine) -> None:
    with pytest.raises(ModelUnavailableError):
        library.search_with_opts(QUERY)
