"""The Python API, as `tests/typing/api.py` uses it."""

from pathlib import Path

import pytest

import kebab_stream
from kebab_stream.errors import ConfigInvalidError
from tests.typing import api


def test_all_names_are_there_and_sorted() -> None:
    assert kebab_stream.__all__ == sorted(kebab_stream.__all__)
    assert all(getattr(kebab_stream, name) for name in kebab_stream.__all__)
    with pytest.raises(AttributeError):
        kebab_stream.no_such_name  # noqa: B018


def test_a_search_by_code_is_a_search(fixture_data: Path) -> None:
    config = api.settings(fixture_data)
    response = api.budgeted(config, "coffee grind")

    assert 1 <= len(response.hits) <= 5
    assert api.titles(config, "coffee grind")[0] == response.hits[0].section_label


def test_a_batch_by_code_isolates_failures(fixture_data: Path) -> None:
    config = api.settings(fixture_data)
    items, summary = api.batch(config, [{"query": "coffee"}, {"query": " "}, 7])

    assert [item.error.code if item.error else None for item in items] == [None, "invalid_input", "invalid_input"]
    assert (summary.total, summary.succeeded, summary.failed) == (3, 1, 2)
    assert api.batch(config, [])[1].total == 0


def test_a_batch_above_a_hundred_is_refused(fixture_data: Path) -> None:
    with pytest.raises(ConfigInvalidError, match="queries: max 100 items"):
        api.batch(api.settings(fixture_data), [{"query": "a"}] * 101)


def test_failures_have_codes(tmp_path: Path) -> None:
    assert api.code_of(api.settings(tmp_path), "coffee") == "not_indexed"
