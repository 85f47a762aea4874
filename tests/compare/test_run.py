"""What a comparison says of two files of answers."""

import os
from pathlib import Path
from threading import Timer

import pytest

from kebab_stream.compare import compare
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.reports.offline import ErrorChanges, Latency, TopChanges
from tests.compare.lines import answered, failed, written
from tests.limits import public_folder, restricted

A = [
    answered({"query": "same"}, "abc", ms=1),
    answered({"query": "moved"}, "abc", ms=2),
    answered({"query": "lost"}, "abc", ms=3),
    answered({"query": "gained"}, "", ms=4),
    answered({"query": "nothing"}, "", ms=5),
    answered({"query": "breaks"}, "abc", ms=6),
    failed({"query": "heals"}, "timeout"),
    failed({"query": "stays broken"}, "timeout"),
    failed("no json", "invalid_input"),
]
B = [
    answered({"query": "same"}, "abc"),
    answered({"query": "moved"}, "bac"),
    answered({"query": "lost"}, "xyz"),
    answered({"query": "gained"}, "abc"),
    answered({"query": "nothing"}, ""),
    failed({"query": "breaks"}, "timeout"),
    answered({"query": "heals"}, "abc"),
    failed({"query": "stays broken"}, "stale_cursor"),
    failed("no json", "invalid_input"),
]


def test_two_runs_are_compared_query_by_query(tmp_path: Path) -> None:
    report = compare(written(tmp_path / "a", A), written(tmp_path / "b", B), k=2)

    assert (report.queries, report.compared, report.identical) == (9, 5, 2)
    assert report.top == TopChanges(same=1, moved=1, lost=1, gained=1)
    assert report.errors == ErrorChanges(both=1, only_a=1, only_b=1, other_code=1)
    assert (report.a.failed, report.b.failed) == (3, 3)
    assert report.overlap == pytest.approx((1 + 1 + 0 + 0 + 1) / 5)
    assert sum(report.rbo_histogram) == 5
    assert report.rbo_histogram[0] == 2
    assert report.a.latency == Latency(p50_ms=3.5, p90_ms=5.5, p99_ms=5.95)
    assert report.b.latency is None
    assert [(one.line, one.query) for one in report.worst] == [(3, "lost"), (4, "gained"), (2, "moved")]
    assert [hit.doc_path for hit in report.worst[0].b] == ["x.md", "y.md", "z.md"]


def test_only_the_worst_are_kept_and_ties_go_to_the_first(tmp_path: Path) -> None:
    a = [answered({"query": str(n)}, "abc") for n in range(20)]
    b = [answered({"query": str(n)}, "bca" if n % 2 else "xyz") for n in range(20)]
    report = compare(written(tmp_path / "a", a), written(tmp_path / "b", b), worst=3)

    assert [one.line for one in report.worst] == [1, 3, 5]


def test_documents_count_where_they_come_first(tmp_path: Path) -> None:
    a = written(tmp_path / "a", [answered({"query": "q"}, ["a1", "b1", "a2"])])
    b = written(tmp_path / "b", [answered({"query": "q"}, ["a2", "b2"])])

    assert compare(a, b, by="document").identical == 1
    assert compare(a, b, by="chunk").identical == 0


def test_the_modes_of_the_queries_may_differ(tmp_path: Path) -> None:
    a = written(tmp_path / "a", [answered({"id": 1, "query": "q", "mode": "lexical"}, "a")])
    b = written(tmp_path / "b", [answered({"id": 1, "query": "q", "mode": "hybrid"}, "a")])

    assert compare(a, b).identical == 1


@pytest.mark.parametrize(
    ("a", "b", "problem"),
    [
        (A, B[:-1], "ends before line 9"),
        (A[:1], [answered({"query": "other"}, "a")], 'line 1: the two answer different queries, "same" and "other"'),
        ([answered({"query": "q", "id": 1}, "a")], [answered({"query": "q", "id": 2}, "a")], "line 1: the two answer"),
        (A[:1], [{"query": "same"}], "line 1 is no bulk_search_item"),
        (A[:1], [{"query": {"query": "same"}, "response": {"hits": [1]}, "error": None}], "line 1 is no bulk"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(
    tmp_path: Path, a: list[dict[str, object]], b: list[dict[str, object]], problem: str
) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        compare(written(tmp_path / "a", a), written(tmp_path / "b", b))


def test_a_line_that_was_cut_off_is_told(tmp_path: Path) -> None:
    whole = written(tmp_path / "a", A)
    cut = tmp_path / "b"
    cut.write_bytes(whole.read_bytes()[:-9])

    with pytest.raises(InvalidInputError, match="line 9 is no bulk_search_item"):
        compare(whole, cut)


def test_empty_files_have_nothing_to_compare(tmp_path: Path) -> None:
    report = compare(written(tmp_path / "a", []), written(tmp_path / "b", []))

    assert (report.queries, report.overlap, report.rbo, report.worst) == (0, None, None, ())


def test_a_pipe_is_read_and_one_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInputError, match="ends before line 1"):
        compare(written(tmp_path / "a", A), tmp_path / "pipe")

    incoming, outgoing = os.pipe()  # as `<(…)` of a shell
    with os.fdopen(outgoing, "wb") as writer:
        Timer(0.2, writer.close).start()
        writer.write((tmp_path / "a").read_bytes())  # stays in its buffer until then
        report = compare(tmp_path / "a", Path(f"/dev/fd/{incoming}"))
    os.close(incoming)
    assert report.queries == len(A)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("score", None),
        ("score", "1"),
        ("heading_path", None),
        ("heading_path", [1]),
        ("snippet", 1),
        ("chunk_id", None),
    ],
)
def test_a_hit_that_cannot_be_shown_is_refused_with_its_line(tmp_path: Path, key: str, value: object) -> None:
    spoiled = [answered({"query": "q"}, "ab"), answered({"query": "r"}, "ab")]
    spoiled[1]["response"]["hits"][1][key] = value
    b = written(tmp_path / "b", spoiled)

    with pytest.raises(InvalidInputError, match=f"{b} line 2 is no bulk_search_item"):
        compare(written(tmp_path / "a", [answered({"query": q}, "xy") for q in "qr"]), b)


@pytest.mark.parametrize(
    "change",
    [
        {"response": None},
        {"response": []},
        {"response": {"hits": [], "trace": {"timing": {"total_ms": "1"}}}},
        {"error": {"code": None}},
        {"error": "timeout"},
    ],
)
def test_what_is_neither_an_answer_nor_an_error_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    b = written(tmp_path / "b", [{**answered({"query": "q"}, "ab"), **change}])

    with pytest.raises(InvalidInputError, match=f"{b} line 1 is no bulk_search_item"):
        compare(written(tmp_path / "a", [answered({"query": "q"}, "ab")]), b)


def test_a_file_that_may_not_be_read_is_a_storage_error() -> None:
    with public_folder() as folder:
        a = written(folder / "a", A)
        with restricted(a, 0o000), pytest.raises(StorageError, match=f"cannot read {a}"):
            compare(a, a)
