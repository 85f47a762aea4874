"""Threads and standard streams: what is cancelled at once, what is finished first, what goes wrong."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from anyio import create_task_group, fail_after, to_thread
from blockbuster import BlockingError

from kebab_stream.concurrency import run_blocking, stdin_chunks, write_all
from kebab_stream.errors import StorageError
from tests.paths import ROOT


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A reading and a writing end; a test may close the writing end itself."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    try:
        os.close(writing)
    except OSError:
        return


async def read_all(fd: int) -> list[bytes]:
    return [chunk async for chunk in stdin_chunks(fd)]


async def test_blocking_work_runs_in_another_thread() -> None:
    assert await run_blocking(threading.get_ident) != threading.get_ident()
    assert await run_blocking(divmod, 7, 2) == (3, 1)


async def test_an_error_in_the_thread_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        await run_blocking(divmod, 7, 0)


async def test_a_limiter_bounds_how_many_run_at_once() -> None:
    limiter = anyio.CapacityLimiter(1)
    release = threading.Event()
    started: list[int] = []

    def work(number: int) -> None:
        started.append(number)
        release.wait(5)

    async def run(number: int) -> None:
        await run_blocking(work, number, limiter=limiter)

    with fail_after(5):
        async with create_task_group() as tasks:
            tasks.start_soon(run, 1)
            tasks.start_soon(run, 2)
            await anyio.wait_all_tasks_blocked()
            assert started in ([], [1])
            release.set()

    assert started == [1, 2]


async def test_a_cancelled_call_waits_for_its_thread() -> None:
    started, release, finished = threading.Event(), threading.Event(), threading.Event()

    with fail_after(5):
        async with create_task_group() as tasks:
            tasks.start_soon(run_blocking, hold, started, release, finished)
            await to_thread.run_sync(started.wait, 5)
            tasks.cancel_scope.cancel()
            assert not finished.is_set()
            release.set()

    assert finished.is_set()


async def test_a_cancelled_call_that_may_be_abandoned_returns_at_once() -> None:
    started, release, finished = threading.Event(), threading.Event(), threading.Event()

    async def run() -> None:
        await run_blocking(hold, started, release, finished, abandon=True)

    with fail_after(5):
        async with create_task_group() as tasks:
            tasks.start_soon(run)
            await to_thread.run_sync(started.wait, 5)
            tasks.cancel_scope.cancel()

    assert not finished.is_set()
    release.set()


def hold(started: threading.Event, release: threading.Event, finished: threading.Event) -> None:
    started.set()
    release.wait(5)
    finished.set()


async def test_chunks_come_as_they_are_written(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    chunks = stdin_chunks(reading)
    with fail_after(5):
        os.write(writing, b"one\n")
        assert await anext(chunks) == b"one\n"
        os.write(writing, b"tw")
        assert await anext(chunks) == b"tw"
        os.close(writing)

        with pytest.raises(StopAsyncIteration):
            await anext(chunks)


async def test_a_non_blocking_pipe_is_waited_for(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.set_blocking(reading, False)
    with fail_after(5):
        async with create_task_group() as tasks:
            tasks.start_soon(to_thread.run_sync, _write_later, writing)

            assert await read_all(reading) == [b"late"]


def _write_later(writing: int) -> None:
    time.sleep(0.05)
    os.write(writing, b"late")
    os.close(writing)


async def test_input_that_another_reader_took_is_waited_for_again(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.set_blocking(reading, False)
    second = os.dup(reading)
    chunks: list[bytes] = []

    async def read(fd: int) -> None:
        chunks.extend(await read_all(fd))

    with fail_after(5):
        async with create_task_group() as tasks:
            tasks.start_soon(read, reading)
            tasks.start_soon(read, second)
            await anyio.wait_all_tasks_blocked()
            os.write(writing, b"x")
            await to_thread.run_sync(time.sleep, 0.05)
            os.close(writing)
    os.close(second)

    assert chunks == [b"x"]


async def test_a_regular_file_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "queries.ndjson"
    await to_thread.run_sync(path.write_bytes, b"x" * 200_000)
    with path.open("rb") as file, fail_after(5):
        assert b"".join(await read_all(file.fileno())) == b"x" * 200_000


async def test_the_null_device_is_empty() -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        with fail_after(5):
            assert await read_all(null) == []
    finally:
        os.close(null)


async def test_a_closed_descriptor_is_an_io_error(pipe: tuple[int, int]) -> None:
    spare = os.dup(pipe[0])
    os.close(spare)

    with pytest.raises(StorageError, match="cannot read standard input: Bad file descriptor"):
        await read_all(spare)


async def test_waiting_for_input_is_cancelled_at_once(pipe: tuple[int, int]) -> None:
    reading, _ = pipe
    with fail_after(5):
        async with create_task_group() as tasks:
            tasks.start_soon(read_all, reading)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()


WAITS_FOR_INPUT = """
import anyio
from kebab_stream.concurrency import stdin_chunks

async def main():
    print("ready", flush=True)
    async for chunk in stdin_chunks():
        pass

try:
    anyio.run(main)
except KeyboardInterrupt:
    raise SystemExit(130)
"""


def test_an_interrupted_process_leaves_while_its_input_stays_open() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITS_FOR_INPUT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(10) == 130
        finally:
            process.kill()


def test_all_bytes_are_written_however_small_the_pipe(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    data = os.urandom(1 << 20)
    received = bytearray()

    def drain() -> None:
        while len(received) < len(data):
            received.extend(os.read(reading, 1 << 16))

    reader = threading.Thread(target=drain)
    reader.start()
    os.set_blocking(writing, False)  # so that writes are partial, and refused when the pipe is full
    write_all(writing, data)
    reader.join(10)

    assert bytes(received) == data


def test_a_reader_that_went_away_is_a_broken_pipe() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        write_all(writing, b"x")
    os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_an_io_error() -> None:
    with Path("/dev/full").open("wb") as file, pytest.raises(StorageError, match="cannot write output: No space left"):
        write_all(file.fileno(), b"x")


async def test_writing_on_the_event_loop_would_be_noticed(pipe: tuple[int, int]) -> None:
    _, writing = pipe
    with pytest.raises(BlockingError):
        write_all(writing, b"x")


def test_importing_these_tools_does_not_import_anyio() -> None:
    code = "import sys, kebab_stream.concurrency; raise SystemExit('anyio' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
