"""Lines to messages, and which requests are still to be answered."""

import json
from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from kebab_stream.mcp_server.transport import MAX_MESSAGE_BYTES, Refused, Unanswered, message_of
from kebab_stream.ndjson import Line, Oversized

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(st.characters()), parts, max_size=3),
)
envelopes = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={"id": anything, "method": st.just("ping") | anything, "params": anything, "result": anything},
)


def message(value: Any) -> Any:
    return message_of(Line(1, json.dumps(value).encode()))


@given(envelopes | anything)
def test_a_line_is_a_message_or_has_an_answer_that_can_be_written(value: Any) -> None:
    found = message(value)

    if isinstance(found, Refused):
        answer = json.loads(found.answer.model_dump_json(by_alias=True, exclude_unset=True))
        assert (answer["id"], answer["error"]["code"]) == (found.request_id, found.code)
    else:
        found.model_dump_json(include={"id", "method"})


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    message_of(Line(1, data))


def test_a_line_that_is_too_long_is_refused() -> None:
    refused = message_of(Oversized(1, MAX_MESSAGE_BYTES + 1))

    assert isinstance(refused, Refused)
    assert (refused.request_id, refused.code) == (None, -32600)


def test_a_request_keeps_what_json_has_and_what_it_has_not() -> None:
    arguments = {"a": 10**30, "b": [None, {"c": "가"}]}
    request = message({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"arguments": arguments}})

    assert isinstance(request, JSONRPCRequest)
    assert (request.id, (request.params or {})["arguments"]) == ("x", arguments)


async def test_the_end_waits_for_answers_but_not_for_what_was_taken_back() -> None:
    unanswered = Unanswered()
    for number in (1, 2):
        unanswered.read(JSONRPCRequest(jsonrpc="2.0", id=number, method="ping"))
    ended = anyio.Event()

    async def wait() -> None:
        await unanswered.settled()
        ended.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            unanswered.written(JSONRPCResponse(jsonrpc="2.0", id=1, result={}))
            await anyio.wait_all_tasks_blocked()
            assert not ended.is_set()
            taken_back = {"requestId": "2"}
            unanswered.read(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=taken_back))

    assert ended.is_set()
