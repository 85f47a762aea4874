"""The index of a session: opened when it is first needed, kept open, opened again after a commit."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.engine import Engine

Result = TypeVar("Result")


class Corpus:
    """Hands out an engine on the state committed last.

    Everything runs in worker threads, one at a time and in the order asked: an engine is not for several threads at
    once, and two would not be faster, as searching holds the interpreter's lock.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._turn = anyio.CapacityLimiter(1)
        self._newest: Engine | None = None
        """Maybe closed by now; it still has the model."""
        self._users: Counter[Engine] = Counter()
        """Of each open engine; the newest is kept open without any."""

    async def use(self, func: Callable[[Engine], Result]) -> Result:
        """Run a function on the engine.

        Raises:
            NotIndexedError, IndexCorruptError, StorageError: there is no index that could be opened.
        """
        return await run_blocking(self._use, func, limiter=self._turn)

    @asynccontextmanager
    async def held(self) -> AsyncIterator["Held"]:
        """The same engine for several calls, between which others have their turn.

        Raises:
            NotIndexedError, IndexCorruptError, StorageError: there is no index that could be opened.
        """
        engine = await run_blocking(self._take, limiter=self._turn)
        try:
            yield Held(engine, self._turn)
        finally:
            with anyio.CancelScope(shield=True):
                await run_blocking(self._give_back, engine, limiter=self._turn)

    async def close(self) -> None:
        """Let go of the index; to be called when nobody uses it."""
        if self._newest is not None:
            await run_blocking(self._newest.close, limiter=self._turn)

    def _use(self, func: Callable[[Engine], Result]) -> Result:
        engine = self._take()
        try:
            return func(engine)
        finally:
            self._give_back(engine)

    def _take(self) -> Engine:
        engine = self._newest
        if engine is None:
            engine = Engine.open(self._config)
        elif engine not in self._users or not engine.snapshot.store.is_current():
            self._retire(engine)
            engine = engine.reopen()
        self._newest = engine
        self._users[engine] += 1
        return engine

    def _retire(self, engine: Engine) -> None:
        """Close an engine of an earlier state, unless a call that is under way still needs it."""
        if self._users[engine] == 0:
            del self._users[engine]
            engine.close()

    def _give_back(self, engine: Engine) -> None:
        self._users[engine] -= 1
        if engine is not self._newest:
            self._retire(engine)


class Held:
    """An engine that stays the same."""

    def __init__(self, engine: Engine, turn: anyio.CapacityLimiter) -> None:
        self._engine = engine
        self._turn = turn

    async def use(self, func: Callable[[Engine], Result]) -> Result:
        """Run a function on the engine when its turn has come."""
        return await run_blocking(func, self._engine, limiter=self._turn)
