"""One server for the tests that change nothing: it takes seconds to start."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client

from tests.mcp.clients import connected


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Fixtures that outlive a test need one event loop for all."""
    return "asyncio"


@pytest.fixture(scope="session")
async def client(fixture_data: Path) -> AsyncIterator[Client]:
    """A client of a server on `fixtures/corpus`; not to be changed."""
    async with connected(fixture_data) as client:
        await client.list_tools()  # from now on the SDK checks answers against the published schemas
        yield client
