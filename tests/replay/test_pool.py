"""Workers that die, and an index that changes under them."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest

from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.engine import Engine
from kebab_stream.errors import NotIndexedError, RetrievalError
from kebab_stream.ndjson import Line
from kebab_stream.replay.answers import Answers, answer_lines, unanswered
from kebab_stream.replay.pool import WorkerPool
from kebab_stream.replay.worker import Worker, WorkerDiedError
from tests.corpora import config_of, ingest_files

LINES = [Line(1, b'{"query":"coffee"}'), Line(2, b"no")]


def revision_of(config: Config) -> str:
    with Engine.open(config) as engine:
        return engine.snapshot.corpus_revision


@dataclass(frozen=True, slots=True)
class Known:
    """An index, and what it answers."""

    config: Config
    revision: str
    output: bytes


@pytest.fixture(scope="module")
def known(fixture_data: Path) -> Known:
    config = config_of(fixture_data)
    with Engine.open(config) as engine:
        return Known(config, engine.snapshot.corpus_revision, answer_lines(engine, LINES).output)


@asynccontextmanager
async def pool_of(config: Config, revision: str, size: int = 1) -> AsyncIterator[WorkerPool]:
    pool = WorkerPool(config, revision, size)
    try:
        yield pool
    finally:
        await pool.close()


def kill(worker: Worker) -> None:
    assert worker.pid
    os.kill(worker.pid, signal.SIGKILL)


async def test_a_dead_worker_is_replaced_and_its_batch_answered(known: Known) -> None:
    async with pool_of(known.config, known.revision) as pool:
        await pool.answer(LINES)
        kill(pool._idle[0])
        answers = await pool.answer(LINES)

        assert answers.output == known.output
        assert pool.replaced == 1


async def test_a_batch_on_which_two_workers_died_is_an_error_for_each_line(known: Known) -> None:
    async with pool_of(known.config, known.revision) as pool:
        start = pool._start

        def doomed() -> Worker:
            """A worker that dies before its first batch."""
            worker = start()
            kill(worker)
            return worker

        pool._start = partial(doomed)
        answers = await pool.answer(LINES)
        pool._start = start
        after = await pool.answer(LINES)

        assert answers == unanswered(LINES)
        assert after.output == known.output
        assert pool.replaced == 2


@pytest.mark.parametrize("deaths", [2, 3])
async def test_a_worker_that_dies_while_it_starts_is_replaced_up_to_three_times(known: Known, deaths: int) -> None:
    async with pool_of(known.config, known.revision) as pool:
        start = pool._start

        def unlucky() -> Worker:
            if pool.replaced < deaths:
                raise WorkerDiedError
            return start()

        pool._start = partial(unlucky)
        if deaths < 3:
            assert (await pool.answer(LINES)).output == known.output
        else:
            with pytest.raises(RetrievalError, match="3 workers, one after another, ended"):
                await pool.answer(LINES)

        assert pool.replaced == deaths


async def test_as_many_workers_start_as_there_is_work_for(known: Known) -> None:
    found: list[Answers] = []

    async with pool_of(known.config, known.revision, size=2) as pool:

        async def ask() -> None:
            found.append(await pool.answer(LINES))

        for _ in range(2):
            await ask()
        one_by_one = len(pool._idle)
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)

        assert (one_by_one, len(pool._idle)) == (1, 2)
        assert {answers.output for answers in found} == {known.output}


async def test_a_worker_that_sees_another_state_of_the_index_stops_the_run(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest = partial(ingest_files, config, tmp_path / "notes")
    await run_blocking(ingest, {"a.md": "coffee"})
    revision = await run_blocking(revision_of, config)
    async with pool_of(config, revision) as pool:
        before = await pool.answer(LINES)
        await run_blocking(ingest, {"b.md": "more coffee"})
        kept = await pool.answer(LINES)
        kill(pool._idle[0])
        with pytest.raises(RetrievalError, match=f"the index changed .* was {revision}"):
            await pool.answer(LINES)

        assert kept.output == before.output  # a commit does not disturb the workers there are


async def test_an_index_that_is_gone_is_told_as_such(tmp_path: Path) -> None:
    async with pool_of(config_of(tmp_path / "none"), "r1") as pool:
        with pytest.raises(NotIndexedError):
            await pool.answer(LINES)


async def test_closing_ends_workers_in_the_midst_of_a_batch(known: Known) -> None:
    pool = WorkerPool(known.config, known.revision, 1)
    await pool.answer(LINES)
    (worker,) = pool._idle
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.answer, LINES * 20_000)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        await pool.close()

    assert worker._process.exitcode == -signal.SIGKILL
