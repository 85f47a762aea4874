"""A real HTTP server on loopback that gives vectors as the two interfaces do, or misbehaves as told."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from kebab_stream.config import Embedding
from tests.serving import serving

MODEL = "letters"
DIM = 26


@dataclass
class Vectors:
    """A running server: what it was asked, and how it is to misbehave."""

    address: str
    digest: str = "sha256:1"
    busy: int = 0
    """How many requests are still to be refused."""
    misbehave: "Callable[[Handler], None] | None" = None
    """Answers instead of the server."""
    misbehave_about_models: "Callable[[Handler], None] | None" = None
    """Answers instead of its list of models."""
    asked: list[Any] = field(default_factory=list)
    """The bodies of all requests for vectors."""
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    clients: list[Any] = field(default_factory=list)
    """The other end of the connection, for each request for vectors."""
    stopped: threading.Event = field(default_factory=threading.Event)

    def embedding(self, provider: Any = "ollama", **changes: Any) -> Embedding:
        plain = {"provider": provider, "endpoint": self.address, "model": MODEL, "timeout_s": 20.0}
        return Embedding(**{**plain, **changes})

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [body["input"] for body in self.asked]


def letters(text: str) -> list[float]:
    """How often each letter occurs: what this model knows of a text."""
    return [float(text.lower().count(chr(ord("a") + number))) for number in range(DIM)]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    vectors: Vectors
    body: Any = None

    def do_GET(self) -> None:
        """The list of models."""
        self.vectors.paths.append(self.path)
        if self.vectors.misbehave_about_models is not None:
            self.vectors.misbehave_about_models(self)
            return
        models = [{"name": f"{MODEL}:latest", "model": f"{MODEL}:latest", "digest": self.vectors.digest}]
        self.plainly(200, {"models": models}) if self.path == "/api/tags" else self.plainly(404, {})

    def do_POST(self) -> None:
        """Answer as the interface of the path says."""
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.vectors.asked.append(self.body)
        self.vectors.paths.append(self.path)
        self.vectors.clients.append(self.client_address)
        self.vectors.headers.append({name.lower(): value for name, value in self.headers.items()})
        try:
            if self.vectors.misbehave is not None:
                self.vectors.misbehave(self)
            elif self.vectors.busy:
                self.vectors.busy -= 1
                self.plainly(429, {"error": "too many requests"})
            elif self.body["model"] != MODEL:
                self.plainly(404, {"error": f'model "{self.body["model"]}" not found, try pulling it first'})
            else:
                self.answer([letters(text) for text in self.body["input"]])
        except OSError:
            pass  # the client went away

    def answer(self, rows: Sequence[Any]) -> None:
        """Vectors, in the form of the interface; that of OpenAI in no order."""
        if self.path == "/api/embed":
            self.plainly(200, {"model": MODEL, "embeddings": list(rows)})
        else:
            data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
            self.plainly(200, {"object": "list", "data": data[::-1]})

    def plainly(self, status: int, value: object, **headers: str) -> None:
        """A whole response."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def vector_server() -> Iterator[Vectors]:
    """A server on a free port of loopback."""
    handler = type("Handler", (Handler,), {})
    with serving(handler) as address:
        vectors = Vectors(address=address)
        handler.vectors = vectors  # type: ignore[attr-defined]  # the class made above
        try:
            yield vectors
        finally:
            vectors.stopped.set()
