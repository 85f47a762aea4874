"""What the tools do: arguments checked, the right function called with them. `tools.py` has their list."""

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio

from kebab_stream import bulk
from kebab_stream.ask import ask_through
from kebab_stream.bulk.validate import LIMITS, too_many
from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.description import describe
from kebab_stream.doctor import diagnose
from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError, NotIndexedError, ReadonlyModeError
from kebab_stream.ingest import Text, ingest_files, ingest_text
from kebab_stream.mcp_server.arguments import Argument, checked
from kebab_stream.mcp_server.corpus import Corpus
from kebab_stream.model import (
    MODES,
    TRUST_LEVELS,
    BulkCounts,
    BulkSearchItem,
    BulkSearchResponse,
    Filters,
    SearchQuery,
    SearchResponse,
)
from kebab_stream.reports.answers import Answer
from kebab_stream.reports.housekeeping import DoctorReport, SchemaReport
from kebab_stream.reports.ingest import DocumentReport
from kebab_stream.reports.lookup import FetchResult
from kebab_stream.single import validate
from kebab_stream.single.filters import FILTERS
from kebab_stream.wire import parse_item

Result = TypeVar("Result")

Progress = Callable[[int, int], Awaitable[None]]
"""Told how many of how many are done."""


class Session:
    """What all calls of a client share."""

    def __init__(self, config: Config, commands: Mapping[str, str]) -> None:
        self.config = config
        self.commands = commands
        """Of the command line, name to what it does: the tool `schema` lists them."""
        self.corpus = Corpus(config)
        self._writing = anyio.CapacityLimiter(1)

    async def write(self, tool: str, func: Callable[[], Result]) -> Result:
        """Run a function that changes the index: one at a time, beside searches, and to its end.

        Raises:
            ReadonlyModeError: --readonly is given.
            IndexLockedError: another process is writing.
        """
        if self.config.readonly:
            raise ReadonlyModeError(f"the tool {tool} writes, and --readonly forbids it", "start it without --readonly")
        return await run_blocking(func, limiter=self._writing)


# --- arguments -------------------------------------------------------------------------------------------

QUESTION: Final = (
    Argument(name="question", kind="text", accepts="text that is not blank", required=True),
    Argument(name="k", kind="number", accepts="passages to read at most; 8 if absent", limits=validate.K),
)
ASK: Final = (
    *QUESTION,
    Argument(name="mode", kind="text", accepts=validate.ACCEPTED["mode"], choices=MODES),
    *(
        Argument(
            name=filter_.name,
            kind="text" if filter_.values == "one" else "texts",
            accepts=filter_.accepts,
            choices=TRUST_LEVELS if filter_.name == "trust_min" else (),
        )
        for filter_ in FILTERS
    ),
)
"""More than is published, which is QUESTION: the rest is as in a search, and the description says so."""
PATH: Final = Argument(name="path", kind="text", accepts="the path of a file", required=True)
QUERIES: Final = Argument(
    name="queries",
    kind="items",
    accepts=f"an array of at most {LIMITS.items} objects, each with the arguments of search",
    required=True,
)
STDIN: Final = (
    Argument(name="text", kind="text", accepts="the text itself", required=True),
    Argument(name="title", kind="text", accepts="what the text is", required=True),
    Argument(name="name", kind="text", accepts="a file name, such as notes.md or setup.py; TITLE.md if absent"),
    Argument(name="tag", kind="texts", accepts="tags, which search can ask for"),
    Argument(name="source_type", kind="text", accepts="a label for the filter source_type; notes if absent"),
    Argument(name="trust_level", kind="text", accepts=", ".join(TRUST_LEVELS), choices=TRUST_LEVELS),
)
FETCH: Final = (
    Argument(name="chunk_id", kind="text", accepts=validate.FETCH_ACCEPTED["chunk_id"]),
    Argument(name="context", kind="number", accepts="chunks before and after it", limits=validate.CONTEXT),
    Argument(name="uri", kind="text", accepts=validate.FETCH_ACCEPTED["uri"]),
    Argument(name="doc", kind="text", accepts=validate.FETCH_ACCEPTED["doc"]),
    Argument(name="start", kind="number", accepts="first line of doc", limits=validate.LINE),
    Argument(name="end", kind="number", accepts="last line", limits=validate.LINE),
    Argument(name="source", kind="text", accepts="the source_id, where several sources have the path"),
    Argument(name="max_tokens", kind="number", accepts="budget for the answer", limits=validate.MAX_TOKENS),
)
_WHATS: Final[Mapping[str, Sequence[str]]] = {
    "chunk_id": ("context",),
    "uri": ("source", "max_tokens"),
    "doc": ("start", "end", "source", "max_tokens"),
}
"""What a fetch may ask for → what may stand beside it."""


# --- what they do ----------------------------------------------------------------------------------------


async def schema(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> SchemaReport:
    """What there is and what can be done; also without an index."""
    checked(arguments, ())

    def report(engine: Engine | None = None) -> SchemaReport:
        snapshot = engine.snapshot if engine else None
        return describe(session.config, snapshot, commands=session.commands, batch=asdict(LIMITS))

    try:
        return await session.corpus.use(report)
    except NotIndexedError:
        return await run_blocking(report)


async def doctor(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> DoctorReport:
    """Look at everything, with the settings that the session has."""
    checked(arguments, ())
    return await run_blocking(diagnose, lambda: session.config)


async def search(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> SearchResponse:
    """One search."""
    query, opts = parse_item(arguments)
    return await session.corpus.use(lambda engine: engine.search_with_opts(query, opts))


async def ask(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> Answer:
    """Answer a question; the engine is in use for the search only."""
    given = checked(arguments, ASK)
    if "ingested_after" in given:
        given["ingested_after"] = validate.instant(given["ingested_after"])
    question, mode, k = given.pop("question"), given.pop("mode", "hybrid"), given.pop("k", None)
    query = SearchQuery(query=question, mode=mode, k=k, filters=Filters(**given))
    return await ask_through(session.corpus.use, query, llm=session.config.models.llm)


async def ingest_file(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> DocumentReport:
    """Take in one file of a known source."""
    paths = [Path(checked(arguments, (PATH,))["path"])]
    (report,) = await session.write("ingest_file", lambda: ingest_files(session.config, paths, copies_allowed=False))
    return report


async def ingest_stdin(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> DocumentReport:
    """Take in a text as a stored copy."""
    given = checked(arguments, STDIN)
    text = Text(data=given.pop("text").encode(), tags=given.pop("tag", ()), **given)
    return await session.write("ingest_stdin", lambda: ingest_text(session.config, text))


async def fetch(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> FetchResult:
    """Read a chunk, a document or a span."""
    given = checked(arguments, FETCH)
    what = _asked_for(given)
    wanted = given.pop(what)
    match what:
        case "chunk_id":
            return await session.corpus.use(lambda engine: engine.fetch_chunk(wanted, **given))
        case "doc" if "start" not in given and "end" not in given:
            return await session.corpus.use(lambda engine: engine.fetch_document(wanted, **given))
        case _:
            return await session.corpus.use(lambda engine: engine.fetch_span(wanted, **given))


def _asked_for(given: Mapping[str, Any]) -> str:
    """Which of the three things a fetch names.

    Raises:
        InvalidInputError: none, several, or something beside it that belongs to another.
    """
    whats = [what for what in _WHATS if what in given]
    if len(whats) != 1:
        problem = f"{' and '.join(whats)} are given" if whats else "nothing to fetch is named"
        raise InvalidInputError(problem, f"give one of {', '.join(_WHATS)}", {"key": whats[0] if whats else "chunk_id"})
    for key in given:
        if key != whats[0] and key not in _WHATS[whats[0]]:
            beside = ", ".join(_WHATS[whats[0]])
            raise InvalidInputError(f"{key} is of no use with {whats[0]}", f"use {beside} with it", {"key": key})
    return whats[0]


async def bulk_search(session: Session, arguments: Mapping[str, Any], progress: Progress) -> BulkSearchResponse:
    """Search item by item, on one state of the index."""
    queries: list[object] = checked(arguments, (QUERIES,))["queries"]
    if len(queries) > LIMITS.items:
        error = too_many(LIMITS)
        raise InvalidInputError(error.message, error.hint, error.details)
    results: list[BulkSearchItem] = []
    if queries:
        async with session.corpus.held() as held:
            for value in queries:
                results.append(await held.use(functools.partial(_answered, value)))
                await progress(len(results), len(queries))
    failed = sum(item.error is not None for item in results)
    counts = BulkCounts(total=len(results), succeeded=len(results) - failed, failed=failed)
    return BulkSearchResponse(results=tuple(results), summary=counts)


def _answered(value: object, engine: Engine) -> BulkSearchItem:
    ((item,), _) = bulk.bulk_search(engine, [value])
    return item
