"""Local-first hybrid search for notes, documentation and code, streamed as NDJSON.

    import os

    from kebab_stream import Engine, SearchOpts, SearchQuery, load_config

    with Engine.open(load_config(None, environ=os.environ)) as engine:
        response = engine.search_with_opts(SearchQuery(query="retry policy"), SearchOpts(max_tokens=2000))

The names are imported when they are first used: the command line would pay for all of them at every start.
"""

import importlib

TYPE_CHECKING = False  # checkers know the name; importing `typing` for it would take longer than all else before `main`
if TYPE_CHECKING:
    from kebab_stream.bulk import bulk_search_with_config
    from kebab_stream.config import Config, load_config
    from kebab_stream.engine import Engine
    from kebab_stream.errors import KebabError
    from kebab_stream.model import (
        BulkSearchItem,
        BulkSearchSummary,
        Filters,
        SearchHit,
        SearchOpts,
        SearchQuery,
        SearchResponse,
    )

__all__ = [
    "BulkSearchItem",
    "BulkSearchSummary",
    "Config",
    "Engine",
    "Filters",
    "KebabError",
    "SearchHit",
    "SearchOpts",
    "SearchQuery",
    "SearchResponse",
    "bulk_search_with_config",
    "load_config",
]

_HOMES = {
    "Config": "config",
    "Engine": "engine",
    "KebabError": "errors",
    "bulk_search_with_config": "bulk",
    "load_config": "config",
}
"""Submodule of each name; the others are in `model`."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'model')}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return __all__
