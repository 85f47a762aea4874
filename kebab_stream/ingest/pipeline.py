"""An ingest from start to end: files are read ahead, prepared several batches at once, and taken in in their order.

Nothing is visible to searches before the commit. A run that is killed leaves what was there; one that is asked to stop
commits the files that it has taken in.
"""

import errno
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event

import aiofiles
import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from kebab_stream.concurrency import leaf_of, run_blocking
from kebab_stream.config import Config
from kebab_stream.index.lock import write_lock
from kebab_stream.ingest.ingestion import Ingestion, IngestRequest
from kebab_stream.ingest.media import size_limit
from kebab_stream.ingest.plan import ToRead
from kebab_stream.ingest.preparing import Outcome, Preparation, Preparers, Read, processes_for
from kebab_stream.ingest.read import open_regular
from kebab_stream.ordered import map_ordered
from kebab_stream.reports.ingest import IngestPhase, IngestReport

Progress = Callable[[IngestPhase, int, int], None]
"""Told the phase, how much of it is done, and of how much: files to read, chunks to index again."""

_FILES_AHEAD = 8
"""Files read but in no batch yet. With the batches under way (2 for each process, and one) they bound memory: a batch
is 1 MiB and at most one file more."""
_BATCH_FILES = 32
_BATCH_BYTES = 1 << 20


async def ingest(
    config: Config, request: IngestRequest, progress: Progress, *, stop: Event | None = None
) -> IngestReport | None:
    """Bring the index up to date with its sources.

    Args:
        stop: when it is set, no more files are read, and what was taken in until then is committed.

    Returns:
        What was done. None if it was stopped while every chunk was being indexed again (another model, a rebuild):
        half an index is none, so nothing was changed. Vectors that were computed are kept for the next time.

    Raises:
        IndexLockedError: another process is writing.
        InvalidInputError, NotIndexedError, StorageError, IndexCorruptError, ModelUnavailableError,
        EmbeddingFailedError: see `Ingestion`; nothing is changed.
    """
    lock = write_lock(config.storage.data_dir)
    await run_blocking(lock.__enter__)
    try:
        return await _ingest(config, request, progress, stop or Event())
    finally:
        with anyio.CancelScope(shield=True):
            await run_blocking(lock.__exit__, None, None, None)


async def _ingest(config: Config, request: IngestRequest, progress: Progress, stop: Event) -> IngestReport | None:
    progress("scan", 0, 0)
    ingestion = await run_blocking(
        partial(Ingestion.begin, config, rebuild_index=request.rebuild_index, may_download=True)
    )
    try:
        to_read = await run_blocking(ingestion.scan, request)
        await _take_in_all(ingestion, to_read, progress, stop)
        await run_blocking(ingestion.drop_replaced_copies)
        if not await _index_all(ingestion, progress, stop):
            return None
        progress("commit", 0, 0)
        report = await run_blocking(partial(ingestion.finish, interrupted=stop.is_set()))
        progress("done", 0, 0)
        return report
    finally:
        with anyio.CancelScope(shield=True):
            await run_blocking(ingestion.close)


async def _take_in_all(ingestion: Ingestion, to_read: Sequence[ToRead], progress: Progress, stop: Event) -> None:
    settings = ingestion.config.ingest
    preparation = Preparation(chunking=settings.chunking, now=ingestion.now, with_index=ingestion.continues)
    preparers = Preparers(preparation, processes_for(to_read, settings.processes))
    done = 0

    async def take_in(batch: list[Read], outcomes: list[Outcome]) -> None:
        nonlocal done
        await run_blocking(ingestion.take_in, [to_read for to_read, _ in batch], outcomes)
        done += len(batch)
        progress("read", done, len(to_read))

    send, receive = anyio.create_memory_object_stream[Read](_FILES_AHEAD)
    try:
        async with receive, anyio.create_task_group() as tasks:
            tasks.start_soon(_read_all, to_read, send, settings.max_file_bytes)
            await map_ordered(_batches(receive, stop), preparers.outcomes, take_in, window=2 * preparers.at_once + 1)
            tasks.cancel_scope.cancel()
    except ExceptionGroup as group:
        raise leaf_of(group) from None
    finally:
        with anyio.CancelScope(shield=True):
            await run_blocking(preparers.close)
    ingestion.not_reached = len(to_read) - done


async def _index_all(ingestion: Ingestion, progress: Progress, stop: Event) -> bool:
    """Index again what has to be; whether that was reached before a stop."""
    parts = ingestion.index_all()
    while state := await run_blocking(next, parts, None):
        progress("index", *state)
        if stop.is_set() and state[0] < state[1]:
            return False
    return True


async def _read_all(to_read: Sequence[ToRead], send: ObjectSendStream[Read], max_file_bytes: int) -> None:
    async with send:
        for one in to_read:
            with anyio.CancelScope(shield=True):  # aiofiles would forget a file that it is just opening
                data = b"" if one.is_copy else await _read(one.file.path, max_file_bytes)
            await send.send((one, data))


async def _read(path: Path, max_file_bytes: int) -> bytes | OSError:
    """The content of a file, which may have become something else since it was found."""
    try:
        async with aiofiles.open(path, "rb", opener=open_regular) as file:
            limit = size_limit(path.name, max_file_bytes)
            data = await file.read(limit + 1)
            return data if len(data) <= limit else OSError(errno.EFBIG, "it has grown beyond ingest.max_file_bytes")
    except OSError as error:
        return error


async def _batches(receive: ObjectReceiveStream[Read], stop: Event) -> AsyncIterator[list[Read]]:
    while not stop.is_set() and (batch := await _next_batch(receive)):
        yield batch


async def _next_batch(receive: ObjectReceiveStream[Read]) -> list[Read]:
    """Some files; none when there are no more."""
    batch: list[Read] = []
    size = 0
    while len(batch) < _BATCH_FILES and size < _BATCH_BYTES:
        try:
            one = await receive.receive()
        except anyio.EndOfStream:
            break
        batch.append(one)
        size += len(one[1]) if isinstance(one[1], bytes) else 0
    return batch
