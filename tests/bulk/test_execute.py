"""One item: its answer or its error, never an exception."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.bulk.execute import answer, bulk_item, summary_of, unechoable
from kebab_stream.errors import KebabError, StaleCursorError
from kebab_stream.model import ErrorRecord
from tests.bulk.fakes import FakeEngine, response


def failure_of(value: object, engine: FakeEngine | None = None) -> ErrorRecord:
    outcome = answer(engine or FakeEngine(), value)
    assert isinstance(outcome, ErrorRecord)
    return outcome


def test_a_good_item_is_answered() -> None:
    assert answer(FakeEngine(), {"query": "x"}) == response("x")


def test_a_typed_error_keeps_its_code_details_and_hint() -> None:
    assert failure_of({"query": "fail", "k": 3}) == ErrorRecord(
        code="retrieval_error", message="cannot answer fail", details={"k": 3}, hint="try again"
    )


def test_a_stale_cursor_is_not_a_retrieval_error() -> None:
    def refuse(query: str) -> None:
        raise StaleCursorError("malformed", "cursor is not one of ours")

    record = failure_of({"query": "x", "cursor": ""}, FakeEngine(refuse))

    assert (record.code, record.details) == ("stale_cursor", {"reason": "malformed"})


def test_an_unforeseen_error_is_generic_and_stays_with_its_item() -> None:
    record = failure_of({"query": "crash"})

    assert (record.code, record.message) == ("generic", "ZeroDivisionError: by zero")


@pytest.mark.parametrize(
    "value", [None, [], "x", {}, {"query": ""}, {"query": "x", "k": "5"}, {"query": "x", "tagz": 1}]
)
def test_a_bad_item_is_invalid_input_and_never_searched(value: object) -> None:
    engine = FakeEngine()

    assert failure_of(value, engine).code == "invalid_input"
    assert engine.asked == []


def test_an_item_has_exactly_one_of_response_and_error() -> None:
    good, bad = bulk_item(1, response("x")), bulk_item(1, failure_of(None))

    assert (good.response, good.error) == (response("x"), None)
    assert (bad.response, bad.error) == (None, failure_of(None))


@given(st.integers(min_value=0, max_value=100), st.integers(min_value=0, max_value=100))
def test_a_summary_adds_up(succeeded: int, failed: int) -> None:
    summary = summary_of(succeeded + failed, failed)

    assert (summary.total, summary.succeeded) == (succeeded + failed, succeeded)
    assert summary.total == summary.succeeded + summary.failed


def test_values_that_cannot_be_written_back_equal_are_refused() -> None:
    deep: list[object] = []
    for _ in range(300):
        deep = [deep]
    values = [deep, 1 << 64, -(1 << 63) - 1, float("nan"), float("inf"), {1: 2}, "\ud800", b"x", (1,), KebabError("x")]

    for value in values:
        problem = unechoable({"query": "x", "id": value})
        assert problem is not None
        assert problem.code == "invalid_input"


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(1 << 63), (1 << 64) - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_other_json_value_can_be_echoed(value: object) -> None:
    assert unechoable(value) is None
    assert orjson.loads(orjson.dumps(bulk_item(value, response("x"))))["query"] == value
