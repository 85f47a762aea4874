"""Requests to a server for those who wait, each with one deadline for all of it.

A blocking client waits anew for each byte, however slowly they come. An asynchronous one can be interrupted anywhere:
it runs in a thread of its own, over connections that stay open.
"""

import asyncio  # noqa: TID251  # to begin and end something in a loop, the portal of anyio would wait for it
from threading import Thread

import anyio

from kebab_stream.servers.client import ERROR_BYTES, async_client, timed_out, translating
from kebab_stream.servers.server import ModelServer, unexpected

Response = tuple[int, bytes, str | None]
"""Status, body and `Location`: the body in full, or the beginning of one that is no answer."""


class BlockingClient:
    """A client for one server; safe to use from several threads, and in a process that was forked off."""

    def __init__(self, server: ModelServer) -> None:
        """Raises ModelUnreachableError: the proxy that the environment names cannot be used."""
        self._server = server
        self._start()

    def exchange(self, method: str, url: str, content: bytes | None, *, limit: int) -> Response:
        """Send a request, and wait for the whole response.

        Args:
            limit: bytes that an answer may have.

        Raises:
            ModelUnreachableError: the server does not answer, or its answer is longer.
            ModelTimeoutError: the response was not complete within `server.timeout_s` seconds.
        """
        if not self._thread.is_alive():  # it stayed in the process that this one was forked off
            self._start()
        response = self._response(method, url, content, limit)
        future = asyncio.run_coroutine_threadsafe(response, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()  # after Ctrl-C nobody waits for it any more

    def close(self) -> None:
        """Have the connections closed, and the thread end. Does not wait for it: garbage may be collected anywhere."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop)

    def _start(self) -> None:
        self._client = async_client(self._server)
        self._loop = asyncio.new_event_loop()
        # A daemon, so that a program can end while a server is silent.
        self._thread = Thread(target=_run, args=(self._loop,), name="requests", daemon=True)
        self._thread.start()

    async def _end(self) -> None:
        await self._client.aclose()
        self._loop.stop()

    async def _response(self, method: str, url: str, content: bytes | None, limit: int) -> Response:
        with anyio.move_on_after(self._server.timeout_s):
            return await self._streamed(method, url, content, limit)
        raise timed_out(self._server)

    async def _streamed(self, method: str, url: str, content: bytes | None, limit: int) -> Response:
        body = bytearray()
        with translating(self._server):
            async with self._client.stream(method, url, content=content, headers=self._server.headers) as response:
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if response.status_code != 200 and len(body) > ERROR_BYTES:
                        break
                    if len(body) > limit:
                        raise unexpected(self._server, f"an answer of more than {limit >> 20} MiB")
                return response.status_code, bytes(body), response.headers.get("location")


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()
