"""Results with a journal: whatever a crash left, a run goes on from what can be trusted."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Config, Search
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.replay.answers import Answers
from kebab_stream.replay.journal import BEGINNING, SourceFacts, facts_of
from kebab_stream.replay.lines import Batch, Position
from kebab_stream.replay.results import FileResults, StreamResults
from kebab_stream.replay.tally import Tally
from tests.corpora import config_of

FACTS = SourceFacts(size=100, checksum="c0ffee", lines=10)
STEPS = [
    (
        Batch((), 1, Position(10 * n, n)),
        Answers(b"answer %d\n" % n * n, Tally(succeeded=n, failed=1, bad_lines=1, times={n: n})),
    )
    for n in range(1, 5)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def opened(path: Path, *, resume: bool = False, force: bool = False, config: Config | None = None) -> FileResults:
    return FileResults.open(path, config or config_of(path.parent), FACTS, "r1", resume=resume, force=force)


def written(path: Path, steps: int, *, finish: bool = False) -> None:
    results = opened(path, force=True)
    for batch, answers in STEPS[:steps]:
        results.add(batch, answers)
    if finish:
        results.finish()
    results.close()


def journal_of(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


def test_a_run_goes_on_where_it_stands(folder: Path) -> None:
    written(folder / "a", 3)
    results = opened(folder / "a", resume=True)

    assert results.state.position == Position(30, 3)
    assert results.state.tally == Tally(succeeded=6, failed=3, bad_lines=3, blank_lines=3, times={1: 1, 2: 2, 3: 3})
    results.close()


@given(st.data())
def test_whatever_a_crash_cut_off_the_run_ends_like_one_that_was_never_cut(folder: Path, data: st.DataObject) -> None:
    path = folder / "cut"
    written(path, 4, finish=True)
    whole, whole_journal = path.read_bytes(), journal_of(path).read_bytes()
    header_end = whole_journal.index(b"\n") + 1
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    journal_of(path).write_bytes(whole_journal[: data.draw(st.integers(header_end, len(whole_journal)))])
    results = opened(path, resume=True)
    for batch, answers in STEPS[results.state.position.lines :]:
        results.add(batch, answers)
    results.finish()
    results.close()

    assert path.read_bytes() == whole
    assert journal_of(path).read_bytes() == whole_journal


def test_output_that_is_not_what_was_written_is_replaced(folder: Path) -> None:
    path = folder / "flipped"
    written(path, 4)
    flipped = bytearray(path.read_bytes())
    flipped[15] ^= 1  # in the second batch
    path.write_bytes(flipped)
    results = opened(path, resume=True)

    assert results.state.position == Position(10, 1)
    assert path.read_bytes() == STEPS[0][1].output
    results.close()


def test_a_finished_run_is_left_alone(folder: Path) -> None:
    path = folder / "finished"
    written(path, 4, finish=True)
    before = path.read_bytes(), journal_of(path).read_bytes()
    results = opened(path, resume=True)
    results.finish()
    results.close()

    assert results.state.finished
    assert (path.read_bytes(), journal_of(path).read_bytes()) == before


@pytest.mark.parametrize(
    ("facts", "revision", "search", "problem"),
    [
        (replace(FACTS, checksum="0"), "r1", Search(), "the input changed"),
        (FACTS, "r2", Search(), "the index changed: corpus_revision is r2"),
        (FACTS, "r1", Search(default_k=5), "search.default_k is 5, it was 10"),
    ],
)
def test_a_run_is_not_continued_on_something_else(
    folder: Path, facts: SourceFacts, revision: str, search: Search, problem: str
) -> None:
    path = folder / "other"
    written(path, 2)
    before = path.read_bytes(), journal_of(path).read_bytes()

    with pytest.raises(InvalidInputError, match=problem):
        FileResults.open(path, config_of(folder, search=search), facts, revision, resume=True, force=False)
    assert (path.read_bytes(), journal_of(path).read_bytes()) == before


def test_another_program_does_not_continue(folder: Path) -> None:
    path = folder / "older"
    written(path, 2)
    journal_of(path).write_bytes(journal_of(path).read_bytes().replace(b'"version":"', b'"version":"0.'))

    with pytest.raises(InvalidInputError, match="it was 0\\."):
        opened(path, resume=True)


@pytest.mark.parametrize("resume", [False, True])
def test_results_without_a_journal_are_not_replaced_silently(folder: Path, resume: bool) -> None:
    path = folder / "foreign"
    path.write_bytes(b"precious\n")

    with pytest.raises(InvalidInputError, match="has content already"):
        opened(path, resume=resume)
    assert path.read_bytes() == b"precious\n"
    assert not journal_of(path).exists()


def test_without_a_journal_a_run_begins(folder: Path) -> None:
    results = opened(folder / "new", resume=True)

    assert results.state.position == Position()
    results.close()


def test_a_journal_cut_in_its_first_line_tells_nothing(folder: Path) -> None:
    path = folder / "torn"
    journal_of(path).write_bytes(b'{"journal":"keb')
    results = opened(path, resume=True)

    assert results.state.position == Position()
    assert journal_of(path).read_bytes().startswith(BEGINNING + b'2"')
    results.close()


def test_two_runs_do_not_write_the_same_file(folder: Path) -> None:
    first = opened(folder / "twice")

    with pytest.raises(StorageError, match="another replay is writing"):
        opened(folder / "twice", resume=True)
    first.close()
    opened(folder / "twice", resume=True).close()


def test_two_names_of_one_file_are_not_written_at_once(folder: Path) -> None:
    first = opened(folder / "named")
    (folder / "second-name").symlink_to(folder / "named")

    with pytest.raises(StorageError, match="another replay is writing"):
        opened(folder / "second-name", force=True)
    with pytest.raises(StorageError, match="another replay is writing"):
        StreamResults.open(folder / "second-name", force=True)
    first.close()


@given(st.data())
def test_a_journal_whose_bytes_changed_is_trusted_up_to_there(folder: Path, data: st.DataObject) -> None:
    path = folder / "garbled"
    written(path, 4, finish=True)
    whole, journal = path.read_bytes(), bytearray(journal_of(path).read_bytes())
    header_end = journal.index(b"\n") + 1
    place = data.draw(st.integers(header_end, len(journal) - 1))
    journal[place] ^= data.draw(st.integers(1, 255))
    journal_of(path).write_bytes(journal)
    results = opened(path, resume=True)
    done = results.state.position.lines

    assert done <= journal[header_end:place].count(b"\n")
    assert path.read_bytes() == b"".join(answers.output for _, answers in STEPS[:done])
    assert whole.startswith(path.read_bytes())
    results.close()


def test_what_was_added_to_a_finished_file_is_neither_kept_silently_nor_removed(folder: Path) -> None:
    path = folder / "longer"
    written(path, 4, finish=True)
    path.write_bytes(path.read_bytes() + b"mine\n")

    with pytest.raises(InvalidInputError, match="goes on behind what its finished run wrote"):
        opened(path, resume=True)
    assert path.read_bytes().endswith(b"mine\n")


@pytest.mark.parametrize(("resume", "force"), [(False, False), (True, False), (False, True)])
def test_a_file_in_the_place_of_the_journal_is_left_alone(folder: Path, resume: bool, force: bool) -> None:
    path = folder / "diary"
    journal_of(path).write_bytes(b"dear journal\n")

    with pytest.raises(InvalidInputError, match="is no journal of a replay"):
        opened(path, resume=resume, force=force)
    assert journal_of(path).read_bytes() == b"dear journal\n"
    assert not path.exists()


def test_a_folder_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(StorageError, match="No such file or directory"):
        opened(folder / "none" / "a")


def test_a_stream_of_results_refuses_a_file_with_content(folder: Path) -> None:
    path = folder / "stream"
    path.write_bytes(b"old\n")

    with pytest.raises(InvalidInputError, match="has content already"):
        StreamResults.open(path, force=False)
    results = StreamResults.open(path, force=True)
    results.add(*STEPS[0])
    results.close()
    assert path.read_bytes() == STEPS[0][1].output


@given(st.binary(max_size=300))
def test_lines_of_an_input_are_counted(folder: Path, data: bytes) -> None:
    path = folder / "input"
    path.write_bytes(data)
    with path.open("rb") as file:
        facts = facts_of(file)

    lines = data.split(b"\n")
    assert (facts.size, facts.lines) == (path.stat().st_size, len(lines) - (lines[-1] == b""))
