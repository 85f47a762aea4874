"""The top k against a full sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kebab_stream.index.ranking import rounded, top

FEW_VALUES = st.sampled_from([-0.5, -4e-7, 0.0, 4e-7, 6e-7, 0.25, 0.2500004, 0.2500006, 1.0, 7.125])
SCORES = arrays.arrays(
    st.sampled_from([np.float64, np.float32]),
    st.integers(0, 60),
    elements=FEW_VALUES | st.floats(-10, 10, width=32),
)


@given(SCORES, st.integers(-1, 70), st.none() | st.just(0.0), st.data())
def test_top_equals_the_head_of_a_full_sort(
    scores: np.ndarray[tuple[int], np.dtype[np.float64]], limit: int, above: float | None, data: st.DataObject
) -> None:
    mask = data.draw(st.none() | arrays.arrays(np.bool_, len(scores)))
    written = np.round(scores.astype(np.float64), 6).tolist()
    eligible = [
        number
        for number in range(len(scores))
        if (mask is None or mask[number]) and (above is None or scores[number] > above)
    ]
    expected = sorted(eligible, key=lambda number: (-written[number], number))[: max(limit, 0)]

    numbers, values = top(scores, limit, mask, above=above)

    assert numbers.tolist() == expected
    assert values.tolist() == [written[number] for number in expected]


@pytest.mark.parametrize("limit", [1, 10, 200, 4_999, 5_000, 6_000])
def test_top_equals_the_head_of_a_full_sort_of_many(limit: int) -> None:
    scores = np.random.default_rng(limit).gamma(1.0, 1.0, 5_000).round(3)
    expected = sorted(range(5_000), key=lambda number: (-scores[number], number))[:limit]

    assert top(scores, limit)[0].tolist() == expected


def test_ties_at_the_cut_go_to_the_lower_chunk_numbers() -> None:
    numbers, values = top(np.array([1.0, 2.0, 1.0, 1.0, 2.0]), 3)

    assert (numbers.tolist(), values.tolist()) == ([1, 4, 0], [2.0, 2.0, 1.0])


def test_order_is_decided_on_scores_as_written() -> None:
    assert top(np.array([0.10000001, 0.10000002]), 2)[0].tolist() == [0, 1]
    assert top(np.array([0.10000001, 0.10000002]), 1)[0].tolist() == [0]


def test_a_score_that_rounds_to_zero_is_still_a_result() -> None:
    numbers, values = top(np.array([0.0, 1e-9]), 5, above=0.0)

    assert (numbers.tolist(), values.tolist()) == ([1], [0.0])


def test_no_score_is_written_as_minus_zero() -> None:
    assert str(rounded(np.array([-1e-9]))[0]) == "0.0"
