"""Batches answered by tasks on a Ray cluster, which comes with the extra `ray`.

Ray places the tasks, keeps processes for them, and runs a task again when its process or node is lost. A process opens
the index with its first task and keeps it. The index is found on every node under the data folder's own path, on a file
system that all nodes share or as a copy, or is shipped there (`shipping.py`).
"""

import functools
import io
import socket
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import anyio

from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError, KebabError, NotIndexedError, RetrievalError
from kebab_stream.extras import version
from kebab_stream.replay.answers import Answers, answer_lines, unanswered
from kebab_stream.replay.shipping import Parcel, folder_on, packed, remove, unpacked
from kebab_stream.replay.worker import Lines, revision_changed

_CONNECT_S: Final = 5.0
_REMOVE_S: Final = 10.0
"""How long nodes may take to remove what was shipped to them."""
_RETRIES: Final = 3
"""How often Ray runs a batch again whose process or node was lost."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What each task has to know."""

    config: Config
    corpus_revision: str
    version: str
    parcel: Parcel | None
    """The index, if it is shipped."""


class RayCluster:
    """Answers batches on the cluster at an address, `size` at once."""

    def __init__(self, config: Config, corpus_revision: str, address: str, size: int | None, *, ship: bool) -> None:
        """Join the cluster.

        Args:
            size: None means as many as the cluster has processors now.
            ship: send the index to the nodes.

        Raises:
            InvalidInputError: the extra is missing, or there is no cluster at the address.
            KebabError: the index cannot be read, to be shipped.
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
            parcel = packed(self._ray.put, config.storage.data_dir, corpus_revision) if ship else None
            if parcel:
                entered.callback(self._remove, parcel.run)
            self._plan = self._ray.put(_Plan(config, corpus_revision, version(), parcel))
            self._entered = entered.pop_all()
        self.size = size or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self.replaced = 0
        self._task = self._ray.remote(max_retries=_RETRIES)(_answer)
        self._turns = anyio.CapacityLimiter(self.size)

    async def answer(self, lines: Lines) -> Answers:
        """Answer a batch; by an error for each line if its process is lost time and again.

        Raises:
            KebabError: a node cannot open the index, has another one, or another version of this program.
        """
        lost = self._ray.exceptions
        async with self._turns:
            try:
                # Ray's references can be awaited (on asyncio). No thread waits for one when the cluster is left, which
                # would end the process.
                answers = await (await run_blocking(self._task.remote, lines, self._plan))
            except (lost.WorkerCrashedError, lost.NodeDiedError, lost.OutOfMemoryError):
                return await run_blocking(unanswered, lines)
            except lost.RayTaskError as error:
                raise _told(error.cause) from error
            except lost.RayError as error:
                raise RetrievalError(f"Ray failed: {error}") from error
        assert isinstance(answers, Answers)
        return answers

    async def close(self) -> None:
        """Remove what was shipped, and leave the cluster, which stops what is still running for us."""
        await run_blocking(self._entered.close)

    def _remove(self, run: str) -> None:
        """Have the nodes remove what was shipped to them. One that is lost meanwhile keeps it until the next run."""
        on_node = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        task = self._ray.remote(num_cpus=0, max_retries=0)(_removed)
        with suppress(self._ray.exceptions.RayError):
            nodes = [node["NodeID"] for node in self._ray.nodes() if node["Alive"]]
            running = [
                task.options(scheduling_strategy=on_node(node_id=node, soft=False)).remote(run) for node in nodes
            ]
            self._ray.wait(running, num_returns=len(running), timeout=_REMOVE_S)


def _answer(lines: Lines, plan: _Plan) -> Answers:
    """What runs on a node."""
    if plan.version != version():
        raise RetrievalError(
            f"a node has kebab-stream {version()}, this is {plan.version}", "install the same version on all nodes"
        )
    return answer_lines(_engine(plan), lines)


@functools.lru_cache(maxsize=1)
def _engine(plan: _Plan) -> Engine:
    """The engine of this process."""
    config = plan.config
    if plan.parcel:
        folder = _folder(plan.parcel.run)
        unpacked(_ray().get, plan.parcel, folder)
        config = replace(config, storage=replace(config.storage, data_dir=folder))
    try:
        engine = Engine.open(config)
    except NotIndexedError as error:
        raise RetrievalError(f"a node finds {error.message}", "--ray-ship sends it there", error.details) from error
    if engine.snapshot.corpus_revision != plan.corpus_revision:
        engine.close()
        raise revision_changed(plan.corpus_revision, engine.snapshot.corpus_revision)
    return engine


def _removed(run: str) -> None:
    """What runs on each node at the end."""
    remove(_folder(run))


def _folder(run: str) -> Path:
    return folder_on(_ray().get_runtime_context().get_node_id(), run)


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
