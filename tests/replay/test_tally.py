"""Counts that add up, and percentiles from bins."""

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.replay.tally import Tally, bins, latency_of

times = st.lists(st.floats(0.002, 60_000), max_size=60)
tallies = st.builds(
    Tally,
    succeeded=st.integers(0, 99),
    failed=st.integers(0, 99),
    bad_lines=st.integers(0, 99),
    blank_lines=st.integers(0, 99),
    times=times.map(bins),
)


@given(tallies)
def test_a_tally_comes_back_from_json(tally: Tally) -> None:
    assert Tally.from_json(json.loads(json.dumps(tally.as_json()))) == tally


@given(tallies, tallies)
def test_tallies_add_up(one: Tally, other: Tally) -> None:
    both = one + other

    assert both.total == one.total + other.total
    assert sum(both.times.values()) == sum(one.times.values()) + sum(other.times.values())


@given(times.filter(bool))
def test_percentiles_are_those_of_the_times_to_within_three_percent(drawn: list[float]) -> None:
    latency = latency_of(bins(drawn))

    assert latency is not None
    for share, told in ((0.5, latency.p50_ms), (0.9, latency.p90_ms), (0.99, latency.p99_ms)):
        exact = sorted(drawn)[math.ceil(share * len(drawn)) - 1]
        assert math.isclose(told, exact, rel_tol=0.03, abs_tol=0.0006)


def test_without_times_there_are_no_percentiles() -> None:
    assert latency_of({}) is None
