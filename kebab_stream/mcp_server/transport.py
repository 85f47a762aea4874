"""JSON-RPC lines on two descriptors, as the streams of messages that the SDK serves.

The SDK's own transport waits for lines in a thread, which Ctrl-C does not end; it has no bound for a line, drops what
is no message without an answer, and leaves the calls unanswered that are under way when the client closes stdin.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from kebab_stream.concurrency import run_blocking, stdin_chunks, write_all
from kebab_stream.ndjson import Line, LineDecoder, Oversized
from kebab_stream.render import to_json

MAX_MESSAGE_BYTES: Final = 128 << 20
"""As much as a whole batch may have on the command line."""

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that is no message; `request_id` is None where it has none that could be answered."""

    request_id: str | int | None
    code: int
    problem: str

    @property
    def answer(self) -> JSONRPCError:
        """What the client is told."""
        return JSONRPCError(jsonrpc="2.0", id=self.request_id, error=ErrorData(code=self.code, message=self.problem))


class Unanswered:
    """The requests that were read and not answered yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._settled = anyio.Event()

    def read(self, message: JSONRPCMessage) -> None:
        """A message came: a request is to be answered, one that the client took back is not."""
        if isinstance(message, JSONRPCRequest):
            self._ids.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def written(self, message: JSONRPCMessage) -> None:
        """A message went out."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settle(message.id)

    async def settled(self) -> None:
        """Wait until every request is answered."""
        while self._ids:
            await self._settled.wait()

    def _settle(self, request_id: object) -> None:
        self._ids.discard(str(request_id))
        if not self._ids:
            self._settled.set()
            self._settled = anyio.Event()


@asynccontextmanager
async def message_streams(stdin: int, stdout: int) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The messages that arrive on one descriptor, and a stream for those that go out on the other.

    The first ends when its descriptor has ended and every request is answered.

    Raises:
        BrokenPipeError: the client went away (in an exception group).
        StorageError: a descriptor cannot be read or written (in an exception group).
    """
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_client = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered = Unanswered()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, stdin, to_server, outgoing.clone(), unanswered)
        tasks.start_soon(_write, stdout, to_client, unanswered)
        async with incoming, outgoing:
            yield incoming, outgoing


def message_of(line: Line | Oversized) -> JSONRPCMessage | Refused:
    """Decode one line. Never raises on bad input: a bad line is a result.

    More is let through than is JSON (NaN, integers of any size, 900 levels): a tool can then name the value.
    """
    if isinstance(line, Oversized):
        return Refused(None, INVALID_REQUEST, f"a message has more than {MAX_MESSAGE_BYTES} bytes")
    try:
        value = json.loads(line.data.decode("utf-8"))
    except (ValueError, RecursionError):
        return Refused(None, PARSE_ERROR, "a line is not one JSON value in UTF-8")
    request_id = _id_of(value)
    try:
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        _require_writable(value)
    except (ValueError, TypeError):  # pydantic's errors and orjson's are of these kinds
        return Refused(request_id, INVALID_REQUEST, "a line is no JSON-RPC 2.0 message")
    if "id" in value and request_id is None and "method" in value:
        return Refused(None, INVALID_REQUEST, "the id of a request is neither text nor a whole number")
    return message


def _id_of(value: object) -> str | int | None:
    request_id = value.get("id") if isinstance(value, dict) else None
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return None
    with suppress(TypeError):
        to_json(request_id)
        return request_id
    return None


def _require_writable(value: dict[str, Any]) -> None:
    """Everything that is repeated in an answer can be written. Raises TypeError otherwise."""
    params = value.get("params") or {}
    to_json([value.get("id"), value.get("method"), params.get("_meta"), params.get("name")])


async def _read(
    fd: int,
    to_server: MemoryObjectSendStream[SessionMessage | Exception],
    to_client: Outgoing,
    unanswered: Unanswered,
) -> None:
    async def deliver(line: Line | Oversized) -> None:
        message = message_of(line)
        if isinstance(message, Refused):
            await to_client.send(SessionMessage(message.answer))
            return
        unanswered.read(message)
        await to_server.send(SessionMessage(message))

    decoder = LineDecoder(MAX_MESSAGE_BYTES)
    async with to_server, to_client:
        async for chunk in stdin_chunks(fd):
            for line in decoder.feed(chunk):
                await deliver(line)
        for line in decoder.flush():
            await deliver(line)
        await unanswered.settled()


async def _write(fd: int, to_client: MemoryObjectReceiveStream[SessionMessage], unanswered: Unanswered) -> None:
    async with to_client:
        async for outgoing in to_client:
            line = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            await run_blocking(write_all, fd, line)
            unanswered.written(outgoing.message)
