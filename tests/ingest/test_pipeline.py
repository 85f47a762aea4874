"""A whole run: all or nothing, whatever ends it; one at a time; the same bytes on every machine."""

import functools
import gc
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import anyio
import pytest

from kebab_stream.concurrency import run_blocking
from kebab_stream.errors import IndexCorruptError, IndexLockedError, StorageError
from kebab_stream.index.lock import write_lock
from kebab_stream.ingest import IngestRequest, Progress, ingest
from kebab_stream.ingest.pipeline import _read
from kebab_stream.reports.ingest import IngestPhase, IngestReport
from tests.index.stored import listing
from tests.ingest.runs import Library
from tests.ingest.test_index_update import EVERY_ROW
from tests.limits import public_folder, restricted
from tests.paths import FIXTURES, ROOT

FILES = 100


def state(word: str, files: int = FILES) -> dict[str, str | bytes | None]:
    """Many files that all hold this word."""
    return {f"{number:03}.md": f"# {word}\n\n{word} of file {number}\n" for number in range(files)}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Many documents in the state `before`, whose files are in the state `after`."""
    library = Library.at(tmp_path)
    library.update(state("before"))
    library.write(state("after"))
    return library


def assert_nothing_changed(library: Library) -> None:
    assert (len(library.find("before")), len(library.find("after"))) == (FILES, 0)
    assert library.generations() == [library.revision()]
    assert library.revision().startswith("00000001-")


def assert_nobody_writes(library: Library) -> None:
    with write_lock(library.data_dir):
        assert not list(library.data_dir.glob(".*"))


def assert_the_next_run_works(library: Library) -> None:
    assert library.update() == f"0 {FILES} 0 0"
    assert (len(library.find("before")), len(library.find("after"))) == (0, FILES)
    assert library.generations() == [library.revision()]
    assert library.revision().startswith("00000002-")
    assert not list(library.data_dir.glob(".*"))


# --- a run that ends early -------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["scan", "read", "index", "commit"])
async def test_a_cancelled_run_changes_nothing(library: Library, when: str) -> None:
    told = []

    def cancel(phase: IngestPhase, done: int, total: int) -> None:
        told.append(phase)
        if phase == when:
            scope.cancel()

    with anyio.CancelScope() as scope:
        await ingest(library.config, IngestRequest(paths=[library.root], rebuild_index=True), cancel)

    assert scope.cancelled_caught
    assert told[-1] == when
    await run_blocking(assert_nothing_changed, library)
    await run_blocking(assert_nobody_writes, library)


@pytest.mark.parametrize("when", ["scan", "read", "index", "commit"])
def test_a_full_disk_is_a_storage_error_and_changes_nothing(library: Library, when: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_the_disk(phase: IngestPhase, done: int, total: int) -> None:
        if phase == when:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))

    before = listing(library.data_dir)
    try:
        with pytest.raises(StorageError, match=r"File too large|full|disk I/O error"):
            library.ingest(library.root, rebuild_index=True, progress=fill_the_disk)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert_nothing_changed(library)
    assert {path for path, *_ in listing(library.data_dir)} == {path for path, *_ in before}
    assert_the_next_run_works(library)


def fail_at(when: IngestPhase) -> Progress:
    def fail(phase: IngestPhase, done: int, total: int) -> None:
        if phase == when:
            raise StorageError("nobody listens")

    return fail


def test_an_error_of_ours_comes_as_it_is_and_not_in_a_group(library: Library) -> None:
    with pytest.raises(StorageError, match="nobody listens"):
        library.ingest(library.root, progress=fail_at("read"))
    assert_nothing_changed(library)


def test_a_data_folder_that_cannot_be_written_is_a_storage_error() -> None:
    with public_folder() as place:
        library = Library.at(place)
        library.update({"a.md": "apple"})
        before = listing(library.data_dir)
        with restricted(library.data_dir, 0o555), pytest.raises(StorageError, match="Permission denied"):
            library.ingest()

        assert listing(library.data_dir) == before


KILLED = """
import os, signal, sys
from pathlib import Path

def about_to_write(event, args):
    is_write = event in {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "sqlite3.connect"} or (
        event == "open" and args[0] is not None and args[2] & (os.O_WRONLY | os.O_RDWR)
    )
    if is_write and any(str(arg).startswith(sys.argv[2]) for arg in args):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

left = int(sys.argv[1])
sys.addaudithook(about_to_write)
from kebab_stream.cli.main import run
status = run(["ingest", "--json"])
print(int(sys.argv[1]) - left, file=sys.stderr)
sys.exit(status)
"""
"""Runs an ingest, and kills itself just before its n-th change of the data folder."""


def run_and_kill(library: Library, before_change: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", KILLED, str(before_change), str(library.data_dir)],
        cwd=ROOT,
        env=os.environ
        | {
            "KEBAB_STORAGE_DATA_DIR": str(library.data_dir),
            "KEBAB_MODELS_EMBEDDING_PROVIDER": "none",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_killed_run_leaves_the_old_state_or_the_new_one(library: Library, tmp_path: Path) -> None:
    shutil.copytree(library.data_dir, tmp_path / "before")
    whole_run = run_and_kill(library, 0)
    changes = int(whole_run.stderr)
    outcomes = []
    for kill in range(1, changes + 1, changes // 5):
        shutil.rmtree(library.data_dir)
        shutil.copytree(tmp_path / "before", library.data_dir)

        assert run_and_kill(library, kill).returncode == -9

        found = (len(library.find("before")), len(library.find("after")))
        assert found in {(FILES, 0), (0, FILES)}
        outcomes.append(found == (0, FILES))
        library.ingest(library.root)
        assert (len(library.find("before")), len(library.find("after"))) == (0, FILES)
        assert len(library.generations()) == 1
        assert not list(library.data_dir.glob(".*"))
    assert changes > 20
    assert outcomes == sorted(outcomes)


def open_in(folder: Path) -> list[str]:
    """Files of a folder that this process has open or mapped."""
    for _ in range(2):  # what the first one finalises may hold on to files
        gc.collect()
    links = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return [link for link in links if link.startswith(str(folder))]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="tells open files by /proc")
def test_nothing_stays_open(library: Library) -> None:
    with pytest.raises(StorageError):
        library.ingest(library.root, progress=fail_at("read"))
    assert open_in(library.data_dir) == []
    assert_the_next_run_works(library)
    (library.data_dir / "index" / library.revision() / "texts.folded").unlink()
    with pytest.raises(IndexCorruptError):
        library.find("after")
    library.ingest(rebuild_index=True)
    (library.data_dir / "kebab.sqlite").write_bytes(b"damaged")
    with pytest.raises(IndexCorruptError):
        library.ingest()

    assert open_in(library.data_dir) == []


# --- a run that is asked to stop -------------------------------------------------------------------------


def stopped(library: Library, when: IngestPhase, *, rebuild_index: bool = False) -> IngestReport | None:
    """An ingest that is asked to stop when it first tells of this phase."""
    stop = Event()

    def ask(phase: IngestPhase, done: int, total: int) -> None:
        if phase == when:
            stop.set()

    request = IngestRequest(paths=[library.root], rebuild_index=rebuild_index)
    return anyio.run(functools.partial(ingest, library.config, request, ask, stop=stop))


def test_a_stopped_run_commits_the_files_that_it_has_read(library: Library) -> None:
    report = stopped(library, "read")

    assert report
    assert report.interrupted
    assert 0 < report.updated < FILES
    assert report.not_reached == FILES - report.updated
    assert len(library.find("after")) == report.updated
    assert library.update() == f"0 {report.not_reached} {report.updated} 0"


def test_a_stopped_first_run_commits_too(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    library.write(state("first"))

    report = stopped(library, "read")

    assert report
    assert len(library.find("first")) == report.new == FILES - report.not_reached


def test_a_run_that_is_stopped_after_reading_is_complete(library: Library) -> None:
    report = stopped(library, "commit")

    assert report
    assert (report.updated, report.not_reached) == (FILES, 0)
    assert len(library.find("after")) == FILES


def test_half_an_index_is_never_committed(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    library.update({"long.md": "".join(f"# Heading {number}\n\n" + "word " * 300 for number in range(300))})
    revision = library.revision()

    assert stopped(library, "index", rebuild_index=True) is None
    assert library.generations() == [library.revision()] == [revision]
    assert not list(library.data_dir.glob(".*"))


# --- one at a time ---------------------------------------------------------------------------------------


def test_a_second_run_is_refused_and_changes_nothing(library: Library) -> None:
    with write_lock(library.data_dir), pytest.raises(IndexLockedError) as caught:
        library.ingest()

    assert caught.value.details == {"pid": os.getpid()}
    assert_nothing_changed(library)
    assert_the_next_run_works(library)


async def test_of_two_runs_at_once_one_is_refused(library: Library) -> None:
    outcomes: list[object] = []

    async def run() -> None:
        try:
            outcomes.append(await ingest(library.config, IngestRequest(), lambda *_: None))
        except IndexLockedError as error:
            outcomes.append(error)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        tasks.start_soon(run)

    assert sorted(isinstance(outcome, IndexLockedError) for outcome in outcomes) == [False, True]


# --- what it tells ---------------------------------------------------------------------------------------


def phases(run: Callable[..., object]) -> list[tuple[IngestPhase, int, int]]:
    told: list[tuple[IngestPhase, int, int]] = []
    run(progress=lambda *state: told.append(state))
    return told


def test_progress_is_told_in_order_and_up_to_the_end(library: Library) -> None:
    first = phases(functools.partial(library.ingest, library.root))

    assert [phase for phase, _, _ in first] == ["scan", "read", "read", "read", "read", "commit", "done"]
    assert [state for state in first if state[0] == "read"] == [("read", done, FILES) for done in (32, 64, 96, FILES)]
    assert phases(library.ingest) == [("scan", 0, 0), ("commit", 0, 0), ("done", 0, 0)]
    assert phases(functools.partial(library.ingest, rebuild_index=True)) == [
        ("scan", 0, 0),
        ("index", FILES, FILES),
        ("commit", 0, 0),
        ("done", 0, 0),
    ]


# --- the same bytes on every machine ---------------------------------------------------------------------


def copied(source: Path, target: Path, order: Callable[[list[Path]], Sequence[Path]]) -> Path:
    """A copy of a folder whose files were made in another order."""
    for path in order(sorted(path for path in source.rglob("*") if path.is_file())):
        (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target / path.relative_to(source))
    return target


def test_hash_seed_threads_and_file_order_make_no_difference(tmp_path: Path) -> None:
    libraries = []
    for seed, order in (("1", list), ("2", lambda paths: paths[::-1])):
        library = Library.at(tmp_path / seed)
        root = copied(FIXTURES / "corpus", tmp_path / seed / "corpus", order)
        env = {"PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": seed, "KEBAB_STORAGE_DATA_DIR": str(library.data_dir)}
        subprocess.run(
            [sys.executable, "-m", "kebab_stream", "ingest", root, "--json"],
            cwd=ROOT,
            env=os.environ | env,
            check=True,
            capture_output=True,
        )
        libraries.append(library)

    assert libraries[0].index_files() == libraries[1].index_files()
    assert libraries[0].rows(EVERY_ROW) == libraries[1].rows(EVERY_ROW)
    assert libraries[0].rows("SELECT doc_no, hex(doc_id) FROM documents") == libraries[1].rows(
        "SELECT doc_no, hex(doc_id) FROM documents"
    )


# --- files that change meanwhile -------------------------------------------------------------------------


@pytest.mark.parametrize("become", ["link", "pipe", "large"])
async def test_a_file_that_became_something_else_is_not_read(tmp_path: Path, become: str) -> None:
    path = tmp_path / "a.md"
    match become:
        case "link":
            (tmp_path / "secret.md").write_text("secret")
            path.symlink_to(tmp_path / "secret.md")
        case "pipe":
            os.mkfifo(path)
        case _:
            path.write_text("x" * 101)

    assert isinstance(await _read(path, 100), OSError)
    (tmp_path / "b.md").write_text("x" * 100)
    assert await _read(tmp_path / "b.md", 100) == b"x" * 100
