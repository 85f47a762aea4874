"""What the tests of settings share."""

from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a test may write a config file."""
    return tmp_path / "config.toml"
