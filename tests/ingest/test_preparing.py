"""Batches prepared in processes: the same outcomes, and what happens when a process ends."""

import os
import signal
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from kebab_stream.config import Chunking, Source
from kebab_stream.errors import StorageError
from kebab_stream.index.rows import FileStamp
from kebab_stream.ingest.plan import ToRead
from kebab_stream.ingest.prepare import signature_of
from kebab_stream.ingest.preparing import (
    WORTH_PROCESSES_BYTES,
    Preparation,
    Preparers,
    Read,
    Refused,
    StoredCopy,
    Unchanged,
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


async def test_a_process_that_is_killed_is_an_error_that_names_the_way_out() -> None:
    preparers = Preparers(PREPARATION, 2)
    try:
        await preparers.outcomes(BATCH)
        os.kill(preparers._all[0]._process.pid, signal.SIGKILL)
        with pytest.raises(StorageError, match="ended with exit status -9") as caught:
            await preparers.outcomes(BATCH)
    finally:
        preparers.close()
    assert "ingest.processes = 1" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("size", "wanted", "expected"),
    [(0, 0, {1}), (WORTH_PROCESSES_BYTES, 0, {1, 2, 3, 4}), (0, 3, {3}), (1 << 30, 1, {1})],
)
def test_small_ingests_stay_in_one_process(size: int, wanted: int, expected: set[int]) -> None:
    file = SourceFile("a.md", Path("/notes/a.md"), size, 0)
    assert processes_for([ToRead(SOURCE, file, None)], wanted) in expected
