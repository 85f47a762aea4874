"""Work side by side, results in order, never more under way than the window."""

from collections.abc import AsyncIterator

import anyio
import pytest

from kebab_stream.ordered import map_ordered


async def numbers(count: int, read: list[int] | None = None) -> AsyncIterator[int]:
    for number in range(count):
        if read is not None:
            read.append(number)
        yield number


async def test_results_come_in_the_order_of_the_items() -> None:
    emitted: list[tuple[int, int]] = []
    turns = [anyio.Event() for _ in range(4)]

    async def work(number: int) -> int:
        if number < 3:
            await turns[number + 1].wait()  # the last one of four is ready first
        turns[number].set()
        return number * number

    async def emit(number: int, result: int) -> None:
        emitted.append((number, result))

    with anyio.fail_after(5):
        await map_ordered(numbers(4), work, emit, window=4)

    assert emitted == [(0, 0), (1, 1), (2, 4), (3, 9)]


@pytest.mark.parametrize("window", [1, 2, 5])
async def test_the_reader_pauses_once_the_window_is_full(window: int) -> None:
    read: list[int] = []

    async def never(_number: int) -> None:
        await anyio.sleep_forever()

    async def emit(_number: int, _result: None) -> None:
        raise AssertionError

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: map_ordered(numbers(100, read), never, emit, window=window))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    assert read == list(range(window))


async def test_one_failure_stops_all() -> None:
    emitted: list[int] = []

    async def work(number: int) -> int:
        if number == 2:
            raise ValueError("two")
        if number > 2:
            await anyio.sleep_forever()
        return number

    async def emit(number: int, _result: int) -> None:
        emitted.append(number)

    with anyio.fail_after(5), pytest.RaisesGroup(pytest.RaisesExc(ValueError, match="two")):
        await map_ordered(numbers(100), work, emit, window=4)

    assert emitted in ([0, 1], [0], [])
