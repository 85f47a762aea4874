"""A real HTTP server on a free port of loopback, in a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a client keeps its connection

    def handle_error(self, *_arguments: object) -> None:
        """Say nothing: clients that go away are no error."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server whose requests `handler` answers, over connections that stay open; gives its address."""
    quiet = type("Quiet", (handler,), {"protocol_version": "HTTP/1.1", "log_message": lambda *_: None})
    with _Server(("127.0.0.1", 0), quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
