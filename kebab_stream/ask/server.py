"""The server of a language model: what it is asked, and what the lines of its answer mean. No I/O.

Two interfaces: Ollama's (`/api/chat`, a JSON object a line) and the OpenAI-compatible one (`/chat/completions`,
server-sent events of one line each).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from kebab_stream.ask.prompt import Message
from kebab_stream.config import Llm
from kebab_stream.errors import ModelUnavailableError
from kebab_stream.ndjson import Malformed, parse_json
from kebab_stream.render import to_json
from kebab_stream.servers.server import ModelServer, failure, server_from, unexpected

CONTEXT_TOKENS: Final = 8_192
"""Ollama's own default is smaller than our prompts, and it drops their beginning without a word. Always the same
number: it loads a model again for another one."""
ANSWER_TOKENS: Final = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Server(ModelServer):
    """A server and the language model on it."""

    OLLAMA_PATH: ClassVar[str] = "/api/chat"
    OPENAI_PATH: ClassVar[str] = "/chat/completions"
    SECTION: ClassVar[str] = "models.llm"

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
    return server_from(Server, llm.provider, llm, environ)


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
