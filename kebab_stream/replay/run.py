"""A replay as a whole: read, answer by several workers, write in order, report."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import BinaryIO

import anyio

from kebab_stream.concurrency import run_blocking, stdin_chunks
from kebab_stream.config import Config
from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError
from kebab_stream.ordered import map_ordered
from kebab_stream.replay.answers import Answers
from kebab_stream.replay.journal import SourceFacts, facts_of
from kebab_stream.replay.lines import Batch, batches
from kebab_stream.replay.pool import Answerer, WorkerPool
from kebab_stream.replay.results import FileResults, Results, StreamResults, is_regular, journal_beside
from kebab_stream.replay.tally import Tally, latency_of
from kebab_stream.reports.offline import ReplayReport

Progress = Callable[[int, int | None, int], None]
"""Told how many lines are done, of how many (None: nobody knows), and how many queries failed."""

_STDIN, _STDOUT = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """What to replay, and how."""

    source: Path | None
    """File of queries; None means standard input."""
    target: Path | None
    """File for the answers; None means standard output."""
    workers: int | None = None
    """At least 1; None means as many as there are processors."""
    resume: bool = False
    """Go on where the journal ends, if there is one."""
    force: bool = False
    """Replace a target that has content."""
    ray: str | None = None
    """Address of a Ray cluster to work on."""
    ray_ship: bool = False
    """Send the index to its nodes, which then need not see the data folder."""

    @property
    def can_be_resumed(self) -> bool:
        """Whether both files can be read a second time, and neither is a stream."""
        return bool(self.source and self.target) and all(
            is_regular(path) for path in (self.source, self.target) if path
        )


async def replay(config: Config, request: ReplayRequest, progress: Progress) -> ReplayReport:
    """Answer all queries of an input in their order.

    A cancelled run ends what it was writing; between two files, it can be continued.

    Raises:
        InvalidInputError: the input cannot be used, the target has content, or the run cannot be continued.
        NotIndexedError, IndexCorruptError: there is no index to ask; nothing was written.
        RetrievalError: the index changed while the replay ran, or a worker cannot be started.
        StorageError: writing failed, or reading a stream.
        BrokenPipeError: the reader of the answers went away.
        (Those that come up while workers run, in exception groups.)
    """
    started = perf_counter()
    facts = await run_blocking(_facts_of, request)
    revision = await run_blocking(_revision_of, config)
    results = await run_blocking(_results_of, config, request, facts, revision)
    try:
        before = results.state.tally
        workers = replaced = 0
        if not results.state.finished:
            workers, replaced = await _run(config, request, facts, revision, results, progress)
            await run_blocking(results.finish)
    finally:
        results.close()
    seconds = perf_counter() - started
    tally = results.state.tally
    return ReplayReport(
        total=tally.total,
        succeeded=tally.succeeded,
        failed=tally.failed,
        bad_lines=tally.bad_lines,
        blank_lines=tally.blank_lines,
        resumed_lines=before.total,
        seconds=round(seconds, 3),
        queries_per_second=round((tally.total - before.total) / seconds, 1),
        latency=latency_of(tally.times),
        workers=workers,
        replaced_workers=replaced,
        corpus_revision=revision,
    )


async def _run(
    config: Config,
    request: ReplayRequest,
    facts: SourceFacts | None,
    revision: str,
    results: Results,
    progress: Progress,
) -> tuple[int, int]:
    """Answer what is left to answer; (workers, those of them that died)."""
    start, total = results.state.position, facts.lines if facts else None
    progress(start.lines, total, results.state.tally.failed)
    async with _answerer(config, request, revision) as answerer:

        async def answer(batch: Batch) -> Answers:
            return await answerer.answer(batch.lines) if batch.lines else Answers(b"", Tally())

        async def emit(batch: Batch, answers: Answers) -> None:
            await run_blocking(results.add, batch, answers)
            progress(batch.end.lines, total, results.state.tally.failed)

        async with _opened(request.source, start.offset) as descriptor:
            todo = batches(stdin_chunks(descriptor), start, at_once=facts is None)
            await map_ordered(todo, answer, emit, window=2 * answerer.size)
        if facts and results.state.position.offset != facts.size:
            raise InvalidInputError(f"{request.source} changed while it was replayed", "replay it again with --force")
        return answerer.size, answerer.replaced


@asynccontextmanager
async def _answerer(config: Config, request: ReplayRequest, revision: str) -> AsyncIterator[Answerer]:
    answerer: Answerer
    if request.ray is None:
        answerer = WorkerPool(config, revision, request.workers or len(os.sched_getaffinity(0)))
    else:
        from kebab_stream.replay.ray_cluster import RayCluster  # late: an extra that few have

        join = partial(RayCluster, config, revision, request.ray, request.workers, ship=request.ray_ship)
        answerer = await run_blocking(join)
    try:
        yield answerer
    finally:
        with anyio.CancelScope(shield=True):
            await answerer.close()


def _facts_of(request: ReplayRequest) -> SourceFacts | None:
    """Look at the input; None where it is a stream, which is read but once."""
    source, target = request.source, request.target
    if source is None:
        return None
    try:
        if source.is_dir():
            raise InvalidInputError(f"{source} is a folder", "give a file of queries", {"path": str(source)})
        if not is_regular(source):
            return None
        with source.open("rb") as file:
            if target:
                _require_another(file, target)
            return facts_of(file)
    except OSError as error:
        raise _unreadable(source, error) from error


def _require_another(source: BinaryIO, target: Path) -> None:
    """Refuse an output whose file, or whose journal's file, is the input."""
    for path in (target, journal_beside(target)):
        with suppress(OSError):  # none there, or none that can be: opening it will tell
            if os.path.samestat(os.fstat(source.fileno()), path.stat()):
                problem = f"{path} is the input too" if path == target else f"{path}, the journal, is the input too"
                raise InvalidInputError(problem, "write the answers to another file")


def _revision_of(config: Config) -> str:
    with Engine.open(config) as engine:
        return engine.snapshot.corpus_revision


def _results_of(config: Config, request: ReplayRequest, facts: SourceFacts | None, revision: str) -> Results:
    target = request.target
    if target and facts and is_regular(target):
        return FileResults.open(target, config, facts, revision, resume=request.resume, force=request.force)
    if request.resume:
        raise InvalidInputError(
            "--resume needs a file to read and a file to write", "a stream cannot be read, or written, a second time"
        )
    return StreamResults.open(target, force=request.force) if target else StreamResults(_STDOUT)


@asynccontextmanager
async def _opened(source: Path | None, offset: int) -> AsyncIterator[int]:
    """A descriptor of the input that stands at an offset."""
    if source is None:
        yield _STDIN
        return
    # A named pipe opens when somebody writes to it.
    descriptor = await run_blocking(_open, source, offset, abandon=True)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open(source: Path, offset: int) -> int:
    try:
        descriptor = os.open(source, os.O_RDONLY)
        if offset:
            os.lseek(descriptor, offset, os.SEEK_SET)
    except OSError as error:
        raise _unreadable(source, error) from error
    return descriptor


def _unreadable(source: Path, error: OSError) -> InvalidInputError:
    return InvalidInputError(f"cannot read {source}: {error.strerror or error}", None, {"path": str(source)})
