"""Two rankings to one: the formulas, their bounds, and what each side contributes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.single.fusion import Floats, above_floor, convex, rrf, weight_across

scores = st.lists(st.tuples(st.floats(0, 0.999999), st.floats(-1, 1)), min_size=1, max_size=30)


@given(scores, st.floats(0.001, 1000), st.floats(0, 1))
def test_convex_is_the_weighted_sum_of_the_share_of_bm25_and_the_positive_cosine(
    pairs: list[tuple[float, float]], maximum: float, weight: float
) -> None:
    lexical = np.array([share * maximum for share, _ in pairs])
    cosine = np.array([cosine for _, cosine in pairs])

    fused = convex(lexical, maximum, cosine, weight=weight).tolist()

    expected = [
        (1 - weight) * bm25 / maximum + weight * max(0.0, cosine)
        for bm25, cosine in zip(lexical.tolist(), cosine.tolist(), strict=True)
    ]
    assert fused == pytest.approx(expected, abs=5.1e-7)
    assert all(0 <= score <= 1 and score == round(score, 6) for score in fused)
    assert not any(math.copysign(1, score) < 0 for score in fused)


@given(scores, st.floats(0, 1), st.data())
def test_a_score_is_from_0_to_1_and_rises_with_either_side_also_across_scripts(
    pairs: list[tuple[float, float]], weight: float, data: st.DataObject
) -> None:
    share = np.array([share for share, _ in pairs])
    cosine = np.array([cosine for _, cosine in pairs])
    across = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))))
    alone = across * weight_across(weight, data.draw(st.floats(0, 1)))
    step = data.draw(st.floats(0, 1))

    scores = convex(share, 1.0, cosine, weight=weight, alone=alone)

    plain = convex(share, 1.0, cosine, weight=weight)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (scores[~across] == plain[~across]).all()
    assert (scores >= plain).all()
    more_words = convex(np.minimum(share + step, 1), 1.0, cosine, weight=weight, alone=alone)
    more_meaning = convex(share, 1.0, np.minimum(cosine + step, 1), weight=weight, alone=alone)
    assert (more_words >= scores).all()
    assert (more_meaning >= scores).all()


@pytest.mark.parametrize(
    ("share", "score"),
    [
        (0.0, 0.3),  # no shared word: the meaning alone
        (0.15, 0.3),  # a word that happens to stand there counts less than the meaning
        (1.0, 0.9),  # all the words: the sum
    ],
)
def test_meaning_may_do_without_words(share: float, score: float) -> None:
    fused = convex(np.array([share]), 1.0, np.array([0.6]), weight=0.25, alone=0.5)

    assert fused.tolist() == [pytest.approx(score)]


@pytest.mark.parametrize(
    ("weight", "familiar", "expected"),
    [(0.25, 0.0, 1.0), (0.25, 0.1, 0.75), (0.25, 0.2, 0.5), (0.25, 0.7, 0.5), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)],
)
def test_across_scripts_meaning_counts_the_more_the_less_is_in_the_script_of_the_query(
    weight: float, familiar: float, expected: float
) -> None:
    assert weight_across(weight, familiar) == pytest.approx(expected)


def test_a_negative_cosine_counts_as_none() -> None:
    assert convex(np.array([1.0]), 2.0, np.array([-1.0]), weight=0.25).tolist() == [0.375]


def test_a_query_without_a_bound_has_only_its_cosines() -> None:
    assert convex(np.zeros(2), 0.0, np.array([0.5, -0.5]), weight=0.25).tolist() == [0.125, 0.0]


@pytest.mark.parametrize(
    ("lexical", "vector", "score"),
    [
        (1, 1, 1.0),
        (1, None, 0.5),
        (None, 1, 0.5),
        (2, 1, (61 / 62 + 1) / 2),
        (200, None, 61 / 260 / 2),
        (None, None, 0.0),
    ],
)
def test_rrf_is_one_for_the_first_of_both_sides_and_a_missing_side_adds_nothing(
    lexical: int | None, vector: int | None, score: float
) -> None:
    ranks = [np.array([rank or math.inf]) for rank in (lexical, vector)]

    assert rrf(ranks[0], ranks[1], k=60).tolist() == [round(score, 6)]


@given(st.lists(st.integers(0, 50), unique=True), st.lists(st.integers(0, 50), unique=True), st.integers(1, 1000))
def test_rrf_scores_are_reciprocal_ranks_over_their_maximum(first: list[int], second: list[int], k: int) -> None:
    union = sorted({*first, *second})

    def ranks(ranking: list[int]) -> Floats:
        return np.array([ranking.index(number) + 1 if number in ranking else math.inf for number in union])

    fused = rrf(ranks(first), ranks(second), k=k)

    def part(ranking: list[int], number: int) -> float:
        return 1 / (k + ranking.index(number) + 1) if number in ranking else 0.0

    expected = [(part(first, number) + part(second, number)) * (k + 1) / 2 for number in union]
    assert fused.tolist() == pytest.approx(expected, abs=5.1e-7)
    assert all(0 < score <= 1 for score in fused.tolist())


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 0.99))
def test_a_floor_keeps_the_order_of_cosines_and_what_1_means(low: float, high: float, floor: float) -> None:
    low, high = sorted((low, high))
    scaled = above_floor(np.array([low, high, floor, 1.0]), floor).tolist()

    assert scaled[0] <= scaled[1] <= 1.0
    assert scaled[2:] == [0.0, 1.0]


def test_without_a_floor_no_bit_of_a_cosine_changes() -> None:
    cosines = np.linspace(-1, 1, 1001)

    assert np.array_equal(above_floor(cosines, 0.0), cosines)
