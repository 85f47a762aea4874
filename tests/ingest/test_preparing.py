"""Batches prepared in processes: the same outcomes, and what happens when a process ends."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

import anyio
import pytest

from kebab_stream.config import Chunking, Source
from kebab_stream.errors import StorageError
from kebab_stream.index.rows import FileStamp
from kebab_stream.ingest.plan import ToRead
from kebab_stream.ingest.prepare import signature_of
from kebab_stream.ingest.preparing import (
    MOST_PROCESSES,
    WORTH_PROCESSES_BYTES,
    Preparation,
    Preparers,
    Read,
    Refused,
    StoredCopy,
    Unchanged,
    _processors,
    processes_for,
)
from kebab_stream.ingest.read import content_hash
from kebab_stream.ingest.walk import SourceFile
from kebab_stream.model import DocId

SOURCE = Source(id="notes", root=Path("/notes"))
PREPARATION = Preparation(chunking=Chunking(), now=datetime(2026, 1, 2, tzinfo=UTC), with_index=True)


def read(name: str, data: bytes | OSError = b"# Title\n\ntext \xea\xb0\x80", *, known: FileStamp | None = None) -> Read:
    size = len(data) if isinstance(data, bytes) else 0
    return ToRead(SOURCE, SourceFile(name, Path("/notes") / name, size, 0), known), data


def stamp_of(one: Read) -> FileStamp:
    to_read, data = one
    assert isinstance(data, bytes)
    signature = signature_of(SOURCE, Chunking(), to_read.file)
    return FileStamp(
        doc_id=DocId("a" * 32), size=len(data), mtime_ns=0, content_hash=content_hash(data), signature=signature
    )


BATCH = [
    read("a.md"),
    read("code.py", b"def f():\n    return 1\n"),
    read("binary.md", b"\0\1\2" * 99),
    read("gone.md", OSError(2, "No such file or directory")),
]


def test_what_becomes_of_files() -> None:
    same = read("same.md")
    changed = read("changed.md", known=replace(stamp_of(same), content_hash="other"))
    same = read("same.md", known=stamp_of(same))
    copy = replace(same[0], is_copy=True), b""

    text, code, binary, gone, *rest = PREPARATION.outcomes([*BATCH, same, changed, copy])

    assert isinstance(text, tuple)
    prepared, indexed = text
    assert [chunk.text for chunk in prepared.chunks] == [chunk.text for chunk in indexed]
    assert isinstance(code, tuple)
    assert isinstance(binary, Refused)
    assert (binary.is_binary, binary.is_failure) == (True, False)
    assert gone == Refused("cannot be read: No such file or directory", is_failure=True)
    assert rest[0] == Unchanged()
    assert isinstance(rest[1], tuple)
    assert rest[2] == StoredCopy()


async def test_processes_give_the_same_outcomes_in_the_same_order(capfd: pytest.CaptureFixture[str]) -> None:
    preparers = Preparers(PREPARATION, 2)
    results: list[object] = [None] * 4

    async def put(number: int) -> None:
        results[number] = await preparers.outcomes(BATCH[: number + 1])

    try:
        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(put, number)
    finally:
        preparers.close()
    assert results == [PREPARATION.outcomes(BATCH[: number + 1]) for number in range(4)]
    assert capfd.readouterr() == ("", "")


async def test_a_file_over_which_a_process_ends_is_refused_and_the_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Stands before the real one on the path of the processes, and is imported for texts that are not UTF-8.
    (tmp_path / "chardet.py").write_text("import os; os.kill(os.getpid(), 9)")
    preparers = Preparers(PREPARATION, 2)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        outcomes = await preparers.outcomes([read("a.md"), read("kills.md", b"caf\xe9 " * 9), read("b.md")])
    finally:
        preparers.close()
    assert [type(outcome) for outcome in outcomes] == [tuple, Refused, tuple]
    assert outcomes[1] == Refused("the process that parsed it ended with exit status -9", is_failure=True)


async def test_a_process_that_is_killed_is_replaced() -> None:
    preparers = Preparers(PREPARATION, 2)
    try:
        first = await preparers.outcomes(BATCH)
        os.kill(preparers._all[0]._process.pid, signal.SIGKILL)
        assert await preparers.outcomes(BATCH) == first
    finally:
        preparers.close()
    assert len(preparers._all) == 2


async def test_a_process_that_cannot_start_is_an_error_that_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    preparers = Preparers(PREPARATION, 2)
    with pytest.raises(StorageError, match="cannot be started") as caught:
        await preparers.outcomes(BATCH)
    assert "ingest.processes = 1" in str(caught.value.hint)


async def test_in_one_process_one_batch_is_prepared_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    # PDFium must not run in two threads.
    running, most = 0, 0

    def outcomes(_preparation: Preparation, _batch: list[Read]) -> list[object]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        sleep(0.01)
        running -= 1
        return []

    monkeypatch.setattr(Preparation, "outcomes", outcomes)
    preparers = Preparers(PREPARATION, 1)
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(preparers.outcomes, [])
    assert most == 1


def test_a_process_ends_with_its_parent_whatever_it_is_busy_with(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(_PARENT)
    parent = subprocess.Popen([sys.executable, str(tmp_path / "parent.py")], stdout=subprocess.PIPE)
    with parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    deadline = monotonic() + 10
    while is_running(child) and monotonic() < deadline:
        sleep(0.01)
    assert not is_running(child)


_PARENT = """
import pickle, sys, threading
from kebab_stream.ingest.preparing import _Process
from tests.ingest.test_preparing import PREPARATION, read

process = _Process(PREPARATION)
threading.Thread(target=process.outcomes, args=([read("long.md", b"- a\\n" * 3_000_000)],)).start()
print(process._process.pid, flush=True)
"""


def is_running(pid: int) -> bool:
    """Whether a process is there, and is no zombie."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("size", "wanted", "expected"),
    [(0, 0, 1), (WORTH_PROCESSES_BYTES, 0, min(_processors(), MOST_PROCESSES)), (0, 3, 3), (1 << 30, 1, 1)],
)
def test_small_ingests_stay_in_one_process(size: int, wanted: int, expected: int) -> None:
    file = SourceFile("a.md", Path("/notes/a.md"), size, 0)
    assert processes_for([ToRead(SOURCE, file, None)], wanted) == expected
