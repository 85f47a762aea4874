"""A model is loaded once, and one that cannot be is not asked for again at once."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kebab_stream.config import Models
from kebab_stream.embed.once import Once
from kebab_stream.engine import Engine
from kebab_stream.errors import KebabError, ModelUnavailableError
from kebab_stream.model import SearchQuery
from tests.corpora import config_of
from tests.embed.loopback import Handler, Vectors, vector_server


class Loader:
    """Gives what it is told to, or refuses."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)

    def __call__(self) -> object:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize("model", ["a model", None])
def test_a_model_or_that_there_is_none_is_remembered_for_good(model: object) -> None:
    load = Once(Loader(model), retry_s=0)

    assert [load(), load()] == [model, model]


def test_a_refusal_is_remembered_for_some_seconds_only() -> None:
    load = Once(Loader(ModelUnavailableError("away", "wait"), "a model"), retry_s=0.05)
    for _ in range(2):
        with pytest.raises(ModelUnavailableError, match="away"):
            load()
    time.sleep(0.06)

    assert load() == "a model"


@pytest.fixture
def vectors() -> Iterator[Vectors]:
    """A server that runs."""
    with vector_server() as running:
        yield running


def test_many_queries_wait_for_a_server_that_hangs_once(fixture_data: Path, vectors: Vectors) -> None:
    config = replace(config_of(fixture_data), models=Models(embedding=vectors.embedding(timeout_s=0.3)))

    def hang(_handler: Handler) -> None:
        vectors.stopped.wait(5)

    vectors.misbehave = hang
    with Engine.open(config) as engine:
        for number in range(5):
            with pytest.raises(KebabError, match=r"within 0\.3 s"):
                engine.search(SearchQuery(query=f"coffee {number}"))
        with pytest.raises(KebabError, match=r"within 0\.3 s"):
            engine.reopen().search(SearchQuery(query="coffee"))

    assert len(vectors.asked) == 1
