"""Batches answered by tasks on a Ray cluster, which comes with the extra `ray`.

Ray places the tasks, keeps processes for them, and runs a task again when its process or node is lost. A process opens
the index with its first task and keeps it. The index is found on every node under the data folder's own path: a file
system that all nodes share, or copies.
"""

import functools
import io
import socket
from contextlib import ExitStack, redirect_stdout
from importlib import import_module
from typing import Any, Final

import anyio

from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError, KebabError, RetrievalError
from kebab_stream.extras import version
from kebab_stream.replay.answers import Answers, answer_lines, unanswered
from kebab_stream.replay.worker import Lines, revision_changed

_CONNECT_S: Final = 5.0
_RETRIES: Final = 3
"""How often Ray runs a batch again whose process or node was lost."""


class RayCluster:
    """Answers batches on the cluster at an address, `size` at once."""

    def __init__(self, config: Config, corpus_revision: str, address: str, size: int | None) -> None:
        """Join the cluster.

        Args:
            size: None means as many as the cluster has processors now.

        Raises:
            InvalidInputError: the extra is missing, or there is no cluster at the address.
        """
        self._ray = _ray()
        _require_reachable(address)
        with ExitStack() as entered:
            # Ray prints what befalls nodes on standard output, which is for results; its own logs have that too.
            entered.enter_context(redirect_stdout(io.StringIO()))
            try:
                self._ray.init(address=address, log_to_driver=False, logging_level="error")
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise _no_cluster(address, " ".join(str(error).split())) from error
            entered.callback(self._ray.shutdown)
            self._entered = entered.pop_all()
        self.size = size or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self.replaced = 0
        self._task = self._ray.remote(max_retries=_RETRIES)(_answer)
        self._arguments = (self._ray.put(config), corpus_revision, version())
        self._turns = anyio.CapacityLimiter(self.size)
        self._threads = anyio.CapacityLimiter(self.size)

    async def answer(self, lines: Lines) -> Answers:
        """Answer a batch; by an error for each line if its process is lost time and again.

        Raises:
            KebabError: a node cannot open the index, has another one, or another version of this program.
        """
        async with self._turns:
            return await run_blocking(self._answered, lines, limiter=self._threads, abandon=True)

    async def close(self) -> None:
        """Leave the cluster, which stops what is still running for us."""
        await run_blocking(self._entered.close)

    def _answered(self, lines: Lines) -> Answers:
        lost = self._ray.exceptions
        try:
            answers = self._ray.get(self._task.remote(lines, *self._arguments))
        except (lost.WorkerCrashedError, lost.NodeDiedError, lost.OutOfMemoryError):
            return unanswered(lines)
        except lost.RayTaskError as error:
            raise _told(error.cause) from error
        except lost.RayError as error:
            raise RetrievalError(f"Ray failed: {error}") from error
        assert isinstance(answers, Answers)
        return answers


def _answer(lines: Lines, config: Config, corpus_revision: str, wanted_version: str) -> Answers:
    """What runs on a node."""
    if wanted_version != version():
        raise RetrievalError(
            f"a node has kebab-stream {version()}, this is {wanted_version}", "install the same version on all nodes"
        )
    return answer_lines(_engine(config, corpus_revision), lines)


@functools.lru_cache(maxsize=1)
def _engine(config: Config, corpus_revision: str) -> Engine:
    """The engine of this process."""
    engine = Engine.open(config)
    if engine.snapshot.corpus_revision != corpus_revision:
        engine.close()
        raise revision_changed(corpus_revision, engine.snapshot.corpus_revision)
    return engine


def _told(cause: BaseException) -> KebabError:
    return cause if isinstance(cause, KebabError) else RetrievalError(f"a node failed: {type(cause).__name__}: {cause}")


def _require_reachable(address: str) -> None:
    """Notice at once that nobody is there: Ray itself tries for more than a minute."""
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        return  # `auto`, or the address of a proxy: Ray knows what it means
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
    except OSError as error:
        raise _no_cluster(address, error.strerror or str(error)) from error


def _no_cluster(address: str, problem: str) -> InvalidInputError:
    return InvalidInputError(f"--ray {address}: {problem}", "`ray start --head` starts a cluster and tells its address")


def _ray() -> Any:
    try:
        ray = import_module("ray")
        import_module("ray.exceptions")
    except ImportError:
        raise InvalidInputError("--ray needs the extra `ray`", "install kebab-stream[ray]") from None
    return ray
