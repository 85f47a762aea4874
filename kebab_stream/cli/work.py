"""What a command returns when it needs an event loop, and how that is run so that Ctrl-C leaves nothing half done."""

import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

EXIT_INTERRUPTED = 130
_SAME_INTERRUPT_S = 0.2
"""Signals closer together are one Ctrl-C: some senders signal the process and its group."""


@dataclass(frozen=True, slots=True)
class AsyncWork:
    """Work to be run on an event loop once the arguments are parsed; its result is the exit status."""

    run: Callable[[], Awaitable[int]]
    on_interrupt: Callable[[], None] | None = None
    """Called at the first Ctrl-C instead of cancelling: the work then ends by itself, and soon."""


def run_async(work: AsyncWork) -> int:
    """Run the work on an event loop of its own; its exit status, or 130 after Ctrl-C.

    The loop's own handling of Ctrl-C would break into lines being written and into a commit. Here it cancels by a
    scope, which waits for what is shielded, or asks the work to end; a second Ctrl-C leaves at once.
    """
    import anyio  # late: most commands have no event loop

    # Until the receiver stands there is nothing to wait for. With this in place the loop leaves the signal alone.
    signal.signal(signal.SIGINT, lambda *_: os._exit(EXIT_INTERRUPTED))
    return anyio.run(_interruptible, work)


async def _interruptible(work: AsyncWork) -> int:
    import anyio

    status = EXIT_INTERRUPTED
    scope = anyio.CancelScope()
    async with anyio.create_task_group() as watchers:
        await watchers.start(_heed_interrupts, work.on_interrupt or scope.cancel)
        with scope:
            status = await work.run()
        watchers.cancel_scope.cancel()
    return status


async def _heed_interrupts(end: Callable[[], None], *, task_status: "TaskStatus[None]") -> None:
    from anyio import current_time, open_signal_receiver

    with open_signal_receiver(signal.SIGINT) as signals:
        task_status.started()
        patience_ends = None
        async for _ in signals:
            if patience_ends is None:
                end()
                patience_ends = current_time() + _SAME_INTERRUPT_S
            elif current_time() > patience_ends:
                os._exit(EXIT_INTERRUPTED)
