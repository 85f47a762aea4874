"""From results to a report, and back from a file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kebab_stream.errors import InvalidInputError
from kebab_stream.evaluate import mean_of, metrics_in, read_report, report_of
from kebab_stream.model import Mode
from kebab_stream.render import to_json
from kebab_stream.reports.quality import EvalAnswer, EvalLatency, EvalMode, EvalQuery, EvalSet
from tests.wire import checked


def answer(mode: Mode, value: float) -> EvalAnswer:
    return EvalAnswer(mode=mode, metrics={"ndcg@10": value}, first_rank=1, elapsed_ms=1.0, top=())


def results(name: str, **values: tuple[float, ...]) -> EvalSet:
    """A set with these values of each query, by mode."""
    modes = [mode for mode in ("lexical", "vector", "hybrid") if mode in values]
    queries = [
        EvalQuery(
            id=f"q{place}", query="?", expected=(), answers=tuple(answer(mode, values[mode][place]) for mode in modes)
        )
        for place in range(len(values[modes[0]]))
    ]
    means = {mode: {"ndcg@10": sum(values[mode]) / len(values[mode])} for mode in modes}
    latency = EvalLatency(p50_ms=1.0, p90_ms=1.0, p99_ms=1.0)
    return EvalSet(
        name=name,
        kind="beir",
        version="1",
        settings={},
        embedding_model=None,
        documents=1,
        chunks=1,
        queries=len(queries),
        unjudged=0,
        unknown_queries=0,
        absent_targets=0,
        modes=tuple(EvalMode(mode=mode, metrics=means[mode], latency=latency) for mode in modes),
        results=tuple(queries),
    )


def test_each_mode_is_compared_with_those_before_it() -> None:
    report = report_of([results("s", lexical=(0.5, 0.5), vector=(0.0, 0.2), hybrid=(1.0, 0.5))], k=10)

    assert [(one.mode, one.other_mode, one.difference, one.wins, one.losses) for one in report.comparisons] == [
        ("vector", "lexical", -0.4, 0, 2),
        ("hybrid", "lexical", 0.25, 1, 0),
        ("hybrid", "vector", 0.65, 2, 0),
    ]


def test_runs_are_compared_on_the_queries_that_both_have() -> None:
    other = report_of([results("t", hybrid=(1.0,)), results("s", lexical=(0.0, 0.0), hybrid=(0.25, 0.5))], k=10)

    report = report_of([results("s", hybrid=(0.5, 1.0, 0.0))], k=10, other=other, other_run="before.json")

    (one,) = report.comparisons
    assert (one.set, one.mode, one.other_run, one.queries, one.difference) == ("s", "hybrid", "before.json", 2, 0.375)


def test_a_run_with_nothing_in_common_is_refused() -> None:
    other = report_of([results("t", hybrid=(1.0,))], k=10)

    with pytest.raises(InvalidInputError, match=r"before.json has no set, mode, measure and query in common"):
        report_of([results("s", hybrid=(0.5,))], k=10, other=other, other_run="before.json")


def test_sets_have_names_of_their_own() -> None:
    with pytest.raises(InvalidInputError, match="two sets are named s"):
        report_of([results("s", hybrid=(0.5,)), results("s", hybrid=(0.5,))], k=10)


def test_each_set_counts_once_in_the_mean() -> None:
    sets = [results("s", lexical=(0.0,), hybrid=(0.0, 0.0, 0.0)), results("t", hybrid=(1.0,))]

    assert mean_of(sets, "hybrid", "ndcg@10") == 0.5
    assert mean_of(sets, "lexical", "ndcg@10") is None
    assert metrics_in(sets) == ["ndcg@10"]


def test_a_saved_report_is_read_as_it_was(tmp_path: Path) -> None:
    report = report_of([results("s", lexical=(0.5, 0.25), hybrid=(1.0, 0.5))], k=10)
    (tmp_path / "r.json").write_bytes(to_json(report))

    assert read_report(tmp_path / "r.json") == report
    checked((tmp_path / "r.json").read_bytes())


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"schema_version": "eval_report.v1"}', '{"schema_version": "doctor.v1", "k": 1, "sets": []}', "\x00"],
)
def test_another_file_is_no_report(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)

    with pytest.raises(InvalidInputError, match=r"r\.json is no eval_report\.v1: "):
        read_report(tmp_path / "r.json")


def test_a_report_that_lacks_something_is_refused(tmp_path: Path) -> None:
    whole = results("s", lexical=(0.5,), hybrid=(1.0,))
    broken = [
        [],
        [replace(whole, modes=())],
        [replace(whole, results=())],
        [replace(whole, modes=whole.modes[:1])],
        [replace(whole, modes=(whole.modes[0], replace(whole.modes[1], metrics={"other": 1.0})))],
    ]
    for sets in broken:
        text = json.dumps(json.loads(to_json(report_of([whole], k=10))) | {"sets": json.loads(to_json(sets))})
        (tmp_path / "r.json").write_text(text)

        with pytest.raises(InvalidInputError, match="lacks results"):
            read_report(tmp_path / "r.json")


def test_a_report_with_numbers_that_cannot_be_is_refused(tmp_path: Path) -> None:
    whole = results("s", hybrid=(1.0,))
    (mode,) = whole.modes
    broken = [
        replace(whole, chunks=-1),
        replace(whole, modes=(replace(mode, metrics={"ndcg@10": 1e308}),)),
        replace(whole, modes=(replace(mode, latency=EvalLatency(p50_ms=1.0, p90_ms=1.0, p99_ms=1e300)),)),
        replace(whole, results=results("s", hybrid=(-0.5,)).results),
    ]
    reports = [replace(report_of([whole], k=10), sets=(one,)) for one in broken]
    for report in [*reports, report_of([whole], k=-5)]:
        (tmp_path / "r.json").write_bytes(to_json(report))

        with pytest.raises(InvalidInputError, match="a number that no evaluation gives"):
            read_report(tmp_path / "r.json")


def test_a_missing_report_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="does not exist"):
        read_report(tmp_path / "r.json")
