"""The public API as its users write it; mypy reads this, tests/test_api.py runs it."""

from collections.abc import Sequence
from pathlib import Path

from kebab_stream import (
    BulkSearchItem,
    BulkSearchSummary,
    Config,
    Engine,
    Filters,
    KebabError,
    SearchHit,
    SearchOpts,
    SearchQuery,
    SearchResponse,
    bulk_search_with_config,
    load_config,
)


def settings(data_dir: Path) -> Config:
    """Settings from code, on top of file and environment."""
    return load_config(None, environ={}, overrides={"storage.data_dir": str(data_dir)})


def budgeted(config: Config, text: str) -> SearchResponse:
    """One query with a filter and a budget."""
    query = SearchQuery(query=text, mode="hybrid", k=5, filters=Filters(media=("markdown",)))
    with Engine.open(config) as engine:
        return engine.search_with_opts(query, SearchOpts(max_tokens=500))


def titles(config: Config, text: str) -> list[str | None]:
    """One query without options."""
    with Engine.open(config) as engine:
        hits: Sequence[SearchHit] = engine.search(SearchQuery(query=text))
        return [hit.section_label for hit in hits]


def batch(config: Config, items: Sequence[object]) -> tuple[list[BulkSearchItem], BulkSearchSummary]:
    """Many queries."""
    return bulk_search_with_config(config, items)


def code_of(config: Config, text: str) -> str | None:
    """The code of a failure."""
    try:
        titles(config, text)
    except KebabError as error:
        return error.code
    return None
