"""Overlap and rank-biased overlap, against their plain definitions."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.compare.measures import overlap, rank_biased_overlap

rankings = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=10)
persistence = st.sampled_from([0.5, 0.8, 0.9, 0.98])


def by_definition(a: Sequence[str], b: Sequence[str], p: float) -> float:
    """(1 - p) · Σ p^(d-1) · A_d, with the agreement A_d of all depths, beyond the ends of the lists extrapolated.

    What the shorter list does not show is taken to agree as often as what it shows; below both, agreement stays.
    """
    shorter, longer = sorted((a, b), key=len)

    def agreement(depth: int) -> float:
        common = len(set(shorter[:depth]) & set(longer[:depth]))
        if depth > len(shorter):
            common_shown = len(set(shorter) & set(longer[: len(shorter)]))
            return (common + common_shown / len(shorter) * (depth - len(shorter))) / depth
        return common / depth

    depths = range(1, 3000)
    return (1 - p) * math.fsum(p ** (d - 1) * agreement(min(d, len(longer))) for d in depths)


@given(rankings.filter(bool), rankings.filter(bool), persistence)
def test_rank_biased_overlap_is_what_its_definition_says(a: list[str], b: list[str], p: float) -> None:
    assert rank_biased_overlap(a, b, p) == pytest.approx(by_definition(a, b, p), abs=1e-9)


@given(rankings, rankings, persistence)
def test_rank_biased_overlap_is_symmetric_and_of_the_same_ranking_one(a: list[str], b: list[str], p: float) -> None:
    assert rank_biased_overlap(a, b, p) == pytest.approx(rank_biased_overlap(b, a, p))
    assert rank_biased_overlap(a, a, p) == pytest.approx(1)
    assert -1e-9 <= rank_biased_overlap(a, b, p) <= 1 + 1e-9


def test_rank_biased_overlap_of_known_rankings() -> None:
    # Two of three, swapped at the top: A_1 = 0, A_2 = 1, A_3 = 2/3, which stays.
    expected = 0.1 * (0 + 0.9 * 1 + 0.81 * 2 / 3) + 0.9**3 * 2 / 3

    assert rank_biased_overlap(["a", "b", "c"], ["b", "a", "d"], 0.9) == pytest.approx(expected)
    assert rank_biased_overlap(["a"], ["b"], 0.9) == 0
    assert rank_biased_overlap([], ["b"], 0.9) == 0
    assert rank_biased_overlap([], [], 0.9) == 1


@pytest.mark.parametrize(
    ("a", "b", "k", "expected"),
    [
        ("abc", "cab", 3, 1.0),
        ("abc", "cab", 1, 0.0),
        ("abcd", "abxy", 4, 0.5),
        ("ab", "ab", 10, 1.0),
        ("ab", "abcd", 10, 0.5),
        ("", "", 10, 1.0),
        ("", "a", 10, 0.0),
    ],
)
def test_overlap_is_the_share_of_what_both_have(a: str, b: str, k: int, expected: float) -> None:
    assert overlap(a, b, k) == expected
