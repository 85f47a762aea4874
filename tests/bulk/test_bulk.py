"""A whole run: read everything, then answer in order, each line out before the next search; and early ends."""

import os
import threading
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import orjson
import pytest
from anyio import create_task_group, fail_after, to_thread

from kebab_stream.bulk import HumanEmitter, JsonEmitter, bulk_search, run_bulk
from kebab_stream.concurrency import stdin_chunks, write_all
from kebab_stream.errors import ConfigInvalidError, NotIndexedError
from kebab_stream.model import BulkSearchSummary
from tests.bulk.fakes import FakeEngine, arriving, response


class Pipe:
    """A real pipe; both ends are closed at the end, whatever the test did."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.reading: BinaryIO = os.fdopen(reading, "rb")
        self.writing: BinaryIO = os.fdopen(writing, "wb", buffering=0)

    def emitter(self, err: list[bytes]) -> JsonEmitter:
        return JsonEmitter(partial(write_all, self.writing.fileno()), err.append)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    ends = Pipe()
    yield ends
    ends.writing.close()
    ends.reading.close()


def items(*queries: str) -> bytes:
    return b"".join(orjson.dumps({"query": query}) + b"\n" for query in queries)


async def read_line(pipe: Pipe) -> dict[str, object]:
    line: dict[str, object] = orjson.loads(await to_thread.run_sync(pipe.reading.readline, abandon_on_cancel=True))
    return line


async def test_answers_come_in_order_and_failures_do_not_stop_the_run() -> None:
    out: list[bytes] = []
    err: list[bytes] = []
    engine = FakeEngine()
    summary = await run_bulk(
        lambda: engine,
        chunks=arriving(items("a", "fail", "crash", ""), b"5\n", items("b")),
        emitter=JsonEmitter(out.append, err.append),
    )

    lines = [orjson.loads(line) for line in out]
    assert [line["query"] for line in lines] == [
        *({"query": query} for query in ("a", "fail", "crash", "")),
        5,
        {"query": "b"},
    ]
    assert [line["error"] and line["error"]["code"] for line in lines] == [
        None,
        "retrieval_error",
        "generic",
        "invalid_input",
        "invalid_input",
        None,
    ]
    assert engine.asked == ["a", "fail", "crash", "b"]
    assert summary == BulkSearchSummary(total=6, succeeded=2, failed=4)
    assert err == [orjson.dumps(summary) + b"\n"]


async def test_the_first_answer_can_be_read_while_the_second_search_is_held(pipe: Pipe) -> None:
    release, reached = threading.Event(), threading.Event()

    def hold(query: str) -> None:
        if query == "second":
            reached.set()
            release.wait(10)

    incoming = Pipe()
    incoming.writing.write(items("first", "second"))
    incoming.writing.close()
    err: list[bytes] = []

    async def run() -> None:
        await run_bulk(
            lambda: FakeEngine(hold), chunks=stdin_chunks(incoming.reading.fileno()), emitter=pipe.emitter(err)
        )

    with fail_after(10):
        async with create_task_group() as tasks:
            tasks.start_soon(run)
            assert (await read_line(pipe))["query"] == {"query": "first"}
            await to_thread.run_sync(reached.wait, 5)
            assert err == []
            release.set()
            assert (await read_line(pipe))["query"] == {"query": "second"}
    incoming.reading.close()

    assert len(err) == 1


async def test_nothing_is_searched_before_the_whole_batch_has_arrived() -> None:
    incoming, engine = Pipe(), FakeEngine()
    out: list[bytes] = []

    async def run() -> None:
        await run_bulk(
            lambda: engine, chunks=stdin_chunks(incoming.reading.fileno()), emitter=JsonEmitter(out.append, out.append)
        )

    with fail_after(10):
        async with create_task_group() as tasks:
            tasks.start_soon(run)
            incoming.writing.write(items("a"))
            await to_thread.run_sync(threading.Event().wait, 0.05)
            assert engine.asked == []
            incoming.writing.close()
    incoming.reading.close()

    assert engine.asked == ["a"]


@pytest.mark.parametrize("data", [b"", b"\n \n"])
async def test_an_empty_batch_never_opens_the_engine(data: bytes) -> None:
    def missing() -> FakeEngine:
        raise NotIndexedError("/nowhere")

    out: list[bytes] = []
    err: list[bytes] = []
    summary = await run_bulk(missing, chunks=arriving(data), emitter=JsonEmitter(out.append, err.append))

    assert summary == BulkSearchSummary(total=0, succeeded=0, failed=0)
    assert (out, len(err)) == ([], 1)


@pytest.mark.parametrize("data", [b"nope\n", items("a") + b"\xff\n", items(*"x" * 101)], ids=["bad", "late", "many"])
async def test_a_refused_batch_opens_and_writes_nothing(data: bytes) -> None:
    opened: list[FakeEngine] = []
    written: list[bytes] = []

    def opening() -> FakeEngine:
        opened.append(FakeEngine())
        return opened[0]

    with pytest.raises(ConfigInvalidError):
        await run_bulk(opening, chunks=arriving(data), emitter=JsonEmitter(written.append, written.append))

    assert (opened, written) == ([], [])


async def test_an_engine_that_does_not_open_ends_the_run_before_the_first_item() -> None:
    written: list[bytes] = []

    def missing() -> FakeEngine:
        raise NotIndexedError("/nowhere")

    with pytest.raises(NotIndexedError):
        await run_bulk(missing, chunks=arriving(items("a")), emitter=JsonEmitter(written.append, written.append))

    assert written == []


async def test_a_reader_that_went_away_ends_the_run(pipe: Pipe) -> None:
    engine = FakeEngine()
    pipe.reading.close()

    with pytest.raises(BrokenPipeError):
        await run_bulk(lambda: engine, chunks=arriving(items("a", "b")), emitter=pipe.emitter([]))

    assert engine.asked == ["a"]


async def test_a_cancelled_run_leaves_a_held_search_at_once_and_writes_no_more(pipe: Pipe) -> None:
    release, reached = threading.Event(), threading.Event()

    def hold(query: str) -> None:
        reached.set()
        release.wait(10)

    err: list[bytes] = []

    async def run() -> None:
        await run_bulk(lambda: FakeEngine(hold), chunks=arriving(items("a", "b")), emitter=pipe.emitter(err))

    with fail_after(5):
        async with create_task_group() as tasks:
            tasks.start_soon(run)
            await to_thread.run_sync(reached.wait, 5)
            tasks.cancel_scope.cancel()
    release.set()
    pipe.writing.close()

    assert await to_thread.run_sync(pipe.reading.read) == b""
    assert err == []


async def test_a_cancelled_run_waits_until_the_line_it_writes_is_out(pipe: Pipe) -> None:
    query = "x" * 500_000  # more than the pipe takes at once
    begun, ended = threading.Event(), threading.Event()
    ended_early: list[bool] = []
    lines: list[bytes] = []

    def read_slowly() -> None:
        first = pipe.reading.read(1)
        begun.set()
        ended_early.append(ended.wait(0.2))
        lines.append(first + pipe.reading.readline())
        lines.append(pipe.reading.readline())

    async def run() -> None:
        try:
            await run_bulk(FakeEngine, chunks=arriving(items(query, "second")), emitter=pipe.emitter([]))
        finally:
            ended.set()

    reader = threading.Thread(target=read_slowly)
    reader.start()
    with fail_after(10):
        async with create_task_group() as tasks:
            tasks.start_soon(run)
            await to_thread.run_sync(begun.wait, 5)
            tasks.cancel_scope.cancel()
    pipe.writing.close()
    await to_thread.run_sync(reader.join, 10)

    assert ended_early == [False]
    assert orjson.loads(lines[0])["query"] == {"query": query}
    assert lines[1] == b""


async def test_people_see_the_items_numbered_from_one() -> None:
    out: list[bytes] = []
    err: list[bytes] = []
    emitter = HumanEmitter(out.append, err.append, render=lambda answer, _: f"1. {answer.hint}")
    await run_bulk(FakeEngine, chunks=arriving(b"\n", items("a", "fail")), emitter=emitter)

    assert b"".join(out) == b"1. a\n"
    assert b"".join(err).decode().splitlines() == [
        "# Query 1: a",
        "# Query 2: fail",
        "error: [retrieval_error] cannot answer fail",
        "hint: try again",
        "bulk_summary: total=2 succeeded=1 failed=1",
    ]


def test_decoded_items_are_answered_the_same_way() -> None:
    answers, summary = bulk_search(FakeEngine(), [{"query": "a"}, {"query": "fail"}, None])

    assert [item.query for item in answers] == [{"query": "a"}, {"query": "fail"}, None]
    assert answers[0].response == response("a")
    assert [item.error and item.error.code for item in answers] == [None, "retrieval_error", "invalid_input"]
    assert summary == BulkSearchSummary(total=3, succeeded=1, failed=2)


def test_no_decoded_items_are_fine_and_a_hundred_too() -> None:
    assert bulk_search(FakeEngine(), []) == ([], BulkSearchSummary(total=0, succeeded=0, failed=0))
    assert bulk_search(FakeEngine(), [{"query": "x"}] * 100)[1].succeeded == 100


def test_more_than_a_hundred_decoded_items_are_refused_unsearched() -> None:
    engine = FakeEngine()
    with pytest.raises(ConfigInvalidError, match=r"^queries: max 100 items, got more than 100$"):
        bulk_search(engine, [{"query": "x"}] * 101)

    assert engine.asked == []


def test_an_item_that_has_no_equal_json_is_answered_with_an_error_that_can_be_written() -> None:
    answers, _ = bulk_search(FakeEngine(), [{"query": "x", "id": 1 << 70}])

    assert orjson.loads(orjson.dumps(answers[0]))["query"] is None
    assert answers[0].error
    assert answers[0].error.code == "invalid_input"


async def test_lines_and_decoded_items_get_the_same_answers() -> None:
    values = [{"query": "a"}, {"query": "fail"}, {"query": ""}, {"querry": "a"}, 5, {"query": "x", "k": 2.0}]
    out: list[bytes] = []
    err: list[bytes] = []
    lines = b"".join(orjson.dumps(value) + b"\n" for value in values)
    await run_bulk(FakeEngine, chunks=arriving(lines), emitter=JsonEmitter(out.append, err.append))

    assert out == [orjson.dumps(item) + b"\n" for item in bulk_search(FakeEngine(), values)[0]]
