"""Small stand-ins for the two ends of a bulk run: an engine that answers at once, and a stream in memory."""

from collections.abc import AsyncIterator, Callable

from kebab_stream.errors import RetrievalError
from kebab_stream.model import SearchOpts, SearchQuery, SearchResponse


class FakeEngine:
    """Answers every query with no hits and the query as hint; queries that start with "fail" or "crash" do so."""

    def __init__(self, before: Callable[[str], object] = str) -> None:
        self.asked: list[str] = []
        self._before = before

    def search_with_opts(self, query: SearchQuery, opts: SearchOpts) -> SearchResponse:
        self.asked.append(query.query)
        self._before(query.query)
        if query.query.startswith("fail"):
            raise RetrievalError(f"cannot answer {query.query}", "try again", {"k": query.k})
        if query.query.startswith("crash"):
            raise ZeroDivisionError("by zero")
        return response(query.query)


def response(hint: str) -> SearchResponse:
    return SearchResponse(hits=(), next_cursor=None, truncated=False, trace=None, hint=hint)


async def arriving(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk
