"""One corpus for all tests of this folder, opened with and without vectors."""

from collections.abc import Iterator

import pytest

from kebab_stream.engine import Engine
from tests.corpora import config_of
from tests.single.library import ingest_library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The items of `library.py`, with vectors."""
    folder = tmp_path_factory.mktemp("library")
    config = config_of(folder / "data")
    ingest_library(config, folder)
    with Engine.open(config) as engine:
        yield engine


@pytest.fixture(scope="session")
def plain_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The same without vectors."""
    folder = tmp_path_factory.mktemp("plain-library")
    config = config_of(folder / "data", provider="none")
    ingest_library(config, folder)
    with Engine.open(config) as engine:
        yield engine
