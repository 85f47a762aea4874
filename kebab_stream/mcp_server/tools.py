"""The tools: one table for their list and for their calls."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kebab_stream.bulk.validate import LIMITS
from kebab_stream.mcp_server import calls
from kebab_stream.mcp_server.published import Schema, input_schema, output_schema, search_schema
from kebab_stream.model import BulkSearchResponse, SearchResponse, Wire
from kebab_stream.reports.answers import Answer
from kebab_stream.reports.housekeeping import DoctorReport, SchemaReport
from kebab_stream.reports.ingest import DocumentReport
from kebab_stream.reports.lookup import FetchResult

Handler = Callable[[calls.Session, Mapping[str, Any], calls.Progress], Awaitable[Wire]]


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


TOOLS: Final[Sequence[Tool]] = (
    Tool(
        name="schema",
        description="What the index holds (documents by lang, media, source, repo …, which are values for filters of"
        " `search`), what this server can do, its limits and versions.",
        accepts=input_schema(()),
        returns=output_schema(SchemaReport),
        run=calls.schema,
    ),
    Tool(
        name="doctor",
        description="Check settings, index, checksums and embedding model; every finding has a `hint` what to do."
        " Takes seconds on a large index. For after an `index_corrupt` or `model_unavailable`.",
        accepts=input_schema(()),
        returns=output_schema(DoctorReport),
        run=calls.doctor,
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
        run=calls.search,
    ),
    Tool(
        name="ask",
        description="Answer a question from the index through the language model in the settings, with citations;"
        " `grounded` is false where the documents have no answer. Takes the filters of `search` too. Slow."
        " Without a model (`model_unavailable`) use `search` instead.",
        accepts=input_schema(calls.QUESTION),
        returns=output_schema(Answer),
        run=calls.ask,
    ),
    Tool(
        name="ingest_file",
        description="Index one file, new or changed, at once. It must lie in a folder that was ingested before;"
        " text from elsewhere goes through `ingest_stdin`.",
        accepts=input_schema((calls.PATH,)),
        returns=output_schema(DocumentReport),
        run=calls.ingest_file,
        writes=True,
    ),
    Tool(
        name="ingest_stdin",
        description="Store a text and index it. The same `name`, or the same `title` without one, replaces the text"
        " that was stored before.",
        accepts=input_schema(calls.STDIN),
        returns=output_schema(DocumentReport),
        run=calls.ingest_stdin,
        writes=True,
        replaces=True,
    ),
    Tool(
        name="fetch",
        description="Read text as it stands in the source: a passage (`chunk_id`, with `context` neighbours), what"
        " a `citation.uri` names (`uri`), or a document (`doc`), whole or from line `start` to `end`. Give one of the"
        " three. With `max_tokens` it ends at a line; go on at `next_line`, in a PDF at `next_page`.",
        accepts=input_schema(calls.FETCH),
        returns=output_schema(FetchResult),
        run=calls.fetch,
    ),
    Tool(
        name="bulk_search",
        description=f"Up to {LIMITS.items} searches in one call, answered in order. Each item has the arguments of"
        " `search`; an `id` of yours comes back in its `query`. An item that fails has an `error`, the others go on.",
        accepts=input_schema((calls.QUERIES,)),
        returns=output_schema(BulkSearchResponse),
        run=calls.bulk_search,
    ),
)
"""In the order in which they are listed."""
