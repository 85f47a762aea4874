"""How requests look, and what the lines and failures of a server mean."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ask.prompt import Message
from kebab_stream.ask.server import Piece, Server, piece_of, server_of
from kebab_stream.config import Llm
from kebab_stream.errors import KebabError, ModelNotPulledError
from kebab_stream.servers.server import refusal
from tests.ask.loopback import ollama_line, openai_line


def server(**changes: Any) -> Server:
    plain: dict[str, Any] = {"provider": "ollama", "endpoint": "http://h:1", "model": "m", "timeout_s": 1.0}
    return Server(**(plain | changes))


OLLAMA, OPENAI = server(), server(provider="openai")


@pytest.mark.parametrize(
    ("provider", "endpoint", "url"),
    [
        ("ollama", "http://h:1", "http://h:1/api/chat"),
        ("ollama", "http://h:1/", "http://h:1/api/chat"),
        ("ollama", "https://h/llm", "https://h/llm/api/chat"),
        ("openai", "http://h:1", "http://h:1/v1/chat/completions"),
        ("openai", "http://h:1/", "http://h:1/v1/chat/completions"),
        ("openai", "http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("openai", "https://h/api/openai", "https://h/api/openai/chat/completions"),
    ],
)
def test_an_endpoint_may_be_given_with_its_path_or_without(provider: str, endpoint: str, url: str) -> None:
    assert server(provider=provider, endpoint=endpoint).url == url


@pytest.mark.parametrize(
    ("endpoint", "local"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://127.1.2.3", True),
        ("http://[::1]:1", True),
        ("http://localhost", True),
        ("http://192.168.0.9:1", False),
        ("https://localhost.example.org", False),
    ],
)
def test_what_runs_on_this_machine_needs_no_proxy(endpoint: str, local: bool) -> None:
    assert server(endpoint=endpoint).is_local is local


def test_the_likeliest_answer_is_asked_for_in_pieces() -> None:
    messages = [Message("system", "rules"), Message("user", "질문")]
    ollama, openai = (orjson.loads(each.request(messages)) for each in (OLLAMA, OPENAI))

    assert ollama["messages"] == openai["messages"] == [{"role": m.role, "content": m.content} for m in messages]
    assert ollama["stream"] is openai["stream"] is True
    assert ollama["options"]["temperature"] == openai["temperature"] == 0
    assert ollama["options"]["num_ctx"] >= 8192  # without it the beginning of the prompt may be dropped


def test_lines_of_ollama() -> None:
    assert piece_of(OLLAMA, ollama_line("커피")) == Piece("커피")
    assert piece_of(OLLAMA, ollama_line("", done=True, done_reason="stop")) == Piece("", ends=True)
    assert piece_of(OLLAMA, ollama_line("x", done=True, done_reason="length")) == Piece("x", ends=True, cut=True)
    assert piece_of(OLLAMA, b'{"message":{"role":"assistant","content":"","thinking":"hm"},"done":false}') == Piece("")


def test_events_of_an_openai_compatible_server() -> None:
    assert piece_of(OPENAI, openai_line("커피").strip()) == Piece("커피")
    assert piece_of(OPENAI, openai_line(None).strip()) == Piece("")
    assert piece_of(OPENAI, openai_line(None, finish_reason="stop").strip()) == Piece("", ends=True)
    assert piece_of(OPENAI, openai_line("x", finish_reason="length").strip()) == Piece("x", ends=True, cut=True)
    assert piece_of(OPENAI, b"data:[DONE]") == Piece("", ends=True)
    for nothing in (b": ping", b"event: message", b"id: 7", b'data: {"choices":[]}'):
        assert piece_of(OPENAI, nothing) is None


@pytest.mark.parametrize(
    "line",
    [b"<html>", b"[]", b"null", b"{}", b'{"done":false,"message":[1]}', b'{"done":false,"message":{"content":7}}'],
)
def test_what_is_no_line_of_the_interface_is_told(line: bytes) -> None:
    for each, sent in ((OLLAMA, line), (OPENAI, b"data: " + line)):
        with pytest.raises(KebabError, match="sent what") as caught:
            piece_of(each, sent)
        assert caught.value.code == "model_unreachable"


@given(st.binary(max_size=60) | st.recursive(st.none() | st.text(max_size=3) | st.booleans(), lambda json: (
    st.lists(json, max_size=2)
    | st.dictionaries(st.sampled_from(("message", "content", "done", "choices", "delta", "error")), json, max_size=3)
)).map(orjson.dumps))  # fmt: skip
def test_no_line_breaks_anything_but_by_an_error_of_ours(line: bytes) -> None:
    for each, sent in ((OLLAMA, line), (OPENAI, b"data: " + line)):
        try:
            piece_of(each, sent)
        except KebabError as error:
            assert error.code in ("model_unreachable", "model_not_pulled")  # noqa: PT017  # most lines are refused


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, b'{"error":"model \'m\' not found"}'),
        (404, b'{"error":"model \\"m\\" not found, try pulling it first"}'),
        (404, b'{"error":{"message":"The model `m` does not exist.","type":"NotFoundError","code":404}}'),
        (404, b'{"object":"error","message":"The model `m` does not exist."}'),
        (400, b'{"error":{"message":"No models loaded. Please load a model first."}}'),
        (404, b'{"error":{"code":"model_not_found"}}'),
    ],
)
def test_a_model_that_is_not_there_is_told_apart(status: int, body: bytes) -> None:
    error = refusal(OLLAMA, status, body, None)

    assert isinstance(error, ModelNotPulledError)
    assert "ollama pull m" in str(error.hint)
    assert "ollama" not in str(refusal(OPENAI, status, body, None).hint)


@pytest.mark.parametrize(
    ("status", "body", "location", "message"),
    [
        (404, b"404 page not found", None, r"http://h:1/api/chat is not there \(404\)"),
        (401, b'{"error":{"message":"no key"}}', None, r"refuses access \(401\): no key"),
        (403, b"", None, r"refuses access \(403\)$"),
        (429, b"{}", None, r"too busy \(429\)"),
        (500, b'{"error":"out of\\nmemory"}', None, r"failed \(500\): out of memory"),
        (500, b"\xff", None, r"failed \(500\)$"),
        (302, b"", "http://other/", "redirects to http://other/"),
        (204, b"", None, r"failed \(204\)"),
    ],
)
def test_each_status_is_told_for_what_it_is(status: int, body: bytes, location: str | None, message: str) -> None:
    error = refusal(OLLAMA, status, body, location)

    with pytest.raises(KebabError, match=message):
        raise error
    assert (error.code, error.details["status"]) == ("model_unreachable", status)
    assert error.hint


def test_a_long_story_of_a_server_is_cut() -> None:
    assert len(str(refusal(OLLAMA, 500, orjson.dumps({"error": "x" * 10_000}), None))) < 300


def test_without_a_provider_the_error_tells_how_to_set_one() -> None:
    with pytest.raises(KebabError, match="none") as caught:
        server_of(Llm(), {})

    assert caught.value.code == "model_unavailable"
    assert "KEBAB_MODELS_LLM_PROVIDER=ollama" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("llm", "missing"),
    [
        (Llm(provider="ollama"), "model"),
        (Llm(provider="openai", model="m"), "endpoint"),
        (Llm(provider="openai", endpoint="http://h"), "model"),
    ],
)
def test_what_a_provider_needs_is_named(llm: Llm, missing: str) -> None:
    with pytest.raises(KebabError, match=f"models.llm.{missing} is not set") as caught:
        server_of(llm, {})

    assert caught.value.code == "model_unavailable"


def test_ollama_is_looked_for_where_it_runs() -> None:
    assert server_of(Llm(provider="ollama", model="m"), {}).endpoint == "http://127.0.0.1:11434"


def test_a_key_comes_from_the_variable_that_is_named_and_is_never_told() -> None:
    llm = Llm(provider="openai", endpoint="http://h", model="m", api_key_env="MY_KEY")
    found = server_of(llm, {"MY_KEY": "sk-1\n"})

    assert found.headers["Authorization"] == "Bearer sk-1"
    assert "sk-1" not in repr(found)
    for unusable in ({}, {"MY_KEY": " "}, {"MY_KEY": "a b"}, {"MY_KEY": "키"}):
        with pytest.raises(KebabError, match="MY_KEY") as caught:
            server_of(llm, unusable)
        assert caught.value.code == "config_invalid"
        assert "a b" not in str(caught.value)
