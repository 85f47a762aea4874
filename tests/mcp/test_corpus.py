"""One engine, kept open and opened again."""

import sqlite3
from pathlib import Path

import pytest

from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.engine import Engine
from kebab_stream.errors import NotIndexedError
from kebab_stream.ingest import Text, ingest_text
from kebab_stream.mcp_server.corpus import Corpus
from tests.corpora import config_of


def documents(engine: Engine) -> int:
    return engine.snapshot.store.count("documents")


def same(engine: Engine) -> Engine:
    return engine


async def store(config: Config, title: str) -> None:
    await run_blocking(ingest_text, config, Text(title=title, data=b"zebra"))


async def test_an_engine_stays_open_until_something_is_committed(tmp_path: Path) -> None:
    config = config_of(tmp_path, provider="none")
    corpus = Corpus(config)
    with pytest.raises(NotIndexedError):
        await corpus.use(documents)

    await store(config, "a")
    first, again = await corpus.use(same), await corpus.use(same)
    await store(config, "b")
    second = await corpus.use(same)

    assert first is again
    assert second is not first
    assert second._embedder is first._embedder  # the model is loaded once a session
    assert await corpus.use(documents) == 2
    with pytest.raises(sqlite3.ProgrammingError):
        await run_blocking(documents, first)  # closed
    await corpus.close()
    with pytest.raises(sqlite3.ProgrammingError):
        await run_blocking(documents, second)


async def test_a_call_that_is_under_way_keeps_the_state_it_began_with(tmp_path: Path) -> None:
    config = config_of(tmp_path, provider="none")
    corpus = Corpus(config)
    await store(config, "a")

    async with corpus.held() as outer:
        await store(config, "b")
        assert await corpus.use(documents) == 2
        async with corpus.held() as inner:
            assert (await outer.use(documents), await inner.use(documents)) == (1, 2)
        old = await outer.use(same)
        assert await outer.use(documents) == 1

    with pytest.raises(sqlite3.ProgrammingError):
        await run_blocking(documents, old)
    assert await corpus.use(documents) == 2


async def test_an_index_that_went_away_is_looked_for_again(tmp_path: Path) -> None:
    config = config_of(tmp_path, provider="none")
    corpus = Corpus(config)
    await store(config, "a")
    assert await corpus.use(documents) == 1

    file, elsewhere = tmp_path / "kebab.sqlite", tmp_path / "away"
    file.rename(elsewhere)
    for _ in range(2):
        with pytest.raises(NotIndexedError):
            await corpus.use(documents)
    elsewhere.rename(file)

    assert await corpus.use(documents) == 1
