"""Workers on this machine: as many as there is work for, a dead one replaced, its batch tried once more."""

from functools import partial
from typing import Final, Protocol

import anyio

from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.errors import RetrievalError
from kebab_stream.replay.answers import Answers, unanswered
from kebab_stream.replay.worker import Lines, Worker, WorkerDiedError

_STARTS: Final = 3
"""How often starting a worker is tried when it dies of that: whatever killed it may be over."""


class Answerer(Protocol):
    """What answers batches, several at once."""

    size: int
    """How many batches it answers at once."""
    replaced: int
    """Workers that died."""

    async def answer(self, lines: Lines) -> Answers:
        """Answer a batch. Raises KebabError: the index cannot be used, or is another one by now."""
        ...

    async def close(self) -> None:
        """Let go of everything, also of batches under way."""
        ...


class WorkerPool:
    """Up to `size` worker processes over one state of the index. A worker starts with the first batch for it."""

    def __init__(self, config: Config, corpus_revision: str, size: int) -> None:
        self.size = size
        self.replaced = 0
        self._start = partial(Worker, config, corpus_revision)
        self._turns = anyio.CapacityLimiter(size)
        # A start and an answer block a thread each; anyio's own limit of threads may be less than the workers.
        self._threads = anyio.CapacityLimiter(size)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()

    async def answer(self, lines: Lines) -> Answers:
        """Answer a batch by an idle worker; by an error for each line after two workers died on it.

        Raises:
            KebabError: a worker cannot be started: the index is gone, damaged, or another one by now.
        """
        async with self._turns:
            for _attempt in range(2):
                worker = self._idle.pop() if self._idle else await self._started()
                self._busy.add(worker)
                try:
                    answers = await run_blocking(worker.answer, lines, limiter=self._threads, abandon=True)
                except WorkerDiedError:
                    self._busy.discard(worker)
                    self.replaced += 1
                    await run_blocking(worker.end, limiter=self._threads)
                    continue
                self._busy.discard(worker)
                self._idle.append(worker)
                return answers
            return await run_blocking(unanswered, lines)

    async def close(self) -> None:
        """End all processes."""
        for worker in (*self._idle, *self._busy):
            await run_blocking(worker.end)
        self._idle.clear()
        self._busy.clear()

    async def _started(self) -> Worker:
        for _attempt in range(_STARTS):
            try:
                # Not abandoned on cancellation: a process nobody knows of would stay until its parent ends.
                return await run_blocking(self._start, limiter=self._threads)
            except WorkerDiedError:
                self.replaced += 1
        problem = f"{_STARTS} workers, one after another, ended while they opened the index"
        raise RetrievalError(problem, "is there memory for so many workers?")
