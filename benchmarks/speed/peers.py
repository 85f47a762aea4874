"""Other programs on the same folder with the same queries: qmd by its command line and its MCP server, and semble."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Command, CommandFailedError, environment, run

_SYNTAX = re.compile(r"[^\w\s]+")
"""Quotes and hyphens are operators of qmd's lexical search."""


def qmd(setup: Setup, *arguments: str | Path, home: Path) -> Command:
    """A command of qmd, which keeps its index in `home`."""
    assert setup.qmd
    home.mkdir(parents=True, exist_ok=True)
    return Command(argv=[setup.qmd, *arguments], env={"HOME": str(home)}, cwd=home)


def qmd_indexed(setup: Setup, folder: Path, home: Path) -> Path:
    """Let qmd index a folder: `home`."""
    run(qmd(setup, "collection", "add", folder, "--name", "docs", home=home))
    return home


def words_of(query: str) -> str:
    """A query without what another program would take for operators; never empty."""
    return _SYNTAX.sub(" ", query).strip() or "nothing"


@dataclass(frozen=True, slots=True)
class Session:
    """One session with qmd's MCP server."""

    whole_ms: float
    """From its start to the last answer."""
    queries_ms: float
    """Of the queries alone."""
    found: Sequence[bool]
    """Whether it found anything, for each query."""


def qmd_session(setup: Setup, queries: Sequence[str], home: Path) -> Session:
    """Ask qmd's MCP server.

    The queries are lexical, without its models: it has none here.

    Raises:
        CommandFailedError: the server refused a query.
    """
    # late: the client is large, and would be in the memory of every process that is measured
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client

    async def session() -> Session:
        command = qmd(setup, "mcp", home=home)
        server = StdioServerParameters(
            command=str(setup.qmd), args=["mcp"], env=environment(command.env), cwd=str(command.cwd)
        )
        started = perf_counter()
        with (home / "server.log").open("w") as log:
            async with Client(stdio_client(server, errlog=log), mode="legacy") as client:
                ready = perf_counter()
                found = []
                for query in queries:
                    searches = [{"type": "lex", "query": words_of(query)}]
                    result = await client.call_tool("query", {"searches": searches, "rerank": False})
                    if result.is_error:
                        raise CommandFailedError(f"qmd refused {query!r}: {result.content}")
                    found.append("No results found" not in str(result.content[0]))
                ended = perf_counter()
        return Session((ended - started) * 1000, (ended - ready) * 1000, found)

    return anyio.run(session)


def semble(setup: Setup, query: str, folder: Path) -> Command:
    """A search of semble. It keeps its index, and looks for its model, where its user has them."""
    assert setup.semble
    return Command(argv=[setup.semble, "search", query, folder, "--content", "docs", "-k", "10"])


def why_not_semble(setup: Setup, folder: Path) -> str | None:
    """Why semble is left out; None where it works. The first search makes its index."""
    if setup.semble is None:
        return "semble was not given"
    try:
        run(semble(setup, "index", folder))
    except CommandFailedError as error:
        return f"semble was left out: {error}"
    return None


def left_out(setup: Setup) -> list[str]:
    """What the page says of peers that are absent."""
    return [] if setup.qmd else ["qmd was not given, so what is compared with it is not measured."]
