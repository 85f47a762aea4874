"""The server of a language model: what it is asked, and what the lines of its answer mean. No I/O.

Two interfaces: Ollama's (`/api/chat`, a JSON object a line) and the OpenAI-compatible one (`/chat/completions`,
server-sent events of one line each).
"""

import ipaddress
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from kebab_stream.ask.prompt import Message
from kebab_stream.config import Llm
from kebab_stream.errors import (
    ConfigInvalidError,
    KebabError,
    ModelNotPulledError,
    ModelUnavailableError,
    ModelUnreachableError,
)
from kebab_stream.ndjson import Malformed, parse_json
from kebab_stream.render import to_json

OLLAMA_ENDPOINT: Final = "http://127.0.0.1:11434"
CONTEXT_TOKENS: Final = 8_192
"""Ollama's own default is smaller than our prompts, and it drops their beginning without a word. Always the same
number: it loads a model again for another one."""
ANSWER_TOKENS: Final = 2_048
_SAID_CHARS: Final = 200

_NO_MODEL = re.compile(
    r"model\b.{0,300}\b(?:not found|not exist|no such|not loaded|not available)"
    r"|no models? (?:is |are )?(?:loaded|found)|try pulling|unknown model|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
_API_KEY = re.compile("[!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server and the model on it that answers."""

    provider: Literal["ollama", "openai"]
    endpoint: str
    model: str
    timeout_s: float
    api_key: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where chats go. An OpenAI-compatible endpoint may be given with its `/v1`, or another path, or without."""
        base = self.endpoint.rstrip("/")
        if self.provider == "ollama":
            return f"{base}/api/chat"
        return f"{base}{'' if urlsplit(base).path else '/v1'}/chat/completions"

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

    def request(self, messages: Sequence[Message]) -> bytes:
        """The body that asks for an answer, piece by piece, always the likeliest one."""
        body: dict[str, object] = {
            "model": self.model,
            "messages": [message._asdict() for message in messages],
            "stream": True,
        }
        if self.provider == "ollama":
            options = {"temperature": 0, "num_ctx": CONTEXT_TOKENS, "num_predict": ANSWER_TOKENS}
            return to_json({**body, "think": False, "options": options})
        return to_json({**body, "temperature": 0, "max_tokens": ANSWER_TOKENS})

    def details(self, **more: object) -> dict[str, object]:
        """What errors name."""
        return {"endpoint": self.endpoint, "model": self.model, **more}


class Piece(NamedTuple):
    """What one line brings."""

    text: str
    ends: bool = False
    cut: bool = False
    """Whether the model was stopped because the answer got too long."""


def server_of(llm: Llm, environ: Mapping[str, str]) -> Server:
    """The server that the settings name.

    Raises:
        ModelUnavailableError: they name none, or no model.
        ConfigInvalidError: the variable of the key is not set, or holds no key.
    """
    if llm.provider == "none":
        raise ModelUnavailableError(
            "no language model is set: models.llm.provider is none",
            'for Ollama set models.llm.provider = "ollama" and models.llm.model, for example'
            " KEBAB_MODELS_LLM_PROVIDER=ollama KEBAB_MODELS_LLM_MODEL=gemma3; to find passages only, search",
        )
    endpoint = llm.endpoint or (OLLAMA_ENDPOINT if llm.provider == "ollama" else None)
    for name, value in (("endpoint", endpoint), ("model", llm.model)):
        if value is None or not value.strip():
            raise ModelUnavailableError(
                f"models.llm.{name} is not set, and {llm.provider} needs it",
                f"set models.llm.{name} in the config file, or KEBAB_MODELS_LLM_{name.upper()}",
            )
    assert endpoint is not None
    assert llm.model is not None
    return Server(
        provider=llm.provider,
        endpoint=endpoint,
        model=llm.model,
        timeout_s=llm.timeout_s,
        api_key=_api_key(llm.api_key_env, environ),
    )


def piece_of(server: Server, line: bytes) -> Piece | None:
    """What a line of the answer says; None where it says nothing.

    Raises:
        ModelUnreachableError: it is not what the interface has, or tells of a failure.
        ModelNotPulledError: it tells that the model is not there.
    """
    if server.provider == "openai":
        name, _, rest = line.partition(b":")
        if name != b"data":
            return None  # comments that keep the connection open, names of events
        line = rest.strip()
        if line == b"[DONE]":
            return Piece("", ends=True)
    value = parse_json(line)
    if isinstance(value, Malformed):
        raise unexpected(server, value.problem)
    if not isinstance(value, dict):
        raise unexpected(server, "no JSON object")
    if value.get("error"):
        raise failure(server, value)
    try:
        return _ollama_piece(value) if server.provider == "ollama" else _openai_piece(value)
    except (AttributeError, TypeError, LookupError) as error:
        raise unexpected(server, "an object of another form") from error


def _ollama_piece(value: Any) -> Piece:
    message = value.get("message") or {}
    return Piece(_text(message), ends=value["done"] is True, cut=value.get("done_reason") == "length")


def _openai_piece(value: Any) -> Piece | None:
    if not value["choices"]:
        return None  # the last event, with what it cost
    choice = value["choices"][0]
    reason = choice.get("finish_reason")
    return Piece(_text(choice.get("delta") or {}), ends=reason is not None, cut=reason == "length")


def _text(message: Mapping[str, Any]) -> str:
    text = message.get("content") or ""
    if not isinstance(text, str):
        raise TypeError
    return text


# --- what can be wrong -----------------------------------------------------------------------------------


def unexpected(server: Server, problem: str) -> ModelUnreachableError:
    """What it sent is not the interface's."""
    return ModelUnreachableError(
        f"{server.url} sent what {server.provider} does not: {problem}",
        "check models.llm.provider and models.llm.endpoint",
        server.details(),
    )


def not_connected(server: Server, problem: str) -> ModelUnreachableError:
    """Nobody answers there."""
    start = "start it with `ollama serve`" if server.provider == "ollama" else "start the server"
    return ModelUnreachableError(
        f"cannot connect to {server.endpoint}: {problem}", f"{start}, or set models.llm.endpoint", server.details()
    )


def broken_off(server: Server, problem: str) -> ModelUnreachableError:
    """It began to answer and did not end."""
    return ModelUnreachableError(
        f"{server.endpoint} broke off: {problem}", "ask again; if it persists, see the server's log", server.details()
    )


def refusal(server: Server, status: int, body: bytes, location: str | None) -> KebabError:
    """The error behind an HTTP status other than 200."""
    value = parse_json(body)
    said = _said(value) if isinstance(value, dict) else ""
    details = server.details(status=status)
    told = f": {said}" if said else ""
    if status in (400, 404) and _NO_MODEL.search(said):
        return _not_pulled(server, details)
    if location is not None and 300 <= status < 400:
        return ModelUnreachableError(
            f"{server.url} redirects to {_one_line(location)}", "set models.llm.endpoint to where it is", details
        )
    if status in (401, 403):
        hint = "set models.llm.api_key_env to the name of the environment variable that holds the key"
        return ModelUnreachableError(f"{server.endpoint} refuses access ({status}){told}", hint, details)
    if status in (404, 405):
        hint = "check models.llm.provider and models.llm.endpoint"
        return ModelUnreachableError(f"{server.url} is not there ({status}){told}", hint, details)
    if status in (429, 503):
        hint = "wait, then ask again"
        return ModelUnreachableError(f"{server.endpoint} is too busy ({status}){told}", hint, details)
    return ModelUnreachableError(f"{server.endpoint} failed ({status}){told}", "see the server's log", details)


def failure(server: Server, value: Mapping[str, object]) -> KebabError:
    """The error that a line tells of."""
    said = _said(value)
    if _NO_MODEL.search(said):
        return _not_pulled(server, server.details())
    return ModelUnreachableError(
        f"{server.endpoint} failed: {said or 'it does not say why'}", "see the server's log", server.details()
    )


def _not_pulled(server: Server, details: dict[str, object]) -> ModelNotPulledError:
    hint = (
        f"run `ollama pull {shlex.quote(server.model)}`, or set models.llm.model to one that `ollama list` shows"
        if server.provider == "ollama"
        else "load it there, or set models.llm.model to one that the server has (GET …/models lists them)"
    )
    return ModelNotPulledError(f"{server.endpoint} does not have the model {_one_line(server.model)}", hint, details)


def _said(value: Mapping[str, object]) -> str:
    """What a failing server says: `{"error": "…"}`, `{"error": {"message": "…"}}`, or `{"message": "…"}`."""
    said: object = value.get("error") or value
    if isinstance(said, Mapping):
        said = said.get("message") or said.get("detail") or said.get("code")
    return _one_line(said) if isinstance(said, str) else ""


def _one_line(text: str) -> str:
    line = " ".join(text[: 4 * _SAID_CHARS].split())
    return line if len(line) <= _SAID_CHARS else f"{line[: _SAID_CHARS - 1]}…"


def _api_key(variable: str | None, environ: Mapping[str, str]) -> str | None:
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not _API_KEY.fullmatch(key):
        problem = "holds no key that a request could carry" if key else "is not set"
        raise ConfigInvalidError(
            f"models.llm.api_key_env names {variable}, which {problem}",
            f"put the key into {variable}, or remove models.llm.api_key_env",
            {"key": "models.llm.api_key_env"},
        )
    return key
