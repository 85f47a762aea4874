"""One answer of a language model over HTTP, piece by piece, within a deadline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from kebab_stream.ask.citing import Draft
from kebab_stream.ask.prompt import Message
from kebab_stream.ask.server import ANSWER_TOKENS, Server, piece_of
from kebab_stream.concurrency import run_blocking
from kebab_stream.errors import KebabError, ModelUnreachableError
from kebab_stream.ndjson import Line, LineDecoder, Oversized
from kebab_stream.servers.client import ERROR_BYTES, async_client, timed_out, translating
from kebab_stream.servers.server import broken_off, refusal, unexpected

if TYPE_CHECKING:
    import httpx2

OnText = Callable[[str], None]

_LINE_BYTES: Final = 1 << 20
MAX_CHARS: Final = 32_000
"""Of an answer: several times what a model can write in ANSWER_TOKENS."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote."""

    text: str
    truncated: bool
    """Whether it was stopped at ANSWER_TOKENS."""


async def reply(server: Server, messages: Sequence[Message], on_text: OnText | None = None) -> Reply:
    """Ask, and wait for the whole answer.

    Args:
        on_text: gets what can be shown of the answer, as it comes; it runs in a worker thread, one call at a time.

    Raises:
        ModelUnreachableError: the server does not answer, or not as its interface says.
        ModelNotPulledError: it does not have the model.
        ModelTimeoutError: the answer was not complete within `server.timeout_s` seconds.
    """
    with anyio.move_on_after(server.timeout_s):
        return await _reply(server, messages, on_text)
    raise timed_out(server)


async def _reply(server: Server, messages: Sequence[Message], on_text: OnText | None) -> Reply:
    reader = ReplyReader(server)
    with translating(server):
        async with (
            await run_blocking(async_client, server) as client,
            client.stream("POST", server.url, content=server.request(messages), headers=server.headers) as response,
        ):
            if response.status_code != 200:
                raise await _refusal(server, response)
            async for chunk in response.aiter_bytes():
                await _show(reader.feed(chunk), on_text)
                if reader.ended:
                    break
    await _show(reader.end(), on_text)
    return Reply(reader.text, reader.truncated)


async def _show(text: str, on_text: OnText | None) -> None:
    if text and on_text is not None:
        await run_blocking(on_text, text)


async def _refusal(server: Server, response: "httpx2.Response") -> KebabError:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > ERROR_BYTES:
            break
    return refusal(server, response.status_code, body, response.headers.get("location"))


class ReplyReader:
    """Bytes of an answer in, text to show out. No I/O: the bytes may be cut anywhere."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lines = LineDecoder(_LINE_BYTES)
        self._draft = Draft()
        self._n_chars = 0
        self.ended = False
        """Whether the answer is complete."""
        self.truncated = False

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._draft.text

    def feed(self, chunk: bytes) -> str:
        """Take the next bytes; the text that can be shown now.

        Raises:
            ModelUnreachableError, ModelNotPulledError: see `piece_of`; also an answer that does not end.
        """
        shown = "".join(self._take(line) for line in self._lines.feed(chunk))
        if self._lines.overflowing:
            raise unexpected(self._server, "a line of more than 1 MiB")
        return shown

    def end(self) -> str:
        """The server has ended; the last text that can be shown.

        Raises:
            ModelUnreachableError: the answer is not complete, or empty.
        """
        shown = "".join(self._take(line) for line in self._lines.flush())
        if not self.ended:
            raise broken_off(self._server, "the connection ended before the answer did")
        if not self.text.strip():
            raise self._empty()
        return shown + self._draft.end()

    def _take(self, line: Line | Oversized) -> str:
        if isinstance(line, Oversized):
            raise unexpected(self._server, "a line of more than 1 MiB")
        piece = None if self.ended else piece_of(self._server, line.data)
        if piece is None:
            return ""
        self.ended, self.truncated = piece.ends, piece.cut
        self._n_chars += len(piece.text)
        if self._n_chars > MAX_CHARS:
            raise unexpected(self._server, f"an answer of more than {MAX_CHARS:,} characters")
        return self._draft.add(piece.text)

    def _empty(self) -> ModelUnreachableError:
        server = self._server
        spent = f"spent {ANSWER_TOKENS:,} tokens and wrote no answer" if self.truncated else "answered without any text"
        return ModelUnreachableError(
            f"{server.model} at {server.endpoint} {spent}", "use another model", server.details()
        )
