"""Reads the lines that a replay or a bulk run wrote, two files in step."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.index.checksum import open_at_once
from kebab_stream.ndjson import Json, parse_json
from kebab_stream.render import to_json
from kebab_stream.reports.offline import ComparedHit
from kebab_stream.single.validate import shown

By = Literal["chunk", "document"]

_HINT: Final = "both files are to be answers to the same queries in the same order, as `kebab replay` writes them"
_SNIPPET_CHARS: Final = 200
_KEYS: Final[dict[By, str]] = {"chunk": "chunk_id", "document": "doc_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer."""

    query: str
    """The text that was searched for; of what is no query, its JSON."""
    id: Json
    ids: tuple[str, ...]
    """Of the hits, best first, each once."""
    hits: tuple[dict[str, Any], ...]
    """As many as there are ids."""
    page_length: int
    """Hits of the answer; of these, several may have the same id."""
    error: str | None
    """Its code."""
    total_ms: float | None
    """From the trace, if there is one."""

    def top(self, count: int) -> tuple[ComparedHit, ...]:
        """The first hits, as a report shows them."""
        return tuple(
            ComparedHit(
                id=one,
                doc_path=hit.get("doc_path", ""),
                heading_path=tuple(hit.get("heading_path", ())),
                score=hit.get("score", 0.0),
                snippet=_cut(" ".join(hit.get("snippet", "").split())),
                source_id=hit.get("source_id"),
            )
            for one, hit in zip(self.ids[:count], self.hits, strict=False)
        )


def pairs(a: Path, b: Path, by: By) -> Iterator[tuple[int, Answer, Answer]]:
    """(line from 1, answer of A, answer of B) of two files, line by line.

    Raises:
        StorageError: a file cannot be read.
        InvalidInputError: a file is not there or a line is no answer; or the two answer different queries: then the
            text searched for, or the `id` that the caller gave, are not the same, or one file is longer.
    """
    with ExitStack() as opened:
        files = [opened.enter_context(_opened(path)) for path in (a, b)]
        for number, (one, other) in enumerate(zip_longest(*files), start=1):
            if one is None or other is None:
                raise InvalidInputError(
                    f"{a if one is None else b} ends before line {number}, the other goes on", _HINT
                )
            first, second = _answer(a, number, one, by), _answer(b, number, other, by)
            if (first.query, first.id) != (second.query, second.id):
                asked = f"{shown(first.query)} and {shown(second.query)}"
                raise InvalidInputError(f"line {number}: the two answer different queries, {asked}", _HINT)
            yield number, first, second


def _opened(path: Path) -> BinaryIO:
    """A file, or a pipe that somebody writes to; one that nobody writes to has nothing, and is not waited for."""
    try:
        file = open(path, "rb", opener=open_at_once)  # noqa: SIM115  # the caller closes it
        os.set_blocking(file.fileno(), True)
        return file
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        problem = f"{path} is a folder" if isinstance(error, IsADirectoryError) else f"{path} does not exist"
        raise InvalidInputError(problem, "give a file that `kebab replay` wrote", {"path": str(path)}) from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}", None, {"path": str(path)}) from error


def _answer(path: Path, number: int, line: bytes, by: By) -> Answer:
    value: Any = parse_json(line)
    try:
        response, error, echo = value["response"], value["error"], value["query"]
        hits: dict[str, dict[str, Any]] = {}
        for hit in response["hits"] if error is None else ():
            hits.setdefault(_of_type(str, hit[_KEYS[by]]), _sound(hit))
        trace = response["trace"] if error is None else None
        return Answer(
            query=_query(echo),
            id=echo.get("id") if isinstance(echo, dict) else None,
            ids=tuple(hits),
            hits=tuple(hits.values()),
            page_length=0 if error is not None else len(response["hits"]),
            error=None if error is None else _of_type(str, error["code"]),
            total_ms=None if trace is None else float(_of_type((int, float), trace["timing"]["total_ms"])),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise InvalidInputError(
            f"{path} line {number} is no bulk_search_item.v1",
            "give files that `kebab replay` wrote",
            {"path": str(path), "line": number},
        ) from problem


def _sound(hit: dict[str, Any]) -> dict[str, Any]:
    """A hit. Raises TypeError if a report could not show it."""
    _of_type((int, float), hit.get("score", 0.0))
    texts = (hit.get("doc_path", ""), hit.get("snippet", ""), hit.get("source_id", ""))
    for text in (*texts, *_of_type(list, hit.get("heading_path", []))):
        _of_type(str, text)
    return hit


def _cut(snippet: str) -> str:
    return snippet if len(snippet) <= _SNIPPET_CHARS else snippet[: _SNIPPET_CHARS - 1].rstrip() + "…"


def _of_type(wanted: type | tuple[type, ...], value: Any) -> Any:
    """The value. Raises TypeError if it is of another type; true and false are no numbers."""
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise TypeError
    return value


def _query(echo: Any) -> str:
    query = echo.get("query") if isinstance(echo, dict) else echo
    return query if isinstance(query, str) else to_json(echo).decode()
