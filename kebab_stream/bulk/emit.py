"""Writes answers as they come: one JSON line each for programs, a block of text each for people."""

from collections.abc import Callable
from typing import Protocol

import orjson

from kebab_stream.bulk.execute import bulk_item
from kebab_stream.bulk.validate import BatchLine
from kebab_stream.model import BulkSearchSummary, ErrorRecord, SearchResponse
from kebab_stream.render import error_text, printable, to_json
from kebab_stream.single.validate import shown

Sink = Callable[[bytes], None]
"""Writes all bytes at once and keeps none back, such as `partial(write_all, 1)`."""


class Emitter(Protocol):
    """Where the answers of a run go. Called from a worker thread, one call at a time."""

    def item(self, number: int, line: BatchLine, outcome: SearchResponse | ErrorRecord) -> None:
        """Write the answer to item `number`, counted from 1."""
        ...

    def summary(self, summary: BulkSearchSummary) -> None:
        """Write the last line."""
        ...


class JsonEmitter:
    """`bulk_search_item.v1` lines to `out`, the summary line to `err`."""

    def __init__(self, out: Sink, err: Sink) -> None:
        self._out = out
        self._err = err

    def item(self, number: int, line: BatchLine, outcome: SearchResponse | ErrorRecord) -> None:
        # A fragment is written as it is: big integers, equal keys and deep nesting survive.
        self._out(to_json(bulk_item(orjson.Fragment(line.data), outcome)) + b"\n")

    def summary(self, summary: BulkSearchSummary) -> None:
        self._err(to_json(summary) + b"\n")


class HumanEmitter:
    """Blocks of text to `out`, one blank line between two; headers, notes, errors and the summary to `err`.

    Args:
        out: standard output.
        err: standard error.
        render: what a single search prints on standard output for this response and query, safe for a terminal.
        notes: what it prints on standard error.
        quiet: leave out the hints of errors.
    """

    def __init__(
        self,
        out: Sink,
        err: Sink,
        *,
        render: Callable[[SearchResponse, str], str],
        notes: Callable[[SearchResponse], str] = lambda response: "",
        quiet: bool = False,
    ) -> None:
        self._out = out
        self._err = err
        self._render = render
        self._notes = notes
        self._quiet = quiet
        self._gap = b""

    def item(self, number: int, line: BatchLine, outcome: SearchResponse | ErrorRecord) -> None:
        value = line.value
        header = f"# Query {number}: {_title(value)}"
        if isinstance(outcome, ErrorRecord):
            self._say(f"{header}\n{error_text(outcome, with_hint=not self._quiet)}")
            return
        block = self._render(outcome, _query(value) or "").rstrip("\n")
        if block and self._gap:
            self._out(self._gap)  # before the header: on a terminal the two streams share the screen
        self._say(header)
        if block:
            self._out(_encoded(block + "\n"))
            self._gap = b"\n"
        self._say(self._notes(outcome))

    def summary(self, summary: BulkSearchSummary) -> None:
        self._say(f"bulk_summary: total={summary.total} succeeded={summary.succeeded} failed={summary.failed}")

    def _say(self, text: str) -> None:
        if text := text.rstrip():
            self._err(_encoded(text + "\n"))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _title(value: object) -> str:
    """The query on one line; an item without a query, as short JSON."""
    query = _query(value)
    return shown(value) if query is None else printable(" ".join(query.split()))


def _query(value: object) -> str | None:
    query = value.get("query") if isinstance(value, dict) else None
    return query if isinstance(query, str) else None
