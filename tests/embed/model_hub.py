"""A model hub on loopback, as far as a download needs one: it has one repository, made of the files of a folder."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.serving import serving

REVISION = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """A running hub."""

    address: str
    repository: str
    folder: Path
    asked: list[str] = field(default_factory=list)
    """The paths of all requests."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    hub: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        """What there is of the repository, or one of its files."""
        path = self.path.partition("?")[0]
        self.hub.asked.append(path)
        files = {file.name: file for file in self.hub.folder.iterdir()}
        _, _, name = path.partition(f"/{self.hub.repository}/resolve/{REVISION}/")
        if path.startswith(f"/api/models/{self.hub.repository}/tree/"):
            self._answer(json.dumps([_entry(file) for file in files.values()]).encode())
        elif path.startswith(f"/api/models/{self.hub.repository}"):
            siblings = [{"rfilename": name} for name in files]
            self._answer(json.dumps({"id": self.hub.repository, "sha": REVISION, "siblings": siblings}).encode())
        elif name in files:
            self._answer(files[name].read_bytes())
        else:
            self._answer(b"", 404)

    def _answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


def _entry(file: Path) -> dict[str, object]:
    return {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": "0" * 40}


@contextmanager
def model_hub(repository: str, folder: Path) -> Iterator[Hub]:
    """A hub on a free port of loopback."""
    handler = type("Handler", (Handler,), {})
    with serving(handler) as address:
        hub = Hub(address, repository, folder)
        handler.hub = hub  # type: ignore[attr-defined]  # the class made above
        yield hub
