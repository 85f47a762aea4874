"""Answers over a real connection, and everything that can go wrong with one."""

import functools
import re
import socket
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ask.llm import MAX_CHARS, Reply, ReplyReader, reply
from kebab_stream.ask.prompt import Message
from kebab_stream.ask.server import Server, server_of
from kebab_stream.config import Llm
from kebab_stream.errors import KebabError
from tests.ask.loopback import MODEL, Handler, Spoken, ollama_line, openai_line

MESSAGES = [Message("system", "rules"), Message("user", "question")]
PROVIDERS = ("ollama", "openai")


async def asked(llm: Llm, on_text: Callable[[str], None] | None = None, **environ: str) -> Reply:
    return await reply(server_of(llm, environ), MESSAGES, on_text)


async def failed(llm: Llm, code: str) -> str:
    """What the error of this code says."""
    with pytest.raises(KebabError) as caught:
        await asked(llm)
    assert caught.value.code == code
    assert caught.value.hint
    assert caught.value.details["endpoint"] == llm.endpoint
    return str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_comes_piece_by_piece(spoken: Spoken, provider: str) -> None:
    spoken.pieces = ["커피는 ", "[1]", "\n\n물."]
    pieces: list[str] = []

    answer = await asked(spoken.ollama(provider=provider), pieces.append)

    assert answer == Reply("커피는 [1]\n\n물.", truncated=False)
    assert "".join(pieces) == answer.text
    assert [message["role"] for message in spoken.asked[0]["messages"]] == ["system", "user"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_pieces_are_shown_before_the_answer_is_complete(spoken: Spoken, provider: str) -> None:
    shown = threading.Event()

    def hold_the_end(handler: Handler) -> None:
        line = functools.partial(ollama_line, done=False) if provider == "ollama" else openai_line
        end = {"done": True} if provider == "ollama" else {"finish_reason": "stop"}
        handler.begin()
        handler.chunk(line("first"))
        assert shown.wait(10)
        handler.chunk(line("", **end))
        handler.chunk(b"")

    spoken.misbehave = hold_the_end

    assert (await asked(spoken.ollama(provider=provider), lambda _: shown.set())).text == "first"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_that_got_too_long_for_the_model_says_so(spoken: Spoken, provider: str) -> None:
    spoken.reason = "length"

    assert (await asked(spoken.ollama(provider=provider))).truncated


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_key_is_sent_and_without_one_none_is(spoken: Spoken, provider: str) -> None:
    await asked(spoken.ollama(provider=provider, api_key_env="MY_KEY"), MY_KEY="sk-1")
    await asked(spoken.ollama(provider=provider))

    assert [headers.get("authorization") for headers in spoken.headers] == ["Bearer sk-1", None]


async def test_nobody_there_is_model_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        message = await failed(Llm(provider="ollama", endpoint=endpoint, model="m"), "model_unreachable")

    assert f"cannot connect to {endpoint}" in message


async def test_a_host_that_does_not_exist_is_model_unreachable() -> None:
    endpoint = "http://nowhere.invalid:1"

    assert endpoint in await failed(Llm(provider="ollama", endpoint=endpoint, model="m"), "model_unreachable")


async def test_plain_http_behind_an_https_address_is_model_unreachable(spoken: Spoken) -> None:
    endpoint = spoken.address.replace("http", "https")

    assert endpoint in await failed(spoken.ollama(endpoint=endpoint), "model_unreachable")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_model_that_is_not_there_is_model_not_pulled(spoken: Spoken, provider: str) -> None:
    message = await failed(spoken.ollama(provider=provider, model="other:7b"), "model_not_pulled")

    assert message == f"{spoken.address} does not have the model other:7b"


async def test_a_failure_in_the_middle_of_an_answer_is_told(spoken: Spoken) -> None:
    def fail(handler: Handler) -> None:
        handler.begin()
        handler.chunk(ollama_line("It is"))
        handler.chunk(b'{"error":"llama runner process has terminated"}\n')
        handler.chunk(b"")

    spoken.misbehave = fail

    assert "llama runner process has terminated" in await failed(spoken.ollama(), "model_unreachable")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("politely", [True, False], ids=["ended", "cut off"])
async def test_half_an_answer_is_no_answer(spoken: Spoken, provider: str, politely: bool) -> None:
    def break_off(handler: Handler) -> None:
        handler.begin()
        handler.chunk(ollama_line("It is") if provider == "ollama" else openai_line("It is"))
        if politely:
            handler.chunk(b"")
        handler.close_connection = True

    spoken.misbehave = break_off

    assert "broke off" in await failed(spoken.ollama(provider=provider), "model_unreachable")


async def test_what_is_no_http_is_told(spoken: Spoken) -> None:
    def babble(handler: Handler) -> None:
        handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        handler.close_connection = True

    spoken.misbehave = babble

    assert "broke off" in await failed(spoken.ollama(), "model_unreachable")


@pytest.mark.parametrize(
    ("status", "body", "headers", "message"),
    [
        (200, b"<html>hello</html>", {}, "not valid JSON"),
        (401, b'{"error":"unauthorized"}', {}, r"refuses access \(401\): unauthorized"),
        (500, b'{"error":"out of memory"}', {}, r"failed \(500\): out of memory"),
        (307, b"", {"Location": "http://127.0.0.1:1/x"}, "redirects to http://127.0.0.1:1/x"),
        (502, b"x" * 1_000_000, {}, r"failed \(502\)$"),
    ],
)
async def test_each_answer_that_is_none_is_told(
    spoken: Spoken, status: int, body: bytes, headers: dict[str, str], message: str
) -> None:
    spoken.misbehave = lambda handler: handler.plainly(status, body, **headers)

    assert re.search(message, await failed(spoken.ollama(), "model_unreachable"))
    assert len(spoken.asked) == 1  # no redirect is followed


async def test_the_wrong_interface_is_told(spoken: Spoken) -> None:
    assert "/v1/api/chat is not there (404)" in await failed(
        spoken.ollama(endpoint=f"{spoken.address}/v1"), "model_unreachable"
    )


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_text_at_all_is_told(spoken: Spoken, provider: str) -> None:
    spoken.pieces = ["", " \n"]
    llm = spoken.ollama(provider=provider)
    assert "answered without any text" in await failed(llm, "model_unreachable")

    spoken.pieces, spoken.reason = ["<think>hm, "], "length"
    assert "wrote no answer" in await failed(llm, "model_unreachable")


@pytest.mark.parametrize("line", [ollama_line("x" * 1_000), b"x" * 10_000], ids=["lines", "one line"])
async def test_an_answer_without_an_end_is_given_up(spoken: Spoken, line: bytes) -> None:
    def babble(handler: Handler) -> None:
        handler.begin()
        while not spoken.stopped.is_set():
            handler.chunk(line)

    spoken.misbehave = babble

    message = await failed(spoken.ollama(), "model_unreachable")
    assert f"more than {MAX_CHARS:,} characters" in message or "more than 1 MiB" in message


@pytest.mark.parametrize("when", ["before", "within"])
async def test_a_model_that_takes_too_long_is_a_timeout(spoken: Spoken, when: str) -> None:
    def stall(handler: Handler) -> None:
        if when == "within":
            handler.begin()
            handler.chunk(ollama_line("It is"))
        handler.stall()

    spoken.misbehave = stall

    assert "within 0.3 s" in await failed(spoken.ollama(timeout_s=0.3), "timeout")
    assert spoken.hung_up.wait(5)


@pytest.mark.parametrize("drips", ["headers", "pieces"])
async def test_the_deadline_is_for_the_whole_answer_not_for_each_piece(spoken: Spoken, drips: str) -> None:
    def drip(handler: Handler) -> None:
        if drips == "headers":
            handler.send_response(200)
            handler.flush_headers()
            while not spoken.stopped.wait(0.02):
                handler.wfile.write(b"X-More: 1\r\n")
        handler.begin()
        while not spoken.stopped.wait(0.02):
            handler.chunk(ollama_line("."))

    spoken.misbehave = drip

    await failed(spoken.ollama(timeout_s=0.3), "timeout")


async def test_a_cancelled_question_hangs_up(spoken: Spoken) -> None:
    spoken.misbehave = Handler.stall

    with anyio.move_on_after(0.3) as scope:
        await asked(spoken.ollama())

    assert scope.cancelled_caught
    assert spoken.hung_up.wait(5)


async def test_other_work_goes_on_while_the_model_works(spoken: Spoken) -> None:
    """That nothing of ours blocks the loop, the fixture `blockbuster` sees to as well."""
    spoken.pieces = ["word "] * 200
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.lowlevel.checkpoint()
            ticks += 1

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        await asked(spoken.ollama(), lambda _: None)
        group.cancel_scope.cancel()

    assert ticks > 20


async def test_several_questions_at_once_are_answered_each_for_itself(spoken: Spoken) -> None:
    answers: list[Reply] = []

    async def ask() -> None:
        answers.append(await asked(spoken.ollama()))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)

    assert answers == [Reply("It is in the notes [1].", truncated=False)] * 5


async def test_no_proxy_stands_before_a_server_on_this_machine(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "")

    assert (await asked(spoken.ollama())).text


async def test_a_proxy_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "gopher://proxy")
    llm = Llm(provider="ollama", endpoint="http://elsewhere.invalid:1", model="m")

    assert "proxy" in await failed(llm, "model_unreachable")


@given(st.lists(st.text(max_size=5), min_size=1, max_size=8), st.sampled_from(PROVIDERS), st.data())
def test_it_does_not_matter_where_the_bytes_are_cut(pieces: list[str], provider: Any, data: st.DataObject) -> None:
    server = Server(provider=provider, endpoint="http://h", model=MODEL, timeout_s=1.0)
    line = ollama_line if provider == "ollama" else openai_line
    end = ollama_line("!", done=True) if provider == "ollama" else openai_line("!", finish_reason="stop")
    sent = b"".join([*map(line, pieces), end])
    ends = sorted({0, len(sent), *data.draw(st.lists(st.integers(1, len(sent) - 1), max_size=9))})
    reader = ReplyReader(server)

    shown = [reader.feed(sent[start:end]) for start, end in pairwise(ends)]

    assert "".join(shown) + reader.end() == reader.text == ("".join(pieces) + "!").lstrip()
