"""Vectors of length 1 from whatever numbers a model gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab_stream.embed.vectors import unit_rows
from kebab_stream.errors import EmbeddingFailedError


@given(st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=8), st.integers(-1000, 1000))
@settings(max_examples=50)
def test_a_vector_has_its_direction_whatever_its_length(numbers: list[float], exponent: int) -> None:
    vector = np.array([[1.0, *numbers]])

    rows = unit_rows(np.ldexp(vector, exponent))

    assert rows == pytest.approx(vector / np.linalg.norm(vector), abs=1e-6)
    assert np.linalg.norm(rows) == pytest.approx(1, abs=1e-6)


def test_the_smallest_and_the_largest_numbers_make_vectors_too() -> None:
    assert unit_rows([[5e-324, 0.0], [1e-300, 0.0], [1.7e308, 1.7e308]]).tolist() == [
        [1.0, 0.0],
        [1.0, 0.0],
        pytest.approx([0.5**0.5] * 2),
    ]


def test_zeros_stay_and_no_rows_are_no_rows() -> None:
    assert unit_rows([[0.0, 0.0], [3.0, 4.0]]).tolist() == [[0.0, 0.0], pytest.approx([0.6, 0.8])]
    assert unit_rows(np.zeros((0, 5))).shape == (0, 5)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_refused(odd: float) -> None:
    with pytest.raises(EmbeddingFailedError, match="not finite"):
        unit_rows([[1.0, odd]])
