"""Reading sets in the layout of BEIR."""

import os
from pathlib import Path

import pytest

from kebab_stream.errors import InvalidInputError
from kebab_stream.evaluate.beir import entries, read_beir
from tests.evaluate.sets import QUERIES, TEXTS, lines, write_set
from tests.paths import SHARED


def problem(folder: Path) -> str:
    """What is wrong with a set, without the folder."""
    with pytest.raises(InvalidInputError) as caught:
        (read_beir(folder), list(entries(folder)))
    return str(caught.value).replace(str(folder), "SET")


def test_queries_come_with_their_grades_in_the_order_of_the_file(tmp_path: Path) -> None:
    judged = read_beir(write_set(tmp_path / "s"))

    assert [(one.id, one.query.query, one.grades) for one in judged.questions] == [
        ("q1", "golden onions", {"pan": 2, "도마": 1}),
        ("q2", "hot water", {"tea": 1}),
        ("질문", "양파 썰기", {"도마": 1}),
    ]
    assert (judged.name, judged.unjudged, judged.unknown_queries) == ("s", 1, 0)


def test_documents_come_with_their_titles(tmp_path: Path) -> None:
    corpus = '\ufeff{"_id": 7, "title": "T", "text": "a", "metadata": {}}\r\n\n{"_id": "b", "title": null, "text": ""}'
    found = list(entries(write_set(tmp_path / "s", corpus=corpus)))

    assert [(one.id, one.title, one.text) for one in found] == [("7", "T", "a"), ("b", "", "")]
    assert found[-1].end == len((tmp_path / "s" / "corpus.jsonl").read_bytes()) - 3


@pytest.mark.parametrize(
    "qrels",
    [
        "q1\tpan\t2\nq2\ttea\t1\n",
        "query-id\tcorpus-id\tscore\nq1\tpan\t2\nq2\ttea\t1.0\n",
        "q1 0 pan 2\nq2 0 tea 1\n",
        "q1 Q0 pan 2\r\n\r\nq2\tQ0\ttea\t1\r\nq2\tQ0\ttea\t1",
    ],
)
def test_judgements_have_three_columns_or_four_and_a_head_or_none(tmp_path: Path, qrels: str) -> None:
    judged = read_beir(write_set(tmp_path / "s", qrels=qrels))

    assert {one.id: one.grades for one in judged.questions} == {"q1": {"pan": 2}, "q2": {"tea": 1}}


def test_judgements_may_be_where_beir_has_them(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "s")
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")

    assert len(read_beir(folder).questions) == 3


def test_judged_queries_that_there_are_not_are_counted(tmp_path: Path) -> None:
    judged = read_beir(write_set(tmp_path / "s", qrels="q1 0 pan 1\nq8 0 pan 1\nq9 0 tea 1\nq9 0 pan 1\n"))

    assert (judged.unknown_queries, judged.unjudged) == (2, 3)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"corpus": '{"_id": "a", "text": "x"}\n{"_id": "b"\n'}, "corpus.jsonl:2: not valid JSON: "),
        ({"corpus": '\n["a"]'}, 'corpus.jsonl:2: expected a JSON object, got ["a"]'),
        ({"corpus": '{"text": "x"}'}, 'corpus.jsonl:1: "_id" is missing'),
        ({"corpus": '{"_id": true, "text": "x"}'}, 'corpus.jsonl:1: "_id": expected a text, got true'),
        ({"corpus": '{"_id": "a"}'}, 'corpus.jsonl:1: "text" is missing'),
        ({"corpus": '{"_id": "a", "text": 1}'}, 'corpus.jsonl:1: "text": expected a text, got 1'),
        ({"corpus": '{"_id": "a", "title": [], "text": ""}'}, 'corpus.jsonl:1: "title": expected a text, got []'),
        (
            {"corpus": '{"_id": "1", "text": ""}\n\n{"_id": 1, "text": ""}'},
            'corpus.jsonl:3: "_id" "1" is that of line 1',
        ),
        ({"corpus": "\n"}, "corpus.jsonl: no documents"),
        ({"queries": lines(QUERIES) + lines({"q1": "again"})}, 'queries.jsonl:5: "_id" "q1" is that of line 1'),
        ({"queries": lines({"q1": " \n"})}, "queries.jsonl:1: the query is blank"),
        ({"queries": ""}, "queries.jsonl: no queries"),
        ({"qrels": "q1\tpan\n"}, "qrels.tsv:1: expected 3 or 4 columns, got 2"),
        ({"qrels": "q1\tpan\t0.5\n"}, 'qrels.tsv:1: grade: expected a whole number, got "0.5"'),
        ({"qrels": "q1\tpan\t1\nq2\ttea\n"}, "qrels.tsv:2: expected 3 or 4 columns, got 2"),
        ({"qrels": "q1\tpan\t1\nq2\ttea\thigh\n"}, 'qrels.tsv:2: grade: expected a whole number, got "high"'),
        ({"qrels": "q1\tpan\t1\nq2\ttea\t0.5\n"}, 'qrels.tsv:2: grade: expected a whole number, got "0.5"'),
        ({"qrels": "q1\tpan\tNaN\nq1\ttea\t1\n"}, 'qrels.tsv:1: grade: expected a whole number, got "NaN"'),
        ({"qrels": "q9\tpan\tNaN\nq1\ttea\t1\n"}, 'qrels.tsv:1: grade: expected a whole number, got "NaN"'),
        ({"qrels": f"q9\tpan\t{10**20}\nq1\ttea\t1\n"}, "qrels.tsv:1: grade: expected a whole number"),
        ({"qrels": "q1\tpan\thigh\nq1\ttea\t1\n"}, 'qrels.tsv:1: grade: expected a whole number, got "high"'),
        ({"qrels": "q1\tpan\t1\nq1\tpan\t2\n"}, 'qrels.tsv:2: query "q1" and document "pan" have two grades'),
        ({"qrels": "q1\tpan\t0\n"}, ": no query of queries.jsonl has a relevant document"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(tmp_path: Path, files: dict[str, str], told: str) -> None:
    assert problem(write_set(tmp_path / "s", **files)).removeprefix("SET").lstrip("/").startswith(told)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_set(tmp_path / "s")
    (folder / name).unlink()

    assert name in problem(folder)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    folder = write_set(tmp_path / "s")
    (folder / name).unlink()
    os.mkfifo(folder / name)

    assert name in problem(folder)


def test_text_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "s")
    (folder / "qrels.tsv").write_bytes(b"q1\tpan\t1\nq2\t\xff\t1\n")

    assert problem(folder) == "SET/qrels.tsv:2: not valid UTF-8 at byte 4"


def test_a_folder_may_be_named_by_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_set(tmp_path / "here"))

    assert read_beir(Path()).name == "here"
    assert len(list(entries(Path()))) == len(TEXTS)


def test_real_sets_are_read_whole() -> None:
    folder = SHARED / "data" / "retrieval" / "scifact"
    if not folder.exists():
        pytest.skip("the shared data sets are not here")

    judged = read_beir(folder)

    assert (len(judged.questions), sum(len(one.grades) for one in judged.questions)) == (300, 339)
    assert sum(1 for _ in entries(folder)) == 5183
