"""The top k against a full sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from kebab_stream.index.ranking import rounded, top

FEW_VALUES = st.sampled_from([-0.5, -1e-6, 0.0, 1e-6, 0.25, 0.250001, 1.0, 7.125])
SCORES = arrays.arrays(np.float64, st.integers(0, 60), elements=FEW_VALUES | st.floats(-10, 10)).map(rounded)


@given(SCORES, st.integers(-1, 70), st.data())
def test_top_equals_the_head_of_a_full_sort(scores: NDArray[np.float64], limit: int, data: st.DataObject) -> None:
    eligible = data.draw(arrays.arrays(np.bool_, len(scores)))
    numbers = [number for number in range(len(scores)) if eligible[number]]
    expected = sorted(numbers, key=lambda number: (-scores[number], number))[: max(limit, 0)]

    assert top(scores, limit, eligible).tolist() == expected


@pytest.mark.parametrize("limit", [1, 10, 200, 4_999, 5_000, 6_000])
def test_top_equals_the_head_of_a_full_sort_of_many(limit: int) -> None:
    scores = np.random.default_rng(limit).gamma(1.0, 1.0, 5_000).round(3)
    expected = sorted(range(5_000), key=lambda number: (-scores[number], number))[:limit]

    assert top(scores, limit, np.ones(5_000, dtype=np.bool_)).tolist() == expected


def test_ties_at_the_cut_go_to_the_lower_chunk_numbers() -> None:
    assert top(np.array([1.0, 2.0, 1.0, 1.0, 2.0]), 3, np.ones(5, dtype=np.bool_)).tolist() == [1, 4, 0]


def test_scores_are_written_with_six_decimals() -> None:
    assert rounded(np.array([0.10000001, 7.12345649, -0.25], dtype=np.float64)).tolist() == [0.1, 7.123456, -0.25]


def test_no_score_is_written_as_minus_zero() -> None:
    assert str(rounded(np.array([-1e-9]))[0]) == "0.0"
