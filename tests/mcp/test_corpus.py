"""One engine, kept open and opened again."""

import sqlite3
from pathlib import Path

import pytest

from kebab_stream.engine import Engine
from kebab_stream.errors import NotIndexedError
from kebab_stream.ingest import Text, ingest_text
from kebab_stream.mcp_server.corpus import Corpus
from tests.corpora import config_of


def documents(engine: Engine) -> int:
    return engine.snapshot.store.count("documents")


def same(engine: Engine) -> Engine:
    return engine


async def test_an_engine_stays_open_until_something_is_committed(tmp_path: Path) -> None:
    config = config_of(tmp_path, provider="none")
    corpus = Corpus(config)
    with pytest.raises(NotIndexedError):
        await corpus.use(documents)

    ingest_text(config, Text(title="a", data=b"zebra"))
    first, again = await corpus.use(same), await corpus.use(same)
    ingest_text(config, Text(title="b", data=b"zebra"))
    second = await corpus.use(same)

    assert first is again
    assert second is not first
    assert await corpus.use(documents) == 2
    with pytest.raises(sqlite3.ProgrammingError):
        documents(first)  # closed
    await corpus.close()
    with pytest.raises(sqlite3.ProgrammingError):
        documents(second)


async def test_a_call_that_is_under_way_keeps_the_state_it_began_with(tmp_path: Path) -> None:
    config = config_of(tmp_path, provider="none")
    corpus = Corpus(config)
    ingest_text(config, Text(title="a", data=b"zebra"))

    async with corpus.held() as outer:
        ingest_text(config, Text(title="b", data=b"zebra"))
        assert await corpus.use(documents) == 2
        async with corpus.held() as inner:
            assert (await outer.use(documents), await inner.use(documents)) == (1, 2)
        old = await outer.use(same)
        assert await outer.use(documents) == 1

    with pytest.raises(sqlite3.ProgrammingError):
        documents(old)
    assert await corpus.use(documents) == 2


async def test_an_index_that_went_away_is_looked_for_again(tmp_path: Path) -> None:
    config = config_of(tmp_path, provider="none")
    corpus = Corpus(config)
    ingest_text(config, Text(title="a", data=b"zebra"))
    assert await corpus.use(documents) == 1

    store = tmp_path / "kebab.sqlite"
    store.rename(tmp_path / "away")
    for _ in range(2):
        with pytest.raises(NotIndexedError):
            await corpus.use(documents)
    (tmp_path / "away").rename(store)

    assert await corpus.use(documents) == 1
