"""A server of models as the settings name it, and the errors about it. No I/O.

Two interfaces: Ollama's and the OpenAI-compatible one. Who asks it something derives a class with the two paths.
"""

import ipaddress
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from kebab_stream.errors import (
    ConfigInvalidError,
    KebabError,
    ModelNotPulledError,
    ModelUnavailableError,
    ModelUnreachableError,
)
from kebab_stream.ndjson import parse_json

OLLAMA_ENDPOINT: Final = "http://127.0.0.1:11434"
_SAID_CHARS: Final = 200
_KEY_CHARS: Final = 8
"""So much of a key in what a server says is not shown."""
_QUOTED_CHARS: Final = 16
"""So much of a text in what a server says counts as a quotation."""
_LEAST_QUOTED_CHARS: Final = 8
"""A text that is shorter may stand in a message by chance."""

_NO_MODEL = re.compile(
    r"model\b.{0,300}\b(?:not found|not exist|no such|not loaded|not available)"
    r"|no models? (?:is |are )?(?:loaded|found)|try pulling|unknown model|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
_API_KEY = re.compile("[!-~]+")

Interface = Literal["ollama", "openai"]


class ServerSettings(Protocol):
    """The settings of a server; the sections of `config.Models` have them."""

    @property
    def endpoint(self) -> str | None:
        """Its address; None means that of Ollama on this machine."""

    @property
    def model(self) -> str | None:
        """The model on it."""

    @property
    def api_key_env(self) -> str | None:
        """The environment variable that holds its key."""

    @property
    def timeout_s(self) -> float:
        """Seconds for a whole answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """A server and the model on it that answers."""

    OLLAMA_PATH: ClassVar[str]
    OPENAI_PATH: ClassVar[str]
    SECTION: ClassVar[str]
    """The section of the settings that names it."""

    provider: Interface
    endpoint: str
    model: str
    timeout_s: float
    api_key: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where requests go. An OpenAI-compatible endpoint may be given with its `/v1`, or another path, or without."""
        base = self.endpoint.rstrip("/")
        if self.provider == "ollama":
            return base + self.OLLAMA_PATH
        return f"{base}{'' if urlsplit(base).path else '/v1'}{self.OPENAI_PATH}"

    @property
    def headers(self) -> dict[str, str]:
        """Of a request."""
        key = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        return {"Content-Type": "application/json", "Accept-Encoding": "identity", **key}

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine; no proxy stands between then."""
        host = urlsplit(self.endpoint).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    def without_key(self, text: str) -> str:
        """What the server says, with … for the key, and for any eight of its characters that stand in a row."""
        key = self.api_key
        if not key:
            return text
        width = min(len(key), _KEY_CHARS)
        pieces = {key[start : start + width] for start in range(len(key) - width + 1)}
        shown: list[str] = []
        hidden_to = 0
        for place, letter in enumerate(text[: 4 * _SAID_CHARS]):
            if text[place : place + width] in pieces:
                if place >= hidden_to:
                    shown.append("…")
                hidden_to = place + width
            if place >= hidden_to:
                shown.append(letter)
        return "".join(shown)

    def details(self, **more: object) -> dict[str, object]:
        """What errors name."""
        return {"endpoint": self.endpoint, "model": self.model, **more}


SomeServer = TypeVar("SomeServer", bound=ModelServer)


def server_from(
    kind: type[SomeServer], provider: Interface, settings: ServerSettings, environ: Mapping[str, str]
) -> SomeServer:
    """The server that the settings name.

    Raises:
        ModelUnavailableError: they name none, or no model.
        ConfigInvalidError: the variable of the key is not set, or holds no key.
    """
    endpoint = settings.endpoint or (OLLAMA_ENDPOINT if provider == "ollama" else None)
    model = settings.model
    for name, value in (("endpoint", endpoint), ("model", model)):
        if value is None or not value.strip():
            key = f"{kind.SECTION}.{name}"
            raise ModelUnavailableError(
                f"{key} is not set, and {provider} needs it",
                f"set {key} in the config file, or KEBAB_{key.upper().replace('.', '_')}",
            )
    assert endpoint is not None
    assert model is not None
    key_variable = settings.api_key_env
    return kind(
        provider=provider,
        endpoint=endpoint,
        model=model,
        timeout_s=settings.timeout_s,
        api_key=None if key_variable is None else _api_key(kind.SECTION, key_variable, environ),
    )


def _api_key(section: str, variable: str, environ: Mapping[str, str]) -> str:
    key = environ.get(variable, "").strip()
    if not _API_KEY.fullmatch(key):
        problem = "holds no key that a request could carry" if key else "is not set"
        raise ConfigInvalidError(
            f"{section}.api_key_env names {variable}, which {problem}",
            f"put the key into {variable}, or remove {section}.api_key_env",
            {"key": f"{section}.api_key_env"},
        )
    return key


# --- what can be wrong -----------------------------------------------------------------------------------


def unexpected(server: ModelServer, problem: str) -> ModelUnreachableError:
    """What it sent is not the interface's."""
    return ModelUnreachableError(
        f"{server.url} sent what {server.provider} does not: {problem}", _check_address(server), server.details()
    )


def not_connected(server: ModelServer, problem: str) -> ModelUnreachableError:
    """Nobody answers there."""
    start = "start it with `ollama serve`" if server.provider == "ollama" else "start the server"
    return ModelUnreachableError(
        f"cannot connect to {server.endpoint}: {problem}",
        f"{start}, or set {server.SECTION}.endpoint",
        server.details(),
    )


def broken_off(server: ModelServer, problem: str) -> ModelUnreachableError:
    """It began to answer and did not end."""
    return ModelUnreachableError(
        f"{server.endpoint} broke off: {problem}", "try again; if it persists, see the server's log", server.details()
    )


def refusal(
    server: ModelServer, status: int, body: bytes, location: str | None, *, texts: Sequence[str] = ()
) -> KebabError:
    """The error behind an HTTP status other than 200.

    Args:
        texts: what the server was given; what it says is left out where it repeats one, see `_quotes`.
    """
    value = parse_json(body)
    said = _said(server, value) if isinstance(value, dict) else ""
    details = server.details(status=status)
    told = f": {said}" if said and not _quotes(said, texts) else ""
    if status in (400, 404) and _NO_MODEL.search(said):
        return _not_pulled(server, details)
    if location is not None and 300 <= status < 400:
        return ModelUnreachableError(
            f"{server.url} redirects to {_one_line(server.without_key(location))}",
            f"set {server.SECTION}.endpoint to where it is",
            details,
        )
    if status in (401, 403):
        hint = f"set {server.SECTION}.api_key_env to the name of the environment variable that holds the key"
        return ModelUnreachableError(f"{server.endpoint} refuses access ({status}){told}", hint, details)
    if status in (404, 405):
        return ModelUnreachableError(f"{server.url} is not there ({status}){told}", _check_address(server), details)
    if status in (429, 503):
        return ModelUnreachableError(f"{server.endpoint} is too busy ({status}){told}", "wait, then try again", details)
    return ModelUnreachableError(f"{server.endpoint} failed ({status}){told}", "see the server's log", details)


def failure(server: ModelServer, value: Mapping[str, object], *, texts: Sequence[str] = ()) -> KebabError:
    """The error that an answer tells of; `texts` as for `refusal`."""
    said = _said(server, value)
    if _NO_MODEL.search(said):
        return _not_pulled(server, server.details())
    told = "it does not say why" if not said or _quotes(said, texts) else said
    return ModelUnreachableError(f"{server.endpoint} failed: {told}", "see the server's log", server.details())


def _check_address(server: ModelServer) -> str:
    return f"check {server.SECTION}.provider and {server.SECTION}.endpoint"


def _not_pulled(server: ModelServer, details: dict[str, object]) -> ModelNotPulledError:
    key = f"{server.SECTION}.model"
    hint = (
        f"run `ollama pull {shlex.quote(server.model)}`, or set {key} to one that `ollama list` shows"
        if server.provider == "ollama"
        else f"load it there, or set {key} to one that the server has (GET …/models lists them)"
    )
    return ModelNotPulledError(f"{server.endpoint} does not have the model {_one_line(server.model)}", hint, details)


def _said(server: ModelServer, value: Mapping[str, object]) -> str:
    """What a failing server says: `{"error": "…"}`, `{"error": {"message": "…"}}`, or `{"message": "…"}`."""
    said: object = value.get("error") or value
    if isinstance(said, Mapping):
        said = said.get("message") or said.get("detail") or said.get("code")
    if not isinstance(said, str):
        return ""
    return _one_line(server.without_key(said))


def _quotes(said: str, texts: Sequence[str]) -> bool:
    """Whether a server repeats 16 characters of a text, or all of one of 8 to 16.

    Documents do not belong into messages. What is shorter cannot be told from what servers say anyway.
    """
    pieces = {said[start : start + _QUOTED_CHARS] for start in range(len(said) - _QUOTED_CHARS + 1)}
    for text in (" ".join(text.split()) for text in texts):
        if any(piece in text for piece in pieces) or (len(text) >= _LEAST_QUOTED_CHARS and text in said):
            return True
    return False


def _one_line(text: str) -> str:
    line = " ".join(text[: 4 * _SAID_CHARS].split())
    return line if len(line) <= _SAID_CHARS else f"{line[: _SAID_CHARS - 1]}…"
