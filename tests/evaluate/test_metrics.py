"""The measures against ir_measures, which asks trec_eval."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, nDCG

from kebab_stream.evaluate.metrics import first_rank, measure, ndcg

DOCUMENT = st.sampled_from([f"d{number}" for number in range(130)])
RANKINGS = st.lists(DOCUMENT, unique=True, max_size=130)
GRADES = st.dictionaries(DOCUMENT, st.integers(-1, 4), min_size=1, max_size=40).filter(
    lambda grades: max(grades.values()) > 0
)


def oracle(scores: dict[str, float], grades: dict[str, int], k: int) -> dict[str, float]:
    """What ir_measures says; it leaves out a query without a single hit."""
    measures = {f"ndcg@{k}": nDCG @ k, f"recall@{k}": R @ k, "recall@100": R @ 100, f"mrr@{k}": RR @ k}
    found = ir_measures.calc_aggregate(measures.values(), {"q": grades}, {"q": scores}) if scores else {}
    return {name: found.get(one, 0.0) for name, one in measures.items()}


@given(RANKINGS, GRADES, st.sampled_from([1, 3, 10, 100]))
def test_measures_are_those_of_trec_eval(ranking: list[str], grades: dict[str, int], k: int) -> None:
    scores = {document: -float(rank) for rank, document in enumerate(ranking)}

    assert measure(ranking, grades, k=k) == pytest.approx(oracle(scores, grades, k), abs=1e-9)


@given(st.dictionaries(DOCUMENT, st.integers(0, 3), max_size=60), GRADES)
def test_ties_are_taken_in_the_order_of_the_ranking(tied: dict[str, int], grades: dict[str, int]) -> None:
    ranking = sorted(tied, key=lambda document: (tied[document], document), reverse=True)  # trec_eval's order of ties
    scores = {document: float(score) for document, score in tied.items()}

    ours, expected = measure(ranking, grades, k=10), oracle(scores, grades, 10)
    for name in ("ndcg@10", "recall@10", "recall@100"):  # RR@k is by another program, which has ties in another order
        assert ours[name] == pytest.approx(expected[name], abs=1e-9)


def test_the_gain_is_the_grade() -> None:
    assert ndcg(["b", "a"], {"a": 3, "b": 1}, 10) == pytest.approx(
        (1 + 3 / 1.584962500721156) / (3 + 1 / 1.584962500721156)
    )


def test_what_is_not_judged_is_not_relevant() -> None:
    assert first_rank(["x", "y", "a"], {"a": 1, "y": 0}) == 3
    assert first_rank(["x"], {"a": 1}) is None


def test_nothing_found_is_zero() -> None:
    assert set(measure([], {"a": 1}, k=10).values()) == {0.0}
