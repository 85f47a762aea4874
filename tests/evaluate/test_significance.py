"""Whether a difference is more than chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.evaluate.significance import RESAMPLES, compare

VALUES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40)


def test_a_clear_difference_is_hardly_chance() -> None:
    paired = compare([0.9] * 40, [0.4] * 38 + [0.95, 0.9])

    assert paired.p_value == pytest.approx(1 / (RESAMPLES + 1))
    assert 0 < paired.low < paired.difference < paired.high
    assert (paired.wins, paired.ties, paired.losses) == (38, 1, 1)


def test_no_difference_is_no_evidence() -> None:
    paired = compare([0.5, 0.2], [0.5, 0.2])

    assert (paired.difference, paired.low, paired.high, paired.p_value, paired.ties) == (0, 0, 0, 1, 2)


def test_p_is_near_that_of_all_sign_changes() -> None:
    differences = [0.3, 0.1, -0.05, 0.2, 0.25, -0.1, 0.05, 0.15]
    signs = 1 - 2 * ((np.arange(2**8)[:, None] >> np.arange(8)) & 1)
    exact = np.mean(np.abs(signs @ differences) >= abs(sum(differences)) - 1e-12)

    assert compare(differences, [0.0] * 8).p_value == pytest.approx(exact, abs=0.02)


def test_the_interval_is_near_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(5).normal(0.1, 0.3, 400)
    error = values.std() / 20

    paired = compare(values.tolist(), [0.0] * 400)

    assert paired.low == pytest.approx(values.mean() - 1.96 * error, abs=0.15 * error)
    assert paired.high == pytest.approx(values.mean() + 1.96 * error, abs=0.15 * error)


@given(VALUES)
def test_swapping_the_sides_turns_the_difference_around(values: list[tuple[float, float]]) -> None:
    ours, theirs = zip(*values, strict=True)
    there, back = compare(ours, theirs), compare(theirs, ours)

    assert there.difference == pytest.approx(-back.difference)
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
    assert there.p_value == back.p_value
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=0.05)


@given(VALUES)
def test_the_same_values_give_the_same_result(values: list[tuple[float, float]]) -> None:
    ours, theirs = zip(*values, strict=True)

    assert compare(ours, theirs) == compare(ours, theirs)
