"""Blocking work beside the event loop: worker threads, the standard streams.

anyio is imported when first needed: a single search has no event loop and starts faster without it.
"""

import os
import select
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from kebab_stream.errors import StorageError

if TYPE_CHECKING:
    from anyio import CapacityLimiter

Args = TypeVarTuple("Args")
Result = TypeVar("Result")

_CHUNK_BYTES = 1 << 16
"""One read of a pipe: its usual capacity."""


async def run_blocking(
    func: Callable[[*Args], Result],
    *args: *Args,
    limiter: "CapacityLimiter | None" = None,
    abandon: bool = False,
) -> Result:
    """Run a blocking function in a worker thread.

    Args:
        func: what to run, with `args`.
        limiter: bounds how many of a kind run at once; None means anyio's own 40.
        abandon: on cancellation leave the thread to itself and forget its result. The default waits for it, so that
            a write is never cut. The interpreter waits for the thread when it exits: abandon only what ends by itself.
    """
    from anyio import to_thread

    return await to_thread.run_sync(func, *args, limiter=limiter, abandon_on_cancel=abandon)


def leaf_of(error: Exception) -> Exception:
    """The first error inside the groups that task groups raise."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


async def stdin_chunks(fd: int = 0) -> AsyncIterator[bytes]:
    """Yield what arrives on a descriptor, as it arrives, until it ends.

    Can be cancelled while nothing arrives: the event loop waits, and a thread reads only what is there. (A thread
    waiting in `os.read` could be abandoned, but would keep the process from exiting until the writer closed the pipe.)

    Raises:
        StorageError: the descriptor cannot be read.
    """
    while True:
        await _readable(fd)
        try:
            chunk = await run_blocking(os.read, fd, _CHUNK_BYTES, abandon=True)
        except BlockingIOError:
            continue  # a non-blocking pipe that another reader emptied first
        except OSError as error:
            raise StorageError(f"cannot read standard input: {error.strerror}") from error
        if not chunk:
            return
        yield chunk


async def _readable(fd: int) -> None:
    from anyio import wait_readable

    try:
        await wait_readable(fd)
    except OSError:
        # Regular files cannot be waited for, and never block. What is really wrong, the read will say.
        return


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, or raise. Returns when the operating system has them: there is nothing to flush.

    Raises:
        BrokenPipeError: the reader went away.
        StorageError: the descriptor cannot be written.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            _wait_writable(fd)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise StorageError(f"cannot write output: {error.strerror}") from error


def _wait_writable(fd: int) -> None:
    # The other end of a pipe or terminal may have made it non-blocking for everybody who shares it.
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    poll.poll()
