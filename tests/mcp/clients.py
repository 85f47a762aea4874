"""Starts the real server and talks to it: through the SDK's client, or line by line."""

import json
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal

from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from tests.cli.program import COMMAND, Finished, environment
from tests.wire import checked


@asynccontextmanager
async def connected(
    data_dir: Path | None,
    *arguments: str,
    extra: Mapping[str, str] | None = None,
    mode: Literal["legacy", "auto"] = "legacy",
) -> AsyncIterator[Client]:
    """A client of a server of its own. What the server says on stderr fails the test."""
    server = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "mcp", *arguments], env=environment(data_dir, extra)
    )
    with TemporaryFile("w+") as stderr:
        async with Client(stdio_client(server, errlog=stderr), mode=mode, read_timeout_seconds=60) as client:
            yield client
        stderr.seek(0)
        assert stderr.read() == ""


def value_of(result: CallToolResult) -> Any:
    """The object that a call returned, whole and well-formed in both of its places."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    value = checked(content.text)
    assert result.structured_content == value
    assert result.is_error == (value["schema_version"] == "error.v1")
    return value


def text_of(result: CallToolResult) -> str:
    """The text of a call's answer, after the same checks."""
    value_of(result)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def call(client: Client, tool: str, /, **arguments: Any) -> Any:
    """The object that a tool answers, or its error."""
    return value_of(await client.call_tool(tool, arguments))


INITIALIZE = {
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def line(message: Mapping[str, Any]) -> bytes:
    """A message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


OPENING = line(INITIALIZE) + line({"method": "notifications/initialized"})


def tool_call(request_id: int, tool: str, **arguments: Any) -> bytes:
    """A call as a line."""
    return line({"id": request_id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})


def spoken(data_dir: Path, *lines: bytes, program: Sequence[str] = (*COMMAND, "mcp")) -> Finished:
    """What a server says when it gets these lines at once, after the opening, and then the end of the stream."""
    done = subprocess.run(
        program,
        input=OPENING + b"".join(lines),
        capture_output=True,
        env=environment(data_dir),
        timeout=60,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def answers(done: Finished) -> dict[Any, Any]:
    """Its answers by request id, without the one to the opening. Everything on stdout has to be a message."""
    messages = [json.loads(each) for each in done.out.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return {message["id"]: message for message in messages if message.get("id") != 0}
