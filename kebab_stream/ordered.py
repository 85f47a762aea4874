"""Several pieces of work at once, their results in the order of the pieces."""

from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True)
class _Slot(Generic[Result]):
    """Where the result of one piece will be."""

    done: anyio.Event = field(default_factory=anyio.Event)
    results: list[Result] = field(default_factory=list)


async def map_ordered(
    items: AsyncIterable[Item],
    work: Callable[[Item], Awaitable[Result]],
    emit: Callable[[Item, Result], Awaitable[None]],
    *,
    window: int,
) -> None:
    """Work on items as they come, and emit each with its result, one at a time, in their order.

    Args:
        window: items that are read and not yet emitted, at most; while there are as many, nothing is read.

    Raises:
        ExceptionGroup: reading, working or emitting failed, and all else was cancelled.
    """
    room = anyio.Semaphore(window)
    send, receive = anyio.create_memory_object_stream[tuple[Item, _Slot[Result]]](window)

    async def run(item: Item, slot: _Slot[Result]) -> None:
        slot.results.append(await work(item))
        slot.done.set()

    async def emit_all() -> None:
        async with receive:
            async for item, slot in receive:
                await slot.done.wait()
                await emit(item, slot.results[0])
                room.release()

    async with anyio.create_task_group() as tasks, send:
        tasks.start_soon(emit_all)
        await room.acquire()
        async for item in items:
            slot = _Slot[Result]()
            await send.send((item, slot))
            tasks.start_soon(run, item, slot)
            await room.acquire()
