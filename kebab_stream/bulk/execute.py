"""Answers one item; whatever goes wrong with it stays with it."""

from typing import Protocol

from kebab_stream.errors import InvalidInputError, KebabError
from kebab_stream.model import BulkSearchItem, BulkSearchSummary, ErrorRecord, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.ndjson import parse_json
from kebab_stream.render import error_record, generic_record, to_json
from kebab_stream.wire import parse_item


class Searcher(Protocol):
    """What answers queries: an open engine."""

    def search_with_opts(self, query: SearchQuery, opts: SearchOpts) -> SearchResponse:
        """Answer one query. Raises KebabError."""
        ...


def answer(searcher: Searcher, value: object) -> SearchResponse | ErrorRecord:
    """Check one decoded item and search it. Never raises: a failure is this item's answer."""
    try:
        query, opts = parse_item(value)
        return searcher.search_with_opts(query, opts)
    except KebabError as error:
        return error_record(error)
    except Exception as error:  # noqa: BLE001 - one item of many: the others are still to be answered
        return generic_record(error)


def bulk_item(echo: object, outcome: SearchResponse | ErrorRecord) -> BulkSearchItem:
    """Pair an answer with the value that asked for it."""
    if isinstance(outcome, ErrorRecord):
        return BulkSearchItem(query=echo, response=None, error=outcome)
    return BulkSearchItem(query=echo, response=outcome, error=None)


def summary_of(total: int, failed: int) -> BulkSearchSummary:
    """The counts of a finished run."""
    return BulkSearchSummary(total=total, succeeded=total - failed, failed=failed)


def unechoable(value: object) -> InvalidInputError | None:
    """The error for a value that cannot be written back as equal JSON.

    Lines are echoed as their own bytes and have no such limit; values that arrive decoded do: integers of more than
    64 bits, more than 254 levels, NaN, what is no JSON at all.
    """
    try:
        if parse_json(to_json(value)) == value:
            return None
    except TypeError:
        pass
    return InvalidInputError(
        "the item cannot be echoed: it has more than 254 levels, an integer of more than 64 bits, or no JSON value",
        "leave that out of id or meta",
    )
