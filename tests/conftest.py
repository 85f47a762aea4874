"""What all tests share: an environment without the user's settings, and a small corpus that is ingested once."""

import functools
import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import HealthCheck, settings

from kebab_stream.config import Config, Storage
from kebab_stream.ingest import IngestRequest, ingest
from tests.paths import FIXTURES

# A busy machine makes an example slow now and then; tests that are about time measure it themselves.
# CI draws the same examples each time: what fails there, fails again. New ones are drawn on developers' machines.
settings.register_profile(
    "steady",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def _no_user_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point every XDG folder somewhere empty, and drop what the caller's environment says to kebab."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("KEBAB_"):
                patch.delenv(name)
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        yield


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on the event loop that the program uses."""
    return "asyncio"


@pytest.fixture(autouse=True)
def blockbuster() -> Iterator[BlockBuster]:
    """Every test fails if our code blocks the event loop."""
    with blockbuster_ctx("kebab_stream") as blocker:
        yield blocker


@pytest.fixture(scope="session")
def fixture_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder into which `fixtures/corpus` was ingested; not to be changed."""
    data_dir = tmp_path_factory.mktemp("fixture-data")
    config = Config(storage=Storage(data_dir=data_dir))
    request = IngestRequest(paths=[FIXTURES / "corpus"])
    anyio.run(functools.partial(ingest, config, request, lambda *_: None))
    return data_dir
