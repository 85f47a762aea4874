"""What flags, bulk items and MCP arguments accept, and the words for what they do not."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.errors import InvalidInputError
from kebab_stream.model import Filters, SearchOpts, SearchQuery
from kebab_stream.single import validate


def refusal(check: object, *args: object) -> InvalidInputError:
    assert callable(check)
    with pytest.raises(InvalidInputError) as caught:
        check(*args)
    return caught.value


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u3000", "\xa0"])
def test_a_blank_query_is_refused(text: str) -> None:
    assert refusal(validate.query_text, text).message.startswith("query: expected text that is not blank, got ")


@pytest.mark.parametrize("text", ["a", " tail -f ", '"', "…", "\x00"])
def test_a_query_is_literal_text(text: str) -> None:
    assert validate.query_text(text) == text


def test_an_argument_that_is_not_utf8_is_refused_and_shown_safely() -> None:
    error = refusal(validate.query_text, "\udcff\x1b[31m")

    assert error.details["value"] == "\\udcff\\x1b[31m"


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("k", 0),
        ("k", 1000),
        ("per_doc", 0),
        ("per_doc", 1000),
        ("snippet_chars", 1),
        ("snippet_chars", 10_000),
        ("max_tokens", 1),
    ],
)
def test_the_ends_of_a_range_belong_to_it(key: str, number: int) -> None:
    assert validate.whole_number(key, number) == number


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("k", -1),
        ("k", 1001),
        ("per_doc", -1),
        ("per_doc", 1001),
        ("snippet_chars", 0),
        ("snippet_chars", 10_001),
        ("max_tokens", 0),
        ("max_tokens", -5),
    ],
)
def test_numbers_beyond_a_range_are_refused(key: str, number: int) -> None:
    error = refusal(validate.whole_number, key, number)

    assert error.details == {"key": key, "value": str(number), "accepted": validate.ACCEPTED[key]}
    assert error.message == f"{key}: expected {validate.ACCEPTED[key]}, got {number}"


def test_modes_and_trust_levels_are_known_by_name_and_case() -> None:
    assert validate.mode("vector") == "vector"
    assert validate.trust_level("secondary") == "secondary"
    assert refusal(validate.mode, "Vector").message == 'mode: expected lexical, vector or hybrid, got "Vector"'
    assert refusal(validate.trust_level, "").message == 'trust_min: expected primary, secondary or generated, got ""'


def asked(query: object = "text", mode: object = "hybrid", k: object = None, **filters: object) -> SearchQuery:
    """A query as a caller without a type checker may make it."""
    return SearchQuery(query=query, mode=mode, k=k, filters=Filters(**filters))  # type: ignore[arg-type]  # on purpose


def opts(**changes: object) -> SearchOpts:
    return SearchOpts(**changes)  # type: ignore[arg-type]  # on purpose


NAIVE = datetime(2026, 1, 1)


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        (asked(query=" "), opts(), 'query: expected text that is not blank, got " "'),
        (asked(query=None), opts(), "query: expected text that is not blank, got null"),
        (asked(mode="foo"), opts(), 'mode: expected lexical, vector or hybrid, got "foo"'),
        (asked(mode=None), opts(), "mode: expected lexical, vector or hybrid, got null"),
        (asked(k=-1), opts(), f"k: expected {validate.ACCEPTED['k']}, got -1"),
        (asked(k=5000), opts(), f"k: expected {validate.ACCEPTED['k']}, got 5000"),
        (asked(k=True), opts(), f"k: expected {validate.ACCEPTED['k']}, got true"),
        (asked(k=1.5), opts(), f"k: expected {validate.ACCEPTED['k']}, got 1.5"),
        (asked(), opts(max_tokens=0), f"max_tokens: expected {validate.ACCEPTED['max_tokens']}, got 0"),
        (asked(), opts(max_tokens=-5), f"max_tokens: expected {validate.ACCEPTED['max_tokens']}, got -5"),
        (asked(), opts(snippet_chars=0), f"snippet_chars: expected {validate.ACCEPTED['snippet_chars']}, got 0"),
        (asked(), opts(snippet_chars=-5), f"snippet_chars: expected {validate.ACCEPTED['snippet_chars']}, got -5"),
        (asked(), opts(cursor=7), f"cursor: expected {validate.ACCEPTED['cursor']}, got 7"),
        (asked(must="esru"), opts(), 'must: expected a tuple or list of texts, got "esru"'),
        (asked(tag=(1,)), opts(), "tag: expected a tuple or list of texts, got [1]"),
        (asked(source=None), opts(), "source: expected a tuple or list of texts, got null"),
        (asked(lang=("ko",)), opts(), f'lang: expected {validate.ACCEPTED["lang"]}, got ["ko"]'),
        (asked(trust_min="foo"), opts(), 'trust_min: expected primary, secondary or generated, got "foo"'),
        (
            asked(ingested_after=NAIVE),
            opts(),
            'ingested_after: expected a datetime with a time zone, got "2026-01-01T00:00:00"',
        ),
        (
            asked(ingested_after="2026-01-01"),
            opts(),
            'ingested_after: expected a datetime with a time zone, got "2026-01-01"',
        ),
    ],
)
def test_a_search_is_checked_whoever_asks(query: SearchQuery, options: SearchOpts, message: str) -> None:
    assert refusal(validate.search, query, options).message == message


def test_lists_of_a_filter_become_tuples() -> None:
    query = asked(k=0, source=["a", "b"], must=[], lang="ko", ingested_after=datetime(2026, 1, 1, tzinfo=UTC))

    checked = validate.search(query, opts(max_tokens=1, snippet_chars=10_000, cursor=""))

    assert checked == asked(k=0, source=("a", "b"), lang="ko", ingested_after=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T09:00:00Z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        ("2026-01-31t09:00:00z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        ("2026-01-31 09:00:00+09:00", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T09:00:00.25-00:30", datetime(2026, 1, 31, 9, 30, 0, 250_000, tzinfo=UTC)),
        ("2026-01-31T09:00:00.1234567891Z", datetime(2026, 1, 31, 9, 0, 0, 123_456, tzinfo=UTC)),
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC)),
    ],
)
def test_instants_are_moments_in_utc(text: str, moment: datetime) -> None:
    assert validate.instant(text) == moment
    assert validate.instant(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-01-31T09:00:00",
        "2026-01-31T09:00Z",
        "2026-01-31T09:00:00+0900",
        "2026-01-31T09:00:00+09:99",
        "2026-01-31T09:00:00+24:00",
        "2026-02-30",
        "2026-01-31T24:00:01Z",
        "20260131",
        "2026-W05-6",
        "2026-01-31 ",
        "٢٠٢٦-01-31",
        "0000-01-01",
        "0001-01-01T00:00:00+09:00",
        "9999-12-31T23:59:59-09:00",
        "9999-12-31T23:59:60Z",
    ],
)
def test_what_names_no_moment_for_certain_is_refused(text: str) -> None:
    error = refusal(validate.instant, text)

    assert error.message.startswith(
        "ingested_after: expected a date (2026-01-31) or an RFC 3339 date-time with an offset"
    )


@given(st.datetimes(timezones=st.timezones()))
def test_every_timestamp_that_python_writes_is_read_back(moment: datetime) -> None:
    offset = moment.utcoffset()
    assert offset is not None
    text = moment.isoformat()
    try:
        expected = moment.astimezone(UTC)
    except OverflowError:
        expected = None

    if expected is None or offset.total_seconds() % 60:  # RFC 3339 has no seconds in offsets
        refusal(validate.instant, text)
    else:
        assert validate.instant(text) == expected


@given(st.text(alphabet="0123456789-:TtZz+. "))
def test_nothing_but_a_moment_or_a_refusal_comes_out(text: str) -> None:
    with suppress(InvalidInputError):
        assert validate.instant(text).tzinfo is UTC


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(), st.lists))
def test_any_value_is_shown_short_and_harmless(value: object) -> None:
    text = validate.shown(value)

    assert len(text) <= 80
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in text)
    text.encode()


def test_a_long_value_is_cut_with_an_ellipsis() -> None:
    assert validate.shown("x" * 1000) == '"' + "x" * 78 + "…"


def test_values_that_json_cannot_hold_are_shown_by_their_type() -> None:
    deep: list[object] = []
    for _ in range(2000):
        deep = [deep]

    assert [validate.shown(value) for value in (deep, 10**5000, {1: 2}, b"x")] == ["array", "number", "object", "bytes"]
