"""Batches of files to what is stored and indexed of them, for large ingests in processes of their own.

Parsing and analysing are Python code, which the threads of one process cannot share out. A process is a plain Python
that reads pickled batches from its standard input and writes what became of them to its standard output; it ends when
its input does, so it does not outlive its parent. (`multiprocessing` would run the parent's script in it once more.)
A file over which a process ends, of a parser's bug or for want of memory, is refused, and another process goes on.
"""

import contextlib
import os
import pickle
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Thread
from typing import IO, Any, TypeVar

import anyio

from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Chunking
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.ingest.plan import ToRead
from kebab_stream.ingest.prepare import IndexedChunk, Prepared, indexed_chunks, prepare, signature_of
from kebab_stream.ingest.read import content_hash

MOST_PROCESSES = 4
"""One process stores and embeds what the others have prepared; it keeps up with about so many."""
WORTH_PROCESSES_BYTES = 4 << 20
"""Starting a process takes as long as preparing half a megabyte."""

_SERVE = "import sys; sys.path[:] = sys.argv[1:]; from kebab_stream.ingest.preparing import serve; serve()"


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file whose time stamp changed, but nothing that is stored of it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that is no document."""

    message: str
    is_binary: bool = False
    is_failure: bool = False
    """Whether the program failed, not the file: what is known of it stays."""


@dataclass(frozen=True, slots=True)
class StoredCopy:
    """A document whose text only the store has, so that it is prepared where the store is."""


Read = tuple[ToRead, bytes | OSError]
Outcome = tuple[Prepared, list[IndexedChunk]] | Unchanged | Refused | StoredCopy
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """How files are prepared."""

    chunking: Chunking
    now: datetime
    with_index: bool
    """Whether what is indexed is wanted, too; not where all chunks of the store are indexed at the end."""

    def outcomes(self, batch: Sequence[Read]) -> list[Outcome]:
        """What became of each file of a batch."""
        return [self._outcome(to_read, data) for to_read, data in batch]

    def _outcome(self, to_read: ToRead, data: bytes | OSError) -> Outcome:
        if to_read.is_copy:
            return StoredCopy()
        if isinstance(data, OSError):
            return Refused(f"cannot be read: {data.strerror or data}", is_failure=True)
        return guarded(lambda: self._prepared(to_read, data))

    def _prepared(self, to_read: ToRead, data: bytes) -> Outcome:
        known = to_read.known
        signature = signature_of(to_read.source, self.chunking, to_read.file)
        if known and (known.content_hash, known.signature) == (content_hash(data), signature):
            return Unchanged()
        prepared = prepare(to_read.source, to_read.file, data, self.chunking, now=self.now)
        return prepared, indexed_chunks(prepared) if self.with_index else []


def guarded(prepare: Callable[[], Made]) -> Made | Refused:
    """What becomes of one document, whatever happens over it: it must never end the run."""
    try:
        return prepare()
    except InvalidInputError as error:
        return Refused(str(error), is_binary=error.details.get("problem") == "binary")
    except Exception as error:  # noqa: BLE001  # of any kind: the other documents are still to be taken in
        return Refused(f"{type(error).__name__}: {error}", is_failure=True)


class Preparers:
    """Up to `processes` that prepare batches at once; with fewer than two, this one does, a batch at a time."""

    def __init__(self, preparation: Preparation, processes: int) -> None:
        self.at_once = max(processes, 1)
        self._preparation = preparation
        self._turns = anyio.CapacityLimiter(self.at_once)
        self._all: list[_Process] = []
        self._idle: list[_Process] = []

    async def outcomes(self, batch: Sequence[Read]) -> list[Outcome]:
        """What became of each file of a batch.

        Raises:
            StorageError: a process cannot be started.
        """
        work = self._preparation.outcomes if self.at_once == 1 else self._elsewhere
        return await run_blocking(work, batch, limiter=self._turns)

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.end()

    def _elsewhere(self, batch: Sequence[Read]) -> list[Outcome]:
        """What a process makes of a batch. If it ends over it, each file is tried alone, to find which it was."""
        process = self._free()
        try:
            outcomes = process.outcomes(batch)
        except _EndedError as ended:
            process.end()
            if len(batch) > 1:
                return [outcome for one in batch for outcome in self._elsewhere([one])]
            return [Refused(f"the process that parsed it {ended}", is_failure=True)]
        self._idle.append(process)
        return outcomes

    def _free(self) -> "_Process":
        with contextlib.suppress(IndexError):  # threads come here at once: looking first would not do
            return self._idle.pop()
        process = _Process(self._preparation)
        self._all.append(process)
        return process


class _EndedError(Exception):
    """A process is gone, though nobody ended it; says how."""


class _Process:
    """The parent's end of a process."""

    def __init__(self, preparation: Preparation) -> None:
        """Start a process, and wait until it can prepare. Raises StorageError."""
        command = [sys.executable, "-P", "-c", _SERVE, *sys.path]
        try:
            # A session of its own: Ctrl-C is for the parent, which commits what has been prepared.
            self._process = subprocess.Popen(  # noqa: S603  # this interpreter, and nothing from outside
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise _not_started(str(error)) from error
        try:
            self._ask(preparation)
        except _EndedError as ended:
            self.end()
            raise _not_started(f"it {ended}") from ended

    def outcomes(self, batch: Sequence[Read]) -> list[Outcome]:
        """Raises _EndedError."""
        outcomes: list[Outcome] = self._ask(batch)
        return outcomes

    def end(self) -> None:
        # Closes the pipes, and waits; what could not be sent to a process that is gone is lost with it.
        with contextlib.suppress(BrokenPipeError), self._process:
            self._process.kill()

    def _ask(self, question: object) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        try:
            _write(self._process.stdin, question)
            return _read(self._process.stdout)
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            raise _EndedError(f"ended with exit status {self._process.wait()}") from None


def processes_for(to_read: Sequence[ToRead], wanted: int) -> int:
    """How many processes shall prepare these files.

    Args:
        wanted: `ingest.processes`; 0 lets the size of the files decide.
    """
    if not sys.executable:  # a program that has Python inside
        return 1
    if wanted:
        return wanted
    if sum(one.file.size for one in to_read) < WORTH_PROCESSES_BYTES:
        return 1
    return min(_processors(), MOST_PROCESSES)


def serve() -> None:
    """What runs in a process."""
    Thread(target=_end_with_parent, daemon=True).start()
    incoming, outgoing = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints gets between the pickles
    # The parent is gone, perhaps half way through what it had to say, or has no more.
    with contextlib.suppress(EOFError, BrokenPipeError, pickle.UnpicklingError):
        preparation: Preparation = _read(incoming)
        _write(outgoing, "ready")
        while True:
            _write(outgoing, preparation.outcomes(_read(incoming)))


def _end_with_parent() -> None:
    """End this process, whatever it is busy with, when nobody holds the other end of its standard input any more."""
    hang_up = select.poll()
    hang_up.register(0, 0)
    hang_up.poll()
    os._exit(0)


def _read(stream: IO[bytes]) -> Any:
    return pickle.load(stream)  # noqa: S301  # between a process of ours and its parent only


def _write(stream: IO[bytes], what: object) -> None:
    pickle.dump(what, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def _processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _not_started(problem: str) -> StorageError:
    return StorageError(
        f"a process that parses files cannot be started: {problem}",
        "with ingest.processes = 1 all is done in one process",
    )
