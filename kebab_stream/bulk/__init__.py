"""Many queries in one run, one engine, in order: read and check the whole batch, then answer item by item."""

from collections.abc import AsyncIterable, Callable, Sequence

from kebab_stream.bulk.emit import Emitter, HumanEmitter, JsonEmitter, Sink
from kebab_stream.bulk.execute import Searcher, answer, bulk_item, summary_of, unechoable
from kebab_stream.bulk.reader import read_batch
from kebab_stream.bulk.validate import LIMITS, too_many
from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.model import BulkSearchItem, BulkSearchSummary, ErrorRecord
from kebab_stream.render import error_record

__all__ = [
    "Emitter",
    "HumanEmitter",
    "JsonEmitter",
    "Searcher",
    "Sink",
    "bulk_search",
    "bulk_search_with_config",
    "run_bulk",
]


async def run_bulk(
    open_engine: Callable[[], Searcher], *, chunks: AsyncIterable[bytes], emitter: Emitter
) -> BulkSearchSummary:
    """Answer a stream of NDJSON items, each answer written before the next search begins.

    Args:
        open_engine: opens what answers; called once, in a worker thread, and not at all for an empty batch. The
            searches run in worker threads too, one at a time, not always in the same one.
        chunks: the stream, cut anywhere.
        emitter: gets every answer, then the summary.

    A cancelled run writes no more, but ends the line it was writing. A running search is left to itself.

    Raises:
        ConfigInvalidError: the batch cannot be used; nothing was opened, searched or written.
        NotIndexedError: and whatever else `open_engine` raises, before anything was written.
        BrokenPipeError: the reader of the answers went away.
    """
    batch = await read_batch(chunks)
    failed = 0
    if batch:
        searcher = await run_blocking(open_engine, abandon=True)
        for number, line in enumerate(batch, 1):
            outcome = await run_blocking(answer, searcher, line.value, abandon=True)
            await run_blocking(emitter.item, number, line, outcome)
            failed += isinstance(outcome, ErrorRecord)
    summary = summary_of(len(batch), failed)
    await run_blocking(emitter.summary, summary)
    return summary


def bulk_search(searcher: Searcher, items: Sequence[object]) -> tuple[list[BulkSearchItem], BulkSearchSummary]:
    """Answer decoded items in order; a failed one has its error and does not stop the others.

    An item that cannot be written back as equal JSON is an `invalid_input` error with null as its echo.

    Raises:
        ConfigInvalidError: there are more than 100 items; none was searched.
    """
    if len(items) > LIMITS.items:
        raise too_many(LIMITS)
    answers = [_answered(searcher, value) for value in items]
    failed = sum(item.error is not None for item in answers)
    return answers, summary_of(len(answers), failed)


def bulk_search_with_config(config: Config, items: Sequence[object]) -> tuple[list[BulkSearchItem], BulkSearchSummary]:
    """Open the index of a configuration, answer decoded items on it, and close it.

    Raises:
        ConfigInvalidError: there are more than 100 items; nothing was opened.
        NotIndexedError, IndexCorruptError: the index cannot be opened (not looked at without items).
    """
    if len(items) > LIMITS.items:
        raise too_many(LIMITS)
    if not items:
        return [], summary_of(0, 0)
    from kebab_stream.engine import Engine  # late: a batch that is refused needs none of what it imports

    with Engine.open(config) as engine:
        return bulk_search(engine, items)


def _answered(searcher: Searcher, value: object) -> BulkSearchItem:
    if problem := unechoable(value):
        return bulk_item(None, error_record(problem))
    return bulk_item(value, answer(searcher, value))
