"""`kebab search --bulk` with real pipes, real jq and real signals."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import COMMAND, environment, kebab
from tests.paths import FIXTURES
from tests.wire import checked

QUERIES = (FIXTURES / "queries.ndjson").read_bytes()
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")


def test_two_queries_give_two_lines_and_a_summary(fixture_data: Path) -> None:
    done = kebab("search", "--bulk", "--json", stdin=b'{"query":"coffee"}\n{"query":"backup"}\n', data_dir=fixture_data)

    assert (done.status, [line["query"]["query"] for line in done.lines]) == (0, ["coffee", "backup"])
    assert all(line["response"]["hits"] and line["error"] is None for line in done.lines)
    assert done.err == b'{"schema_version":"bulk_search_summary.v1","total":2,"succeeded":2,"failed":0}\n'


def test_every_fixture_query_has_its_answer_among_the_first_three(fixture_data: Path) -> None:
    done = kebab("search", "--bulk", "--json", stdin=QUERIES, data_dir=fixture_data)
    answers = json.loads((FIXTURES / "answers.json").read_text(encoding="utf-8"))

    found = {
        line["query"]["id"]: {hit["doc_path"] for hit in line["response"]["hits"][:3]}
        for line in done.lines
        if line["query"]["id"] in answers
    }
    assert {name: set(paths) - found[name] for name, paths in answers.items()} == {name: set() for name in answers}


def test_an_item_is_answered_like_a_single_search(fixture_data: Path) -> None:
    done = kebab("search", "--bulk", "--json", stdin='{"query":"커피 추출","k":3}'.encode(), data_dir=fixture_data)
    single = kebab("search", "커피 추출", "--k", "3", "--json", data_dir=fixture_data)

    assert b'"response":' + single.out.rstrip(b"\n") + b',"error":null}' in done.out


def test_an_empty_batch_succeeds_whatever_the_index(tmp_path: Path) -> None:
    done = kebab("search", "--bulk", "--json", data_dir=tmp_path / "none")

    assert (done.status, done.out) == (0, b"")
    assert done.err == b'{"schema_version":"bulk_search_summary.v1","total":0,"succeeded":0,"failed":0}\n'


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        (b"not json\n", "stdin line 1:"),
        (b'{"query":"a"}\n\n{"query":"b"\n', "stdin line 3:"),
        (b'{"query":"\xff"}\n', "stdin line 1:"),
        (b'{"query":"a"}\n' * 101, "queries: max 100 items, got more than 100"),
        (b'{"query":"a"}\nNaN\n' + b'{"query":"a"}\n' * 200, "stdin line 2:"),
        (b'{"query":"' + b"a" * (1 << 20) + b'"}\n', "stdin line 1:"),
    ],
)
def test_a_bad_batch_ends_before_anything_runs(fixture_data: Path, stdin: bytes, message: str) -> None:
    done = kebab("search", "--bulk", "--json", stdin=stdin, data_dir=fixture_data)

    assert (done.status, done.out, done.error["code"]) == (2, b"", "config_invalid")
    assert done.error["message"].startswith(message)


def test_a_hundred_queries_are_fine(fixture_data: Path) -> None:
    done = kebab("search", "--bulk", "--json", stdin=b'{"query":"coffee"}\n' * 100, data_dir=fixture_data)

    assert (done.status, len(done.lines)) == (0, 100)


def test_a_failed_query_stays_alone(fixture_data: Path) -> None:
    stdin = b'{"query":"a","trust_min":"high"}\n[1]\n{"query":"coffee","media":["foo"]}\n{"query":"coffee"}'
    done = kebab("search", "--bulk", "--json", stdin=stdin, data_dir=fixture_data)

    codes = [line["error"] and line["error"]["code"] for line in done.lines]
    assert (done.status, codes) == (0, ["invalid_input", "invalid_input", None, None])
    assert done.lines[2]["response"]["hits"] == []
    assert checked(done.err)["failed"] == 2


def test_fail_makes_failed_queries_count(fixture_data: Path) -> None:
    bad = kebab("search", "--bulk", "--fail", "--json", stdin=b'{"query":""}', data_dir=fixture_data)
    good = kebab("search", "--bulk", "--fail", "--json", stdin=b'{"query":"a"}', data_dir=fixture_data)

    assert (bad.status, good.status) == (1, 0)


def test_the_echo_is_the_lines_own_bytes(fixture_data: Path) -> None:
    item = b'{ "query" : "a", "id": 123456789012345678901234567890, "id": 1.50 , "meta":"\\u00e9" }'
    done = kebab("search", "--bulk", "--json", stdin=b"\xef\xbb\xbf  " + item + b" \r\n", data_dir=fixture_data)

    assert done.out.startswith(b'{"schema_version":"bulk_search_item.v1","query":' + item + b',"response":{')


def test_people_get_blocks_with_headers_on_stderr(fixture_data: Path) -> None:
    stdin = '{"query":"coffee\\n\\u001b[31m grind","k":1}\n{"query":""}\n{"query":"백업","k":1}\n'.encode()
    done = kebab("search", "--bulk", stdin=stdin, data_dir=fixture_data)

    blocks = done.out.decode().split("\n\n")
    errors = done.err.decode().splitlines()
    assert [len(block.strip().splitlines()) for block in blocks] == [2, 2]
    assert errors[0] == "# Query 1: coffee \\x1b[31m grind"
    assert errors[2].startswith("error: [invalid_input]")
    assert errors[-1] == "bulk_summary: total=3 succeeded=2 failed=1"


def test_other_options_are_ignored_with_one_warning(fixture_data: Path) -> None:
    arguments = ("search", "word", "--bulk", "--k", "3", "--tag", "x", "--json")
    done = kebab(*arguments, stdin=b'{"query":"coffee"}', data_dir=fixture_data)
    quiet = kebab(*arguments, "--quiet", stdin=b'{"query":"coffee"}', data_dir=fixture_data)

    warning, _summary = (checked(line) for line in done.err.splitlines())
    assert warning["code"] == "ignored_option"
    assert all(name in warning["message"] for name in ("QUERY", "--k", "--tag"))
    assert len(quiet.err.splitlines()) == 1
    assert quiet.out == done.out


def test_bad_settings_end_the_run_before_stdin_is_read(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "search", "--bulk", "--json", "--config", str(tmp_path / "none.toml")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    ) as process:
        assert process.stderr is not None
        assert checked(process.stderr.read())["code"] == "config_not_found"  # while stdin is still open
        assert process.wait() == 2


@needs_jq
def test_jq_reads_the_stream(fixture_data: Path) -> None:
    pipeline = f"{' '.join(COMMAND)} search --bulk --json 2>/dev/null | jq -c '.response.hits[0].doc_path'"
    stdin = b'{"query":"coffee grind"}\n{"query":"\xec\xbb\xa4\xed\x94\xbc"}\n'
    done = subprocess.run(
        pipeline, shell=True, input=stdin, env=environment(fixture_data), capture_output=True, check=True
    )

    assert done.stdout == b'"en/coffee-brewing.md"\n"ko/coffee-brewing.md"\n'


def test_a_reader_that_leaves_ends_the_run_quietly(fixture_data: Path) -> None:
    pipeline = f"{' '.join(COMMAND)} search --bulk --json | head -1 | wc -l; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", pipeline],
        input=b'{"query":"the","k":1000,"snippet_chars":4000}\n' * 50,
        env=environment(fixture_data),
        capture_output=True,
        check=True,
    )

    assert done.stdout.split() == [b"1", b"141"]
    assert done.stderr == b""


def test_an_interrupt_leaves_at_once_while_stdin_is_open(fixture_data: Path) -> None:
    read, write = os.pipe()
    with subprocess.Popen(
        [*COMMAND, "search", "--bulk", "--json"],
        stdin=read,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(fixture_data, {"PYTHONFAULTHANDLER": "1"}),
    ) as process:
        os.close(read)
        os.write(write, b'{"query":"coffee"}\n')
        _wait_until_it_reads(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        os.close(write)

    assert (process.returncode, out, err) == (130, b"", b"")


def _wait_until_it_reads(pid: int) -> None:
    """Until the process has imported what waits on stdin: its event loop has an epoll descriptor."""
    while not any(_target(link).startswith("anon_inode:[eventpoll]") for link in Path(f"/proc/{pid}/fd").iterdir()):
        signal.sigtimedwait([], 0.005)


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:  # closed since it was listed
        return ""


def test_an_interrupt_waits_for_the_line_that_is_being_written(fixture_data: Path) -> None:
    items = b'{"query":"the","k":1000,"snippet_chars":10000}\n' * 30
    with subprocess.Popen(
        [*COMMAND, "search", "--bulk", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(fixture_data),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(items)
        process.stdin.close()
        first = process.stdout.read(1)  # a line is longer than the pipe: the rest of it waits for this reader
        process.send_signal(signal.SIGINT)
        signal.sigtimedwait([], 0.3)
        out = first + process.stdout.read()
        process.wait(timeout=10)

    assert process.returncode == 130
    assert out.endswith(b"\n")
    assert 1 <= len([checked(line) for line in out.splitlines()]) < 30


def test_a_second_interrupt_does_not_wait(fixture_data: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "search", "--bulk", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(fixture_data),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"query":"the","k":1000,"snippet_chars":10000}\n' * 30)
        process.stdin.close()
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)  # the same Ctrl-C, twice
        signal.sigtimedwait([], 0.4)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)

        assert process.wait(timeout=5) == 130  # although nobody reads the rest of the line


@pytest.mark.parametrize("options", [["--json"], []])
def test_nobody_reading_stderr_is_no_failure(fixture_data: Path, options: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with Path("/dev/full").open("wb") as full:
        for stderr in (write, full):
            done = subprocess.run(
                [*COMMAND, "search", "--bulk", *options],
                input=b'{"query":"coffee","k":1}\n{"query":"backup","k":1}\n',
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=environment(fixture_data),
                check=False,
            )

            assert (done.returncode, done.stdout.count(b"coffee-brewing") >= 1) == (0, True)
    os.close(write)


def test_a_malformed_option_beside_bulk_is_ignored_too(fixture_data: Path) -> None:
    done = kebab("search", "--bulk", "--k", "x", "--mode", "y", "--json", stdin=b'{"query":"a"}', data_dir=fixture_data)

    assert (done.status, len(done.lines)) == (0, 1)
