"""One worker: a process of its own that opens the index once and answers batches until its pipe closes.

Spawned, never forked: the parent has threads, and a model loaded before a fork would be copied page by page.
"""

import signal
from collections.abc import Sequence
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection

from kebab_stream.config import Config
from kebab_stream.engine import Engine
from kebab_stream.errors import KebabError, RetrievalError
from kebab_stream.ndjson import Line
from kebab_stream.replay.answers import Answers, answer_lines
from kebab_stream.replay.lines import LongLine

Lines = Sequence[Line | LongLine]

_PROCESSES = get_context("spawn")


class WorkerDiedError(Exception):
    """The process of a worker ended while it opened the index or had work to do."""


class Worker:
    """The parent's end of a worker. Its methods block; one at a time may run."""

    def __init__(self, config: Config, corpus_revision: str) -> None:
        """Start a process and wait until it has opened the index.

        Raises:
            WorkerDiedError: the process ended meanwhile.
            RetrievalError: another state than `corpus_revision` was committed meanwhile.
            KebabError: the index cannot be opened.
        """
        self._pipe, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(target=_serve, args=(theirs, config), daemon=True)
        # Ctrl-C reaches every process of a terminal; the parent alone decides what it means. What is blocked in this
        # thread is blocked in the process that it starts, from its first moment on. (Starting the tracker unblocks.)
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        try:
            opened = self._receive()
        except WorkerDiedError:
            self.end()
            raise
        if isinstance(opened, KebabError):
            self.end()
            raise opened
        if opened != corpus_revision:
            self.end()
            raise revision_changed(corpus_revision, str(opened))

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return self._process.pid

    def answer(self, lines: Lines) -> Answers:
        """Answer a batch.

        Raises:
            WorkerDiedError: the process has ended.
        """
        try:
            self._pipe.send(lines)
        except OSError:
            raise WorkerDiedError from None
        answers = self._receive()
        assert isinstance(answers, Answers)
        return answers

    def end(self) -> None:
        """End the process at once; it holds nothing that could be lost. A thread that waits for it goes on."""
        self._process.kill()
        self._process.join()

    def _receive(self) -> object:
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            raise WorkerDiedError from None


def revision_changed(expected: str, found: str) -> RetrievalError:
    """The error for an index that is not the one the replay began with."""
    return RetrievalError(
        f"the index changed while the replay ran: corpus_revision was {expected}, now it is {found}",
        "replay again from the beginning, with --force, on the index as it is now",
        {"expected": expected, "found": found},
    )


def _serve(pipe: Connection, config: Config) -> None:
    """What runs in the process."""
    try:
        engine = Engine.open(config)
    except KebabError as error:
        pipe.send(error)
        return
    with engine:
        try:
            pipe.send(engine.snapshot.corpus_revision)
            while True:
                pipe.send(answer_lines(engine, pipe.recv()))
        except (EOFError, OSError):
            return  # the parent is gone, or does not want any more
