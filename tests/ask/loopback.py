"""A real HTTP server on loopback that speaks the two interfaces of language models, or misbehaves as told."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from kebab_stream.config import Llm
from tests.serving import serving

MODEL = "parrot:1b"
"""The one model that is there."""


@dataclass
class Spoken:
    """A running server: what it will say, and what it was asked."""

    address: str
    pieces: Sequence[str] = ("It is in ", "the notes ", "[1].")
    reason: str = "stop"
    misbehave: "Callable[[Handler], None] | None" = None
    """Answers instead of the server."""
    asked: list[Any] = field(default_factory=list)
    """The bodies of all requests."""
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set when the test is over: what stalls may stop."""
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when a client went away in the middle of an answer."""

    def ollama(self, **changes: Any) -> Llm:
        return Llm(**{"provider": "ollama", "endpoint": self.address, "model": MODEL, "timeout_s": 20.0, **changes})

    def openai(self, **changes: Any) -> Llm:
        return self.ollama(provider="openai", **changes)

    @property
    def prompt(self) -> str:
        """All that the model was told last, one message after the other."""
        return "\n".join(message["content"] for message in self.asked[-1]["messages"])


class Handler(BaseHTTPRequestHandler):
    """One request."""

    spoken: Spoken

    def do_POST(self) -> None:
        """Answer as the interface of the path says."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.spoken.asked.append(body)
        self.spoken.paths.append(self.path)
        self.spoken.headers.append({name.lower(): value for name, value in self.headers.items()})
        try:
            if self.spoken.misbehave is not None:
                self.spoken.misbehave(self)
            elif self.path == "/api/chat":
                self._ollama(body)
            elif self.path == "/v1/chat/completions":
                self._openai(body)
            else:
                self.plainly(404, b"404 page not found", "text/plain")
        except OSError:
            self.spoken.hung_up.set()

    def plainly(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        """A whole response."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def begin(self, kind: str = "application/x-ndjson") -> None:
        """A response that comes in chunks."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        """One of them; the empty one is the last."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def stall(self) -> None:
        """Do nothing until the test is over, or the client hangs up."""
        self.connection.settimeout(0.05)
        while not self.spoken.stopped.is_set():
            try:
                if not self.connection.recv(1):
                    self.spoken.hung_up.set()
                    return
            except TimeoutError:
                continue

    def _ollama(self, body: Any) -> None:
        if body["model"] != MODEL:
            self.plainly(404, json.dumps({"error": f"model '{body['model']}' not found"}).encode())
            return
        self.begin()
        for piece in self.spoken.pieces:
            self.chunk(ollama_line(piece))
        self.chunk(ollama_line("", done=True, done_reason=self.spoken.reason))
        self.chunk(b"")

    def _openai(self, body: Any) -> None:
        if body["model"] != MODEL:
            error = {"message": f"The model `{body['model']}` does not exist.", "code": "model_not_found"}
            self.plainly(404, json.dumps({"error": error}).encode())
            return
        self.begin("text/event-stream")
        self.chunk(b": thinking\n\nevent: x\n" + openai_line(None))
        for piece in self.spoken.pieces:
            self.chunk(openai_line(piece))
        self.chunk(openai_line(None, finish_reason=self.spoken.reason))
        self.chunk(b'data: {"choices":[],"usage":{}}\n\ndata: [DONE]\n\n')
        self.chunk(b"")


def ollama_line(text: str, **more: object) -> bytes:
    """A line of Ollama's."""
    message = {"role": "assistant", "content": text}
    return json.dumps({"model": MODEL, "message": message, "done": False, **more}).encode() + b"\n"


def openai_line(text: str | None, **more: object) -> bytes:
    """An event of an OpenAI-compatible server."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None, **more}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


@contextmanager
def language_server() -> Iterator[Spoken]:
    """A server on a free port of loopback."""
    handler = type("Handler", (Handler,), {})
    with serving(handler) as address:
        spoken = Spoken(address=address)
        handler.spoken = spoken  # type: ignore[attr-defined]  # the class made above
        try:
            yield spoken
        finally:
            spoken.stopped.set()
