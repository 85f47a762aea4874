"""Every test of this folder fails if our code blocks the event loop."""

from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster, blockbuster_ctx


@pytest.fixture(autouse=True)
def blockbuster() -> Iterator[BlockBuster]:
    with blockbuster_ctx("kebab_stream") as blocker:
        yield blocker
