"""What goes over the two descriptors, line by line: a server that nothing breaks, and messages only on stdout."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cli.program import COMMAND, environment
from tests.mcp.clients import OPENING, answers, line, spoken, tool_call

LIST = line({"id": 1, "method": "tools/list"})

WITH_ANOTHER_DOCTOR = """
import os, sys
from kebab_stream import doctor
look = doctor.diagnose
def another(load):
    {}
    return look(load)
doctor.diagnose = another
from kebab_stream.__main__ import main
sys.argv = ["kebab", "mcp"]
main()
"""
NOISY = 'print("printed"); os.write(1, b"written\\n"); os.system("echo said by a child; cat")'
FAULTY = 'raise ExceptionGroup("", [ExceptionGroup("", [ZeroDivisionError("by zero")]), ValueError()])'


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def test_the_whole_list_of_tools_takes_less_than_ten_thousand_bytes(fixture_data: Path) -> None:
    done = spoken(fixture_data, LIST)

    assert len(done.out.splitlines()[1]) < 10_000
    assert len(answers(done)[1]["result"]["tools"]) == 8


def test_everything_that_was_asked_before_stdin_ended_is_answered(fixture_data: Path) -> None:
    done = spoken(
        fixture_data,
        tool_call(1, "bulk_search", queries=[{"query": f"coffee {number}"} for number in range(20)]),
        tool_call(2, "search", query="coffee"),
        tool_call(3, "doctor")[:-1],  # a last line without an end
    )

    found = answers(done)
    assert (done.status, done.err, sorted(found)) == (0, b"", [1, 2, 3])
    assert not any(answer["result"]["isError"] for answer in found.values())


def test_calls_that_were_taken_back_do_not_hold_up_the_end(fixture_data: Path) -> None:
    queries = [{"query": f"coffee {number}", "k": 100} for number in range(100)]
    done = spoken(
        fixture_data,
        tool_call(1, "bulk_search", queries=queries),
        line({"method": "notifications/cancelled", "params": {"requestId": 1}}),
        tool_call(2, "search", query="coffee"),
    )

    assert (done.status, sorted(answers(done))) == (0, [2])


def test_garbage_is_answered_or_passed_over_and_the_next_call_is_served(fixture_data: Path) -> None:
    garbage = [
        b"nonsense\n",
        b"\xff\xfe\n",
        b"\n",
        b" \r\n",
        b"[]\n",
        b"7\n",
        b'{"jsonrpc":"1.0","id":10,"method":"ping"}\n',
        line({"id": None, "method": "ping"}),
        line({"id": "11", "method": "no/such"}),
        line({"id": 12, "method": "tools/call", "params": [1]}),
        line({"id": 13, "method": "tools/call", "params": {"name": "search", "arguments": "coffee"}}),
        line({"id": "\ud800", "method": "ping"}),
        line({"id": 14, "method": "ping", "params": {"_meta": {"progressToken": "\ud800"}}}),
        line({"method": "notifications/no_such"}),
        line({"method": "notifications/cancelled", "params": {"requestId": 99}}),
        line({"id": 15, "result": {}}),
        b"[" * 100_000 + b"\n",
        b"\0\n",
    ]
    done = spoken(fixture_data, *garbage, tool_call(1, "search", query="coffee", k=1))

    found = answers(done)
    assert done.status == 0
    assert found[1]["result"]["isError"] is False
    assert {key: answer["error"]["code"] for key, answer in found.items() if key != 1} == {
        None: found[None]["error"]["code"],
        10: -32600,
        "11": -32601,
        12: -32600,
        13: -32602,
        14: -32600,
    }


def test_what_cannot_be_echoed_is_the_error_of_its_item(fixture_data: Path) -> None:
    odd = ["123456789012345678901234567890", "-1e999", "NaN", '"\\ud800"', json.dumps(deep(300))]
    good = {"query": "coffee", "id": 18446744073709551615, "meta": deep(100)}
    items = [{"query": "coffee", "id": f"ODD {number}"} for number in range(len(odd))]
    request = tool_call(1, "bulk_search", queries=[*items, good])
    for number, value in enumerate(odd):
        request = request.replace(f'"ODD {number}"'.encode(), value.encode())

    *refused, last = answers(spoken(fixture_data, request))[1]["result"]["structuredContent"]["results"]

    assert [(item["query"], item["error"]["code"]) for item in refused] == [(None, "invalid_input")] * len(odd)
    assert (last["query"], last["error"]) == (good, None)


def test_what_prints_does_not_reach_the_client(fixture_data: Path) -> None:
    done = spoken(
        fixture_data,
        tool_call(1, "doctor"),
        tool_call(2, "search", query="coffee"),
        program=[sys.executable, "-c", WITH_ANOTHER_DOCTOR.format(NOISY)],
    )

    assert (done.status, sorted(answers(done))) == (0, [1, 2])
    assert sorted(done.err.split(b"\n")) == [b"", b"printed", b"said by a child", b"written"]


def test_a_fault_of_ours_costs_one_call(fixture_data: Path) -> None:
    done = spoken(
        fixture_data,
        tool_call(1, "doctor"),
        tool_call(2, "search", query="coffee"),
        program=[sys.executable, "-c", WITH_ANOTHER_DOCTOR.format(FAULTY)],
    )

    found = answers(done)
    error = found[1]["result"]["structuredContent"]
    assert found[1]["result"]["isError"]
    assert (error["code"], error["message"]) == ("generic", "ZeroDivisionError: by zero")
    assert found[2]["result"]["isError"] is False


def started(data_dir: Path) -> subprocess.Popen[bytes]:
    """A server that has answered the opening."""
    server = subprocess.Popen(
        [*COMMAND, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(data_dir),
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(OPENING)
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 0
    return server


def test_ctrl_c_ends_it_at_once_and_quietly_though_stdin_stays_open(fixture_data: Path) -> None:
    with started(fixture_data) as server:
        server.send_signal(signal.SIGINT)

        assert server.wait(10) == 130
        assert server.stderr is not None
        assert server.stderr.read() == b""


def test_a_client_that_stops_reading_ends_it_quietly(fixture_data: Path) -> None:
    with started(fixture_data) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        server.stdin.write(LIST)
        server.stdin.flush()

        assert server.wait(10) == 141
        assert server.stderr.read() == b""


def test_without_stdin_it_ends_at_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "mcp"], stdin=subprocess.DEVNULL, capture_output=True, env=environment(tmp_path), check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_it_leaves_no_descriptor_of_the_client_to_its_libraries(fixture_data: Path) -> None:
    with started(fixture_data) as server:
        where = [str(Path(f"/proc/{server.pid}/fd/{fd}").readlink()) for fd in range(3)]
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(10) == 0

    assert where[0] == os.devnull
    assert where[1] == where[2]
