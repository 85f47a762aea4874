"""Asking the queries of a set."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kebab_stream.config import Chunking, Ingest
from kebab_stream.engine import Engine
from kebab_stream.errors import EmbeddingsDisabledError, InvalidInputError, NotIndexedError
from kebab_stream.evaluate import evaluate, read_set
from kebab_stream.evaluate.corpus import indexed_corpus, path_of
from kebab_stream.evaluate.judged import Question
from kebab_stream.evaluate.metrics import measure
from kebab_stream.evaluate.run import rank, worst_queries
from kebab_stream.evaluate.targets import CorpusTargets, GoldenTargets, id_of
from kebab_stream.model import MODES, SearchQuery
from kebab_stream.reports.quality import EvalLatency, EvalSet
from tests.evaluate.sets import TEXTS, config_at, evaluated, lines, write_set

NAMES = ["pan", "guide/a.md", "4983", "", "../x", "공백 있는", "a/-.txt", "b.pdf", "src/Main.java"]


def without_times(result: EvalSet) -> EvalSet:
    """A result with what differs from run to run taken out."""
    return replace(
        result,
        modes=tuple(replace(mode, latency=EvalLatency(p50_ms=0, p90_ms=0, p99_ms=0)) for mode in result.modes),
        results=tuple(
            replace(one, answers=tuple(replace(answer, elapsed_ms=0.0) for answer in one.answers))
            for one in result.results
        ),
    )


def top_ids(result: EvalSet, query: str, mode: str) -> list[str]:
    (one,) = [one for one in result.results if one.id == query]
    (answer,) = [answer for answer in one.answers if answer.mode == mode]
    return [hit.id for hit in answer.top]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> EvalSet:
    """The small set in all modes, with the bundled model."""
    folder = tmp_path_factory.mktemp("set")
    return evaluated(write_set(folder / "small"), config_at(folder / "data", vectors=True))


def test_every_mode_answers_every_judged_query(small: EvalSet) -> None:
    assert [mode.mode for mode in small.modes] == list(MODES)
    assert (small.queries, small.unjudged, small.documents, small.chunks) == (3, 1, 5, 4)
    assert small.embedding_model == "static-koen-256"
    assert top_ids(small, "질문", "lexical")[0] == "도마"
    assert top_ids(small, "q2", "hybrid")[0] == "tea"


def test_the_mean_is_that_of_the_queries(small: EvalSet) -> None:
    for place, mode in enumerate(small.modes):
        for name, mean in mode.metrics.items():
            values = [one.answers[place].metrics[name] for one in small.results]
            assert mean == pytest.approx(sum(values) / len(values), abs=1e-6)


def test_measures_are_of_the_ranking_that_is_shown(small: EvalSet) -> None:
    grades = {"q1": {"pan": 2, "도마": 1}, "q2": {"tea": 1}, "질문": {"도마": 1}}
    for one in small.results:
        for answer in one.answers:
            expected = measure([hit.id for hit in answer.top], grades[one.id], k=10)
            assert answer.metrics == pytest.approx(expected, abs=1e-6)
            assert [hit.grade for hit in answer.top] == [grades[one.id].get(hit.id) for hit in answer.top]


def test_two_runs_differ_in_their_times_only(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set")
    config = config_at(tmp_path / "data")

    assert without_times(evaluated(folder, config, "lexical")) == without_times(evaluated(folder, config, "lexical"))


def test_a_corpus_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    evaluated(write_set(tmp_path / "set"), config_at(tmp_path / "data"), "lexical")

    assert not (tmp_path / "data").exists()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_document_counts_once_where_its_best_chunk_is(tmp_path: Path) -> None:
    texts = {"long": "\n\n".join(f"kettle {word} " * 12 for word in ("one", "two", "three")), "short": "a kettle"}
    config = replace(
        config_at(tmp_path / "data"), ingest=Ingest(chunking=Chunking(target_chars=120, overlap_chars=0, max_chars=200))
    )
    folder = write_set(
        tmp_path / "set", corpus=lines(texts), queries=lines({"q": "kettle one"}), qrels="q 0 long 1\nq 0 short 1\n"
    )

    result = evaluated(folder, config, "lexical")

    assert result.chunks > result.documents
    assert top_ids(result, "q", "lexical") == ["long", "short"]


def test_a_judged_document_that_the_corpus_lacks_counts_as_not_found(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", qrels="q1 0 pan 1\nq1 0 gone 1\n")

    result = evaluated(folder, config_at(tmp_path / "data"), "lexical")

    assert result.absent_targets == 1
    assert [(one.id, one.in_index) for one in result.results[0].expected] == [("pan", True), ("gone", False)]
    assert result.modes[0].metrics["recall@10"] == 0.5


def test_stopping_early_changes_no_measure(tmp_path: Path) -> None:
    words = ["kettle", "onion", "pan", "tea", "water", "leaf"]
    texts = {f"d{n}": " ".join(words[: n % 6 + 1]) + f" {words[n % 5]}" * (n % 4) for n in range(150)}
    folder = write_set(tmp_path / "set", corpus=lines(texts), queries=lines({"q": "kettle tea"}), qrels="q 0 d3 1\n")
    question = Question("q", SearchQuery(query="kettle tea"), {f"d{n}": n % 3 for n in range(0, 150, 7)})
    with indexed_corpus(config_at(tmp_path / "data"), folder, lambda *_: None) as engine:
        targets = CorpusTargets(engine.snapshot.store)
        whole = rank(engine, replace(question, grades={"absent": 1}), "lexical", targets, depth=150)
        for wanted in ({"d3": 1}, {"d3": 1, "d140": 2}, question.grades):
            found = rank(engine, replace(question, grades=wanted), "lexical", targets, depth=100)

            assert found.ids == whole.ids[: len(found.ids)]
            assert measure(found.ids, wanted, k=10) == measure(whole.ids[:100], wanted, k=10)
    assert len(whole.ids) == 150


def test_an_id_gives_its_document_no_word(tmp_path: Path) -> None:
    folder = write_set(
        tmp_path / "set",
        corpus=lines({"onions": "one", "a": "onions"}),
        queries=lines({"q": "onions"}),
        qrels="q 0 a 1\n",
    )

    assert top_ids(evaluated(folder, config_at(tmp_path / "data"), "lexical"), "q", "lexical") == ["a"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "a/-.txt"])
def test_an_id_is_told_from_its_path(name: str) -> None:
    assert id_of(path_of(name)) == name


def test_ids_have_paths_of_their_own() -> None:
    assert len({path_of(name) for name in NAMES}) == len(NAMES)


def test_an_id_that_ends_like_a_file_is_read_as_one(tmp_path: Path) -> None:
    folder = write_set(
        tmp_path / "set",
        corpus=lines({"a.md": "# Tea\n\nleaves\n\n# Pan\n\nonions"}),
        queries=lines({"q": "onions"}),
        qrels="q 0 a.md 1\n",
    )
    with indexed_corpus(config_at(tmp_path / "data"), folder, lambda *_: None) as engine:
        (hit,) = engine.search(SearchQuery(query="onions"))

    assert (hit.doc_path, hit.heading_path) == ("a.md", ("Pan",))


def test_the_title_is_found_and_is_part_of_the_text(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", corpus='{"_id": "a", "title": "Kettles", "text": "hot"}')
    with indexed_corpus(config_at(tmp_path / "data"), folder, lambda *_: None) as engine:
        (hit,) = engine.search(SearchQuery(query="kettle"))
        (document,) = engine.documents()

        assert (hit.snippet, document.title) == ("Kettles\n\nhot", "Kettles")
        assert CorpusTargets(engine.snapshot.store).text_of("a") == "Kettles\n\nhot"


def test_k_names_and_cuts_the_measures(tmp_path: Path) -> None:
    result = evaluated(write_set(tmp_path / "set"), config_at(tmp_path / "data"), "lexical", k=1)

    assert list(result.modes[0].metrics) == ["ndcg@1", "recall@1", "recall@100", "mrr@1"]


def test_without_a_model_vector_says_why(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingsDisabledError):
        evaluated(write_set(tmp_path / "set"), config_at(tmp_path / "data"), "vector")


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    judged = read_set(write_set(tmp_path / "set"))
    evaluate(config_at(tmp_path / "data"), judged, ["lexical"], k=10, progress=lambda *one: told.append(one))

    size = (tmp_path / "set" / "corpus.jsonl").stat().st_size
    assert told == [("set: indexing", size, size), *(("set: lexical", done, 3) for done in (1, 2, 3))]


@pytest.mark.parametrize("name", ["absent", "notes.txt"])
def test_what_is_no_set_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("x")

    with pytest.raises(InvalidInputError, match=name):
        read_set(tmp_path / name)


class TestGolden:
    """A golden file over the fixture corpus."""

    @staticmethod
    def result(
        folder: Path, data_dir: Path, expect: Sequence[str], query: str = "restore the wiki database"
    ) -> EvalSet:
        path = folder / "golden.yaml"
        path.write_text(f"- query: {query}\n  expect: {list(expect)!r}\n", encoding="utf-8")
        return evaluated(path, config_at(data_dir), "lexical")

    def test_paths_are_documents(self, tmp_path: Path, fixture_data: Path) -> None:
        result = self.result(tmp_path, fixture_data, ["en/backup-runbook.md", "nowhere.md"])

        (one,) = result.results
        assert (result.kind, result.documents, result.absent_targets) == ("golden", 26, 1)
        assert (one.answers[0].first_rank, one.answers[0].metrics["recall@10"]) == (1, 0.5)
        assert len(set(top_ids(result, one.id, "lexical"))) == len(top_ids(result, one.id, "lexical"))

    def test_a_path_may_stand_behind_its_source(self, tmp_path: Path, fixture_data: Path) -> None:
        expect = ["corpus/en/backup-runbook.md", "other/en/backup-runbook.md"]

        result = self.result(tmp_path, fixture_data, expect)

        (one,) = result.results
        assert [target.in_index for target in one.expected] == [True, False]
        assert one.answers[0].first_rank == 1

    def test_headings_and_chunks_are_parts(self, tmp_path: Path, fixture_data: Path) -> None:
        with Engine.open(config_at(fixture_data)) as engine:
            first, second, *_ = engine.search(SearchQuery(query="restore the wiki database", mode="lexical"))
        heading = f"{second.doc_path}#{second.heading_path[-1].upper()}"

        result = self.result(tmp_path, fixture_data, [first.chunk_id, heading])

        assert top_ids(result, "restore the wiki database", "lexical")[:2] == [first.chunk_id, heading]
        assert all(re.search(r"#L\d+", one) for one in top_ids(result, "restore the wiki database", "lexical")[2:])
        assert result.modes[0].metrics["ndcg@10"] == 1

    def test_what_is_not_there_is_told(self, tmp_path: Path, fixture_data: Path) -> None:
        absent = ["en/backup-runbook.md#No such heading", "0" * 32, "glossary.md"]

        result = self.result(tmp_path, fixture_data, absent)

        assert [one.in_index for one in result.results[0].expected] == [False, False, True]

    def test_the_index_of_the_settings_is_asked(self, tmp_path: Path) -> None:
        with pytest.raises(NotIndexedError):
            self.result(tmp_path, tmp_path / "data", ["a.md"])

    def test_nothing_is_written(self, tmp_path: Path, fixture_data: Path) -> None:
        data = shutil.copytree(fixture_data, tmp_path / "data")
        before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
        self.result(tmp_path, data, ["glossary.md"])

        assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before

    def test_a_path_may_have_a_number_sign(self, tmp_path: Path) -> None:
        folder = write_set(
            tmp_path / "set",
            corpus=lines({"C#.md": "# F#\n\nsharp", "C.md": "flat"}),
            queries=lines({"q": "sharp"}),
            qrels="q 0 C#.md 1",
        )
        with indexed_corpus(config_at(tmp_path / "data"), folder, lambda *_: None) as engine:
            targets = GoldenTargets(engine.snapshot.store)
            (hit,) = engine.search(SearchQuery(query="sharp"))

            assert targets.of_hit(hit, {"C#.md": 1}) == ["C#.md"]
            assert targets.of_hit(hit, {"C#.md#F#": 1, "C.md": 1}) == ["C#.md#F#"]
            assert targets.of_hit(hit, {"C.md": 1}) == ("C#.md",)


def test_the_worst_come_first_and_perfect_answers_not_at_all(small: EvalSet) -> None:
    def with_values(*values: float) -> EvalSet:
        one = small.results[0]
        answers = [replace(answer, metrics={"m": value}) for answer, value in zip(one.answers, values, strict=True)]
        return replace(small, results=(replace(one, answers=tuple(answers)),))

    results = [
        with_values(*values).results[0] for values in ((0, 0, 0.5), (0, 0, 0), (1, 1, 1), (1, 0, 0), (0.5, 0, 0))
    ]

    assert worst_queries(results, 4) == [3, 4, 1, 0]
    assert worst_queries(results, 2) == [3, 4]


def test_the_worst_queries_have_excerpts(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", qrels="q1 0 tea 1\nq2 0 tea 1\n")

    wrong, right = evaluated(folder, config_at(tmp_path / "data"), "lexical").results

    assert (wrong.expected[0].excerpt, wrong.answers[0].top[0].excerpt) == (TEXTS["tea"], TEXTS["pan"])
    assert (right.expected[0].excerpt, right.answers[0].top[0].excerpt) == (None, None)
