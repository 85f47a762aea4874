"""`kebab replay` with real processes, kills and pipes."""

import json
import os
import pty
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.program import COMMAND, environment, kebab
from tests.cli.test_start_up import HEAVY, loaded
from tests.paths import FIXTURES
from tests.wire import checked

FIXTURE_QUERIES = (FIXTURES / "queries.ndjson").read_bytes().splitlines(keepends=True)
QUERIES = b"".join(line for line in FIXTURE_QUERIES if b"trace" not in line)  # no two traces are the same
MIXED = QUERIES + b"\n  \nnot json\n" + b'{"query":""}\n{"query":"\xff"}\n' + QUERIES * 12 + b'{"query":"last"}'
"""Some hundred lines, good and bad ones."""


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("queries") / "queries.ndjson"
    path.write_bytes(MIXED)
    return path


@pytest.fixture(scope="module")
def uninterrupted(queries: Path, fixture_data: Path) -> bytes:
    path = queries.with_name("uninterrupted.ndjson")
    assert kebab("replay", str(queries), "-o", str(path), "--workers", "1", data_dir=fixture_data).status == 0
    return path.read_bytes()


def test_good_lines_are_answered_like_a_bulk_run(queries: Path, uninterrupted: bytes, fixture_data: Path) -> None:
    done = kebab("search", "--bulk", "--json", stdin=QUERIES, data_dir=fixture_data)
    physical = [line for line in MIXED.split(b"\n") if line.strip()]
    lines = uninterrupted.splitlines()

    assert uninterrupted.startswith(done.out)
    assert len(lines) == len(physical)
    errors = {number: item["error"]["message"] for number, line in enumerate(lines) if (item := checked(line))["error"]}
    n = QUERIES.count(b"\n")
    failed_fixtures = [number for number in errors if number < n]
    assert errors[n].startswith(f"line {n + 3}: not valid JSON")
    assert errors[n + 2].startswith(f"line {n + 5}: not valid UTF-8")
    assert len(errors) == 3 + 13 * len(failed_fixtures)


def test_a_run_that_is_killed_twenty_times_ends_like_one_that_is_not(
    queries: Path, uninterrupted: bytes, fixture_data: Path, tmp_path: Path
) -> None:
    target = tmp_path / "results.ndjson"
    arguments = ["replay", str(queries), "-o", str(target), "--resume", "--json"]
    choices = random.Random(7)
    sizes = []
    for attempt in range(20):
        process = subprocess.Popen(
            [*COMMAND, *arguments, "--workers", str(1 + attempt % 2)],
            env=environment(fixture_data),
            stdout=subprocess.DEVNULL,
        )
        # Killed when some more was written, so that each attempt gets on; the last ones find a finished run.
        wanted = (target.stat().st_size if target.exists() else 0) + choices.randrange(len(uninterrupted) // 15)
        while process.poll() is None and (not target.exists() or target.stat().st_size <= wanted):
            time.sleep(0.001)
        process.kill()
        process.wait()
        sizes.append(target.stat().st_size)
    done = kebab(*arguments, data_dir=fixture_data)

    (report,) = done.lines
    assert (done.status, done.err) == (0, b"")
    assert target.read_bytes() == uninterrupted
    assert len(set(sizes)) > 5
    assert report["total"] == len(uninterrupted.splitlines())
    assert report["bad_lines"] == 2
    assert report["blank_lines"] == 2
    assert report["resumed_lines"] > 0


def test_a_finished_run_is_not_touched(fixture_data: Path, tmp_path: Path) -> None:
    queries, target = tmp_path / "queries.ndjson", tmp_path / "results.ndjson"
    queries.write_bytes(b'{"query":"coffee"}\n{"query":"backup"}\n')
    arguments = ("replay", str(queries), "-o", str(target), "--workers", "1", "--json")
    first = kebab(*arguments, data_dir=fixture_data)
    before = target.stat().st_mtime_ns
    again = kebab(*arguments, "--resume", data_dir=fixture_data)
    unasked = kebab(*arguments, data_dir=fixture_data)
    told = kebab(*arguments[:-1], "--resume", data_dir=fixture_data).out.decode()
    with queries.open("ab") as file:
        file.write(b'{"query":"tea"}\n')
    changed = kebab(*arguments, "--resume", data_dir=fixture_data)

    assert (first.status, again.status, unasked.status, changed.status) == (0, 0, 2, 2)
    assert target.stat().st_mtime_ns == before
    assert again.lines[0]["total"] == again.lines[0]["resumed_lines"] == 2
    assert told == "already finished, nothing to do: 2 queries: 2 succeeded, 0 failed\n"
    assert "has content already" in unasked.error["message"]
    assert changed.error["details"]["changes"] == ["the input changed"]
    assert kebab(*arguments, "--force", data_dir=fixture_data).lines[0]["total"] == 3
    assert target.read_bytes().count(b"\n") == 3


def test_streams_are_read_and_written(uninterrupted: bytes, fixture_data: Path, tmp_path: Path) -> None:
    done = kebab("replay", "-", "-o", "-", "--json", stdin=MIXED, data_dir=fixture_data)
    resumed = kebab("replay", "-", "-o", str(tmp_path / "a"), "--resume", "--json", data_dir=fixture_data)

    assert (done.status, done.out) == (0, uninterrupted)
    assert checked(done.err)["schema_version"] == "replay_report.v1"
    assert (resumed.status, resumed.error["code"]) == (2, "invalid_input")


def test_an_answer_comes_before_the_stream_ends(fixture_data: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "replay", "-", "-o", "-"],
        env=environment(fixture_data),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b'{"query":"coffee"}\n')
        process.stdin.flush()
        line = process.stdout.readline()
        process.stdin.close()

        assert checked(line)["query"] == {"query": "coffee"}
        assert process.wait(20) == 0


def test_a_reader_that_goes_away_ends_the_run_quietly(queries: Path, fixture_data: Path) -> None:
    command = f"'{COMMAND[0]}' -m kebab_stream replay {queries} -o - | head -1 | wc -l; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], env=environment(fixture_data), capture_output=True, check=True)

    assert (done.stdout.split(), done.stderr) == ([b"1", b"141"], b"")


def test_interrupting_leaves_a_run_that_can_be_continued(
    queries: Path, uninterrupted: bytes, fixture_data: Path, tmp_path: Path
) -> None:
    target = tmp_path / "results.ndjson"
    arguments = [*COMMAND, "replay", str(queries), "-o", str(target), "--json", "--resume"]
    process = subprocess.Popen(
        arguments, env=environment(fixture_data), stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    while process.poll() is None and (not target.exists() or not target.stat().st_size):
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: every process of the group gets it
    _out, err = process.communicate(timeout=20)
    done = subprocess.run(arguments, env=environment(fixture_data), capture_output=True, check=True)

    assert (process.returncode, checked(err)["code"]) == (130, "interrupted")
    assert json.loads(done.stdout)["resumed_lines"] > 0
    assert target.read_bytes() == uninterrupted


def test_an_interrupted_stream_is_not_said_to_go_on(fixture_data: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "replay", "-", "-o", str(tmp_path / "a"), "--json"],
        env=environment(fixture_data),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        process.stdin.write(b'{"query":"coffee"}\n')
        process.stdin.flush()
        while process.poll() is None and not (tmp_path / "a").exists():
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        process.wait(20)
        assert process.stderr
        assert checked(process.stderr.read())["message"] == "interrupted: what is written stays"


def test_killed_processes_leave_no_workers_behind(fixture_data: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "replay", "-", "-o", "-"],
        env=environment(fixture_data),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(b'{"query":"coffee"}\n')
    process.stdin.flush()
    process.stdout.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    of_threads = [path.read_text() for path in Path(f"/proc/{process.pid}/task").glob("*/children")]
    pids = [int(pid) for text in of_threads for pid in text.split()]
    process.kill()
    process.communicate()
    ends = time.monotonic() + 20
    while any(is_running(pid) for pid in pids) and time.monotonic() < ends:
        time.sleep(0.01)

    assert not children.exists()
    assert pids
    assert not any(is_running(pid) for pid in pids)


def is_running(pid: int) -> bool:
    with suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


def test_memory_does_not_grow_with_the_input(fixture_data: Path, tmp_path: Path) -> None:
    def peak(lines: int) -> int:
        source = tmp_path / f"{lines}.ndjson"
        source.write_bytes(b"?\n" * lines)
        arguments = [*COMMAND, "replay", str(source), "-o", str(tmp_path / "out"), "--force", "--quiet"]
        with subprocess.Popen(arguments, env=environment(fixture_data), stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)  # of the process and of its workers, whichever was larger
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss

    small, large = peak(10_000), peak(200_000)

    assert large - small < 10_000  # kB; the output alone is 60,000


def test_progress_and_report_are_told(queries: Path, fixture_data: Path, tmp_path: Path) -> None:
    arguments = ("replay", str(queries), "-o", str(tmp_path / "a"), "--json", "--progress", "--workers", "1")
    done = kebab(*arguments, data_dir=fixture_data)

    (report,) = done.lines
    steps = [checked(line) for line in done.err.splitlines()]
    physical = MIXED.count(b"\n") + 1
    assert (steps[0]["done"], steps[-1]["done"], steps[-1]["remaining_s"]) == (0, physical, 0)
    assert {step["total"] for step in steps} == {physical}
    assert steps[-1]["failed"] == report["failed"]
    assert report["total"] == report["succeeded"] + report["failed"] == physical - 2
    assert report["latency"]["p50_ms"] <= report["latency"]["p90_ms"] <= report["latency"]["p99_ms"]
    assert (report["workers"], report["replaced_workers"], report["resumed_lines"]) == (1, 0, 0)


def test_people_see_a_bar_and_a_summary(queries: Path, fixture_data: Path, tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "replay", str(queries), "-o", str(tmp_path / "a"), "--workers", "1"],
        env=environment(fixture_data, {"TERM": "xterm", "COLUMNS": "100"}),
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    seen = b""
    with suppress(OSError):
        while chunk := os.read(leader, 4096):
            seen += chunk
    os.close(leader)
    out, _ = process.communicate()

    assert b"replaying" in seen
    assert b"failed" in seen
    assert b"queries/s, 1 worker\n" in out
    assert b"2 of them no JSON" in out


def test_fail_makes_failed_lines_count(fixture_data: Path) -> None:
    bad = kebab("replay", "-", "-o", "-", "--fail", stdin=b"no\n", data_dir=fixture_data)
    good = kebab("replay", "-", "-o", "-", "--fail", stdin=b'{"query":"a"}\n', data_dir=fixture_data)

    assert (bad.status, good.status) == (1, 0)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.ndjson", "-o", "-"], "invalid_input", "cannot read none.ndjson: No such file"),
        ([".", "-o", "-"], "invalid_input", ". is a folder"),
        (["q", "-o", "q"], "invalid_input", "q is the input too"),
        (["a.journal", "-o", "a", "--force"], "invalid_input", "a.journal, the journal, is the input too"),
        (["q", "-o", "a" * 300], "io_error", "cannot write aaaa"),
        (["q", "-o", "a", "--ray-ship"], "invalid_input", "--ray-ship sends the index to a cluster"),
        (["q"], "invalid_input", "no output given"),
        (["q", "-o", "-", "--workers", "0"], "invalid_input", "--workers: expected a whole number from 1 to 1024"),
        (["q", "-o", "a", "--resume", "--force"], "invalid_input", "--resume keeps what --force replaces"),
        (["q", "-o", "none/a"], "io_error", "cannot write none/a: No such file"),
    ],
)
def test_what_cannot_be_done_is_told(
    fixture_data: Path, tmp_path: Path, arguments: list[str], code: str, message: str
) -> None:
    for name in ("q", "a.journal"):
        (tmp_path / name).write_bytes(b'{"query":"a"}\n')
    done = kebab("replay", *arguments, "--json", data_dir=fixture_data, cwd=tmp_path)

    assert (tmp_path / "a.journal").read_bytes() == b'{"query":"a"}\n'
    assert (done.status, done.out, done.error["code"]) == (2, b"", code)
    assert done.error["message"].startswith(message)


def test_without_an_index_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(b'{"query":"a"}\n')
    done = kebab("replay", "q", "-o", "a", "--json", data_dir=tmp_path / "none", cwd=tmp_path)

    assert (done.status, done.error["code"]) == (2, "not_indexed")
    assert not (tmp_path / "a").exists()


def test_an_empty_input_gives_an_empty_output(fixture_data: Path, tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(b"")
    done = kebab("replay", "q", "-o", "a", "--json", data_dir=fixture_data, cwd=tmp_path)

    assert (done.status, done.lines[0]["total"], done.lines[0]["latency"]) == (0, 0, None)
    assert (tmp_path / "a").read_bytes() == b""


def test_help_is_told_without_heavy_libraries(tmp_path: Path) -> None:
    modules, loops = loaded("replay", "--help", data_dir=tmp_path)

    assert (modules & HEAVY, loops) == (set(), [])
