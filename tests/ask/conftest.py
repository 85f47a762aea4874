"""A language model for these tests."""

from collections.abc import Iterator

import pytest

from tests.ask.loopback import Spoken, language_server


@pytest.fixture
def spoken() -> Iterator[Spoken]:
    """A language server that runs."""
    with language_server() as running:
        yield running
