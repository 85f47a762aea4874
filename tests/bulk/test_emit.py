"""What programs and people get to see of each answer."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.bulk.emit import HumanEmitter, JsonEmitter
from kebab_stream.bulk.execute import answer
from kebab_stream.bulk.reader import read_batch
from kebab_stream.bulk.validate import BatchLine
from kebab_stream.errors import ConfigInvalidError
from kebab_stream.model import BulkSearchSummary, ErrorRecord, SearchResponse
from kebab_stream.render import to_json
from tests.bulk.fakes import FakeEngine, arriving, response

FAILURE = ErrorRecord(
    code="stale_cursor", message="cursor \x1b[31m is old", details={"reason": "revision"}, hint="search again"
)


class Streams:
    """Collects what was written; `out` has one element for each write, so that partial lines would show."""

    def __init__(self) -> None:
        self.out: list[bytes] = []
        self.err: list[bytes] = []

    def json(self) -> JsonEmitter:
        return JsonEmitter(self.out.append, self.err.append)

    def human(self, *, quiet: bool = False) -> HumanEmitter:
        return HumanEmitter(self.out.append, self.err.append, render=block, notes=notes, quiet=quiet)


def block(answer: SearchResponse, query: str) -> str:
    return "" if answer.hint == "nothing" else f"1. {answer.hint}\n   snippet\n"


def notes(answer: SearchResponse) -> str:
    return "no hits" if answer.hint == "nothing" else ""


@pytest.mark.parametrize(
    "data",
    [
        b'{"query":"x","id":123456789012345678901234567890}',
        b'{"a":1,"a":2}',
        b'"\\ud55c"',
        b"1.0",
        b"[" * 1000 + b"]" * 1000,
    ],
    ids=["big integer", "equal keys", "escapes", "float", "deep"],
)
def test_a_line_echoes_the_bytes_of_the_item(data: bytes) -> None:
    streams = Streams()
    streams.json().item(1, BatchLine(data), response("x"))

    assert streams.out == [
        b'{"schema_version":"bulk_search_item.v1","query":%b,"response":%b,"error":null}\n'
        % (data, to_json(response("x")))
    ]
    assert streams.err == []


def test_a_failed_item_is_a_line_too() -> None:
    streams = Streams()
    streams.json().item(1, BatchLine(b"null"), FAILURE)

    assert streams.out == [
        b'{"schema_version":"bulk_search_item.v1","query":null,"response":null,"error":%b}\n' % to_json(FAILURE)
    ]


def test_the_json_summary_is_one_line_on_stderr() -> None:
    streams = Streams()
    streams.json().summary(BulkSearchSummary(total=3, succeeded=2, failed=1))

    assert streams.err == [b'{"schema_version":"bulk_search_summary.v1","total":3,"succeeded":2,"failed":1}\n']
    assert streams.out == []


def test_blocks_of_text_are_separated_by_one_blank_line() -> None:
    streams = Streams()
    emitter = streams.human()
    emitter.item(1, BatchLine(b'{"query":"nothing"}'), response("nothing"))
    emitter.item(2, BatchLine(b'{"query":"a  b\\tc"}'), response("one"))
    emitter.item(3, BatchLine(b'{"query":"\\u001b[31m"}'), FAILURE)
    emitter.item(4, BatchLine(b'{"query":"two"}'), response("two"))
    emitter.summary(BulkSearchSummary(total=4, succeeded=3, failed=1))

    assert b"".join(streams.out) == b"1. one\n   snippet\n\n1. two\n   snippet\n"
    assert b"".join(streams.err).decode().splitlines() == [
        "# Query 1: nothing",
        "no hits",
        "# Query 2: a b c",
        "# Query 3: \\x1b[31m",
        "error: [stale_cursor] cursor \\x1b[31m is old",
        "hint: search again",
        "# Query 4: two",
        "bulk_summary: total=4 succeeded=3 failed=1",
    ]


def test_quiet_keeps_errors_and_the_summary_but_not_hints() -> None:
    streams = Streams()
    emitter = streams.human(quiet=True)
    emitter.item(1, BatchLine(b'{"query":"x"}'), FAILURE)
    emitter.summary(BulkSearchSummary(total=1, succeeded=0, failed=1))

    assert b"".join(streams.err).splitlines()[1:] == [
        b"error: [stale_cursor] cursor \\x1b[31m is old",
        b"bulk_summary: total=1 succeeded=0 failed=1",
    ]


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (b"[1, 2]", "[1,2]"),
        (b"{}", "{}"),
        (b'{"query": 5}', '{"query":5}'),
        (b'{"query":"\\n"}', ""),
        (b'"a\\u0000"', '"a\\u0000"'),
    ],
)
def test_an_item_without_a_query_is_titled_by_its_json(data: bytes, title: str) -> None:
    streams = Streams()
    streams.human().item(1, BatchLine(data), FAILURE)

    assert streams.err[0].startswith(f"# Query 1: {title}".rstrip().encode())
    assert streams.err[0].split(b"\n")[1].startswith(b"error: [stale_cursor]")


json_lines = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["query", "k", "mode", "tag", "id"]) | st.text(), inner)
    ),
).map(orjson.dumps)


@given(data=st.binary() | json_lines | st.tuples(json_lines, st.binary(max_size=3)).map(b"".join))
def test_any_line_is_refused_by_its_number_or_answered_without_a_bug(data: bytes) -> None:
    try:
        batch = finish(data)
    except ConfigInvalidError as error:
        assert error.message.startswith(("stdin line ", "queries: max 100"))  # noqa: PT017 - one of two good ends
        return

    for line in batch:
        streams = Streams()
        outcome = answer(FakeEngine(), line.value)
        streams.json().item(1, line, outcome)
        written = orjson.loads(streams.out[0])
        assert written["query"] == line.value
        assert (written["response"] is None) != (written["error"] is None)
        if isinstance(outcome, ErrorRecord):
            assert outcome.code == "invalid_input"
        streams.human().item(1, line, outcome)


def finish(data: bytes) -> list[BatchLine]:
    """Read a batch without an event loop: its stream never waits."""
    reading = read_batch(arriving(data))
    try:
        reading.send(None)
    except StopIteration as end:
        batch: list[BatchLine] = end.value
        return batch
    raise AssertionError("it waited")
