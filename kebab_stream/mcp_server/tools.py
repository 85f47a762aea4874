"""The tools: one table for their list and for their calls."""

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio

from kebab_stream.bulk import bulk_search
from kebab_stream.bulk.validate import LIMITS, too_many
from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.description import describe
from kebab_stream.doctor import diagnose
from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError, ModelUnavailableError, NotIndexedError, ReadonlyModeError
from kebab_stream.ingest import Text, ingest_files, ingest_text
from kebab_stream.mcp_server.arguments import Argument, checked
from kebab_stream.mcp_server.corpus import Corpus
from kebab_stream.mcp_server.published import ERROR, Schema, input_schema, output_schema, search_schema
from kebab_stream.model import TRUST_LEVELS, BulkCounts, BulkSearchItem, BulkSearchResponse, SearchResponse, Wire
from kebab_stream.reports import DoctorReport, DocumentReport, FetchResult, SchemaReport
from kebab_stream.single import validate
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


Handler = Callable[[Session, Mapping[str, Any], Progress], Awaitable[Wire]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool."""

    name: str
    description: str
    """What it does, for whom does not know it: what goes in, what comes out, what to do next."""
    accepts: Schema
    returns: Schema
    run: Handler
    """Checks the arguments first. Raises KebabError."""
    writes: bool = False
    replaces: bool = False
    """Whether something that was stored before may be lost."""


# --- arguments -------------------------------------------------------------------------------------------

_QUESTION = Argument(name="question", kind="text", accepts="text that is not blank", required=True)
_PATH = Argument(name="path", kind="text", accepts="the path of a file", required=True)
_QUERIES = Argument(
    name="queries",
    kind="items",
    accepts=f"an array of at most {LIMITS.items} objects, each with the arguments of search",
    required=True,
)
_STDIN: Final = (
    Argument(name="text", kind="text", accepts="the text itself", required=True),
    Argument(name="title", kind="text", accepts="what the text is", required=True),
    Argument(name="name", kind="text", accepts="a file name, such as notes.md or setup.py; TITLE.md if absent"),
    Argument(name="tag", kind="texts", accepts="tags, which search can ask for"),
    Argument(name="source_type", kind="text", accepts="a label for the filter source_type; notes if absent"),
    Argument(name="trust_level", kind="text", accepts=", ".join(TRUST_LEVELS), choices=TRUST_LEVELS),
)
_FETCH: Final = (
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


async def _schema(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> SchemaReport:
    checked(arguments, ())

    def report(engine: Engine | None = None) -> SchemaReport:
        snapshot = engine.snapshot if engine else None
        return describe(session.config, snapshot, commands=session.commands, batch=asdict(LIMITS))

    try:
        return await session.corpus.use(report)
    except NotIndexedError:
        return await run_blocking(report)


async def _doctor(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> DoctorReport:
    checked(arguments, ())
    return await run_blocking(diagnose, lambda: session.config)


async def _search(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> SearchResponse:
    query, opts = parse_item(arguments)
    return await session.corpus.use(lambda engine: engine.search_with_opts(query, opts))


async def _ask(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> Wire:
    """Not there yet: this is the one place that is to call what answers questions."""
    checked(arguments, (_QUESTION,))
    raise ModelUnavailableError("ask needs a language model", "set models.llm.provider; until then use search")


async def _ingest_file(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> DocumentReport:
    paths = [Path(checked(arguments, (_PATH,))["path"])]
    (report,) = await session.write("ingest_file", lambda: ingest_files(session.config, paths, copies_allowed=False))
    return report


async def _ingest_stdin(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> DocumentReport:
    given = checked(arguments, _STDIN)
    text = Text(data=given.pop("text").encode(), tags=given.pop("tag", ()), **given)
    return await session.write("ingest_stdin", lambda: ingest_text(session.config, text))


async def _fetch(session: Session, arguments: Mapping[str, Any], _progress: Progress) -> FetchResult:
    given = checked(arguments, _FETCH)
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


async def _bulk_search(session: Session, arguments: Mapping[str, Any], progress: Progress) -> BulkSearchResponse:
    queries: list[object] = checked(arguments, (_QUERIES,))["queries"]
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
    ((item,), _) = bulk_search(engine, [value])
    return item


# --- the table -------------------------------------------------------------------------------------------

TOOLS: Final[Sequence[Tool]] = (
    Tool(
        name="schema",
        description="What the index holds (documents by lang, media, source, repo …, which are values for filters of"
        " `search`), what this server can do, its limits and versions.",
        accepts=input_schema(()),
        returns=output_schema(SchemaReport),
        run=_schema,
    ),
    Tool(
        name="doctor",
        description="Check settings, index, checksums and embedding model; every finding has a `hint` what to do."
        " Takes seconds on a large index. For after an `index_corrupt` or `model_unavailable`.",
        accepts=input_schema(()),
        returns=output_schema(DoctorReport),
        run=_doctor,
    ),
    Tool(
        name="search",
        description="Find passages in the user's indexed notes, documentation and code, by words and by meaning."
        ' `query` is plain text in any language, without operators; a "quoted part" ranks exact matches higher.'
        " Hits come best first, with a `snippet`, a `citation` (path and lines) and a `score` that only ranks."
        " To read on, give the `chunk_id` or `citation.uri` of a hit to `fetch`."
        " `max_tokens` caps the whole answer. For more hits repeat the call with `next_cursor` as `cursor`.",
        accepts=search_schema(),
        returns=output_schema(SearchResponse),
        run=_search,
    ),
    Tool(
        name="ask",
        description="Answer a question from the index through the language model in the settings, with citations."
        " Slow. Without a model (`model_unavailable`) use `search` instead.",
        accepts=input_schema((_QUESTION,)),
        returns={
            "type": "object",
            "properties": {"schema_version": {"enum": ["answer.v1", ERROR]}},
            "required": ["schema_version"],
        },
        run=_ask,
    ),
    Tool(
        name="ingest_file",
        description="Index one file, new or changed, at once. It must lie in a folder that was ingested before;"
        " text from elsewhere goes through `ingest_stdin`.",
        accepts=input_schema((_PATH,)),
        returns=output_schema(DocumentReport),
        run=_ingest_file,
        writes=True,
    ),
    Tool(
        name="ingest_stdin",
        description="Store a text and index it. The same `name`, or the same `title` without one, replaces the text"
        " that was stored before.",
        accepts=input_schema(_STDIN),
        returns=output_schema(DocumentReport),
        run=_ingest_stdin,
        writes=True,
        replaces=True,
    ),
    Tool(
        name="fetch",
        description="Read text as it stands in the source: a passage (`chunk_id`, with `context` neighbours), what"
        " a `citation.uri` names (`uri`), or a document (`doc`), whole or from line `start` to `end`. Give one of the"
        " three. With `max_tokens` it ends at a line; go on at `next_line`, in a PDF at `next_page`.",
        accepts=input_schema(_FETCH),
        returns=output_schema(FetchResult),
        run=_fetch,
    ),
    Tool(
        name="bulk_search",
        description=f"Up to {LIMITS.items} searches in one call, answered in order. Each item has the arguments of"
        " `search`; an `id` of yours comes back in its `query`. An item that fails has an `error`, the others go on.",
        accepts=input_schema((_QUERIES,)),
        returns=output_schema(BulkSearchResponse),
        run=_bulk_search,
    ),
)
"""In the order in which they are listed."""
