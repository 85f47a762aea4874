"""Damaged files, full disks, folders that may not be written or read: a clear code, no wrong answer, and a way out."""

import functools
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kebab_stream.doctor import diagnose
from kebab_stream.engine import Engine
from kebab_stream.errors import IndexCorruptError, IndexLockedError, NotIndexedError, StorageError
from kebab_stream.index import graph
from kebab_stream.index.data_folder import remove_own
from kebab_stream.index.store import STORE_FILE
from kebab_stream.model import SearchQuery
from tests.cli.program import kebab
from tests.durability.damage import KINDS, damage, damaged, library_with_graph, stored_files
from tests.durability.states import answers, check_whole, listing, path_of, state, write
from tests.index import stored
from tests.index.test_generation import GRAPH, NAMES
from tests.index.test_lock import held_elsewhere
from tests.ingest.runs import Library
from tests.limits import largest_file, public_folder, restricted
from tests.paths import ROOT

INDEX_FILES = (*NAMES, GRAPH)

_EVERYTHING = """
import sys
from dataclasses import replace
from pathlib import Path
from kebab_stream.doctor import diagnose
from kebab_stream.errors import KebabError
from tests.durability.damage import library_with_graph
from tests.durability.states import answers
library = library_with_graph(Path(sys.argv[1]))
def code_of(name, action):
    try:
        action()
    except KebabError as error:
        return error.code
    return name
print(code_of("searched", lambda: answers(library.config)), diagnose(lambda: library.config).healthy)
print(code_of("ingested", lambda: library.ingest(Path(sys.argv[2]))))
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A library with every kind of index file; not to be changed."""
    library = library_with_graph(tmp_path_factory.mktemp("whole"))
    write(library.root, state(1))
    library.ingest(library.root)
    return library


@pytest.fixture(scope="module")
def right(whole: Library) -> str:
    """What is to be answered."""
    return answers(whole.config)


@pytest.fixture
def library(whole: Library, tmp_path: Path) -> Library:
    """The same, to be changed."""
    return copy_of(whole, tmp_path)


def copy_of(library: Library, place: Path) -> Library:
    """A library with its own data folder; the files and the model are shared."""
    data_dir = shutil.copytree(library.data_dir, place / "data")
    return replace(library, config=replace(library.config, storage=replace(library.config.storage, data_dir=data_dir)))


@pytest.fixture(autouse=True)
def _graphs_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although there are few vectors."""
    monkeypatch.setattr(graph, "LEAST_ASKED", 8)
    monkeypatch.setattr(graph, "OVER_FETCH", 0)


@contextmanager
def an_edited_file(library: Library) -> Iterator[None]:
    """One of the files is edited for a while."""
    write(library.root, state(1).edited([2]))
    try:
        yield
    finally:
        write(library.root, state(1))


@pytest.fixture(scope="module")
def edited(whole: Library, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is to be answered after the edit."""
    library = copy_of(whole, tmp_path_factory.mktemp("edited"))
    with an_edited_file(library):
        library.ingest(library.root)
    return answers(library.config)


def file_of(library: Library, name: str) -> Path:
    (path,) = (path for path in stored_files(library.config) if path.name == name)
    return path


def corrupt(action: Callable[[], object]) -> IndexCorruptError:
    """The error that an action ends with."""
    with pytest.raises(IndexCorruptError) as caught:
        action()
    return caught.value


# --- damaged files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INDEX_FILES)
def test_every_damage_of_an_index_file_is_told_and_mended_from_the_store(
    library: Library, right: str, name: str
) -> None:
    for kind in KINDS:
        with damaged(file_of(library, name), kind, random.Random(name + kind)):
            error = corrupt(lambda: answers(library.config))
            assert (error.hint, name in str(error)) == ("run `kebab ingest --rebuild-index`", True)

    damage(file_of(library, name), KINDS[INDEX_FILES.index(name) % len(KINDS)], random.Random(name))
    library.ingest(rebuild_index=True)
    assert answers(library.config) == right
    check_whole(library.config)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "missing"])
def test_every_damage_of_the_store_is_told_to_all_and_mended_from_the_files(
    whole: Library, right: str, tmp_path: Path, kind: str
) -> None:
    for seed in range(2):
        library = copy_of(whole, tmp_path / str(seed))
        path = library.data_dir / STORE_FILE
        damage(path, kind, random.Random(seed))

        for action in (
            functools.partial(answers, library.config),
            functools.partial(library.ingest, library.root),
            functools.partial(library.ingest, rebuild_index=True),
        ):
            hint = f"move {path} away and run `kebab ingest` with your folders again"
            assert corrupt(action).hint == hint
        path.rename(path.with_name("damaged"))
        library.ingest(library.root)
        assert answers(library.config) == right
        path.with_name("damaged").rename(tmp_path / f"damaged {seed}")
        check_whole(library.config)


@pytest.mark.parametrize("name", INDEX_FILES)
def test_damage_is_never_carried_over_into_a_new_state(library: Library, edited: str, name: str) -> None:
    damage(file_of(library, name), "flipped", random.Random(name))

    with an_edited_file(library):
        library.ingest(library.root)
    assert answers(library.config) == edited
    check_whole(library.config)


@pytest.mark.parametrize("name", INDEX_FILES)
def test_an_ingest_that_finds_nothing_changed_mends_damaged_index_files(
    library: Library, right: str, name: str
) -> None:
    damage(file_of(library, name), "flipped", random.Random(name))

    assert library.ingest(library.root).changed
    assert answers(library.config) == right
    check_whole(library.config)
    assert not library.ingest(library.root).changed


def test_damage_of_files_too_large_to_compare_each_time_is_mended_before_it_is_copied(
    library: Library, edited: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kebab_stream.ingest.index_update.CHECKED_BYTES", 0)
    damage(file_of(library, "texts.folded"), "flipped", random.Random(1))

    with an_edited_file(library):
        library.ingest(library.root)
    assert answers(library.config) == edited
    check_whole(library.config)


def test_a_link_in_the_place_of_the_index_folder_is_refused_by_everybody(library: Library, tmp_path: Path) -> None:
    elsewhere = (library.data_dir / "index").rename(tmp_path / "elsewhere")
    (library.data_dir / "index").symlink_to(elsewhere)
    before = listing(tmp_path)

    with an_edited_file(library):
        for action in (
            functools.partial(answers, library.config),
            functools.partial(library.ingest, library.root),
            functools.partial(library.ingest, rebuild_index=True),
            functools.partial(remove_own, library.data_dir),
        ):
            assert "index: a symbolic link" in str(corrupt(action))
    failed = {check.name for check in diagnose(lambda: library.config).checks if check.status == "fail"}
    assert failed == {"data_folder", "index", "leftovers"}
    assert listing(tmp_path) == before

    (library.data_dir / "index").unlink()
    elsewhere.rename(library.data_dir / "index")
    library.ingest(library.root)
    check_whole(library.config)


@pytest.mark.parametrize("names", [[STORE_FILE], ["manifest.json"], ["texts.folded", "cache.sqlite", "write.pid"]])
def test_a_named_pipe_in_the_place_of_a_file_keeps_nobody_waiting(
    library: Library, right: str, names: list[str]
) -> None:
    for name in names:
        path = next(library.data_dir.rglob(name), library.data_dir / name)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    command = [sys.executable, "-c", _EVERYTHING, str(library.data_dir.parent), str(library.root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)

    is_store = names == [STORE_FILE]
    assert done.stdout.split() == ["index_corrupt", "False", "index_corrupt" if is_store else "ingested"]
    if not is_store:
        assert answers(library.config) == right


def test_a_missing_index_folder_and_strange_ones_beside_it_are_no_obstacle(library: Library, right: str) -> None:
    folder = library.data_dir / "index" / library.revision()
    stale = shutil.copytree(folder, folder.with_name("00000009-0123456789ab"))
    (folder.with_name(".00000002-0123456789ab.partial")).mkdir()

    assert answers(library.config) == right
    shutil.rmtree(folder)
    assert corrupt(lambda: answers(library.config)).hint == "run `kebab ingest --rebuild-index`"
    library.ingest(rebuild_index=True)
    assert answers(library.config) == right
    assert not stale.exists()
    check_whole(library.config)


@pytest.mark.parametrize(
    "content", [b"{}", b"[" * 100_000, b"9" * 5000, b'{"files": {"a": [1e999, "0"]}}', b"\0" * 200]
)
def test_a_manifest_with_anything_in_it_is_told_and_mended(library: Library, right: str, content: bytes) -> None:
    file_of(library, "manifest.json").write_bytes(content)

    assert "manifest.json" in str(corrupt(lambda: answers(library.config)))
    library.ingest()
    assert answers(library.config) == right


def run_damage(library: Library, rounds: int, limit: int) -> dict[str, int]:
    """What came of damages in a process of their own, each file as often as there are rounds."""
    place = library.data_dir.parent
    shutil.copytree(library.root, place / "notes")
    command = [sys.executable, "-m", "tests.durability.damage", str(place), "1", str(rounds), str(limit)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def test_no_damage_of_small_files_goes_unnoticed(library: Library) -> None:
    counts = run_damage(library, rounds=20, limit=1 << 20)

    assert {what.split()[1] for what in counts} == {"index_corrupt"}, counts


def test_damage_of_files_too_large_to_compare_never_ends_in_anything_but_an_answer_or_a_clear_code(
    library: Library,
) -> None:
    counts = run_damage(library, rounds=6, limit=0)

    assert {what.split()[1] for what in counts} <= {"right", "wrong", "index_corrupt"}, counts
    # The manifest is small always, and a graph is compared whatever its size before it is walked.
    assert not [what for what in counts if what.startswith(("manifest.json ", f"{GRAPH} ")) and "corrupt" not in what]


def test_what_a_search_leaves_to_the_doctor_the_doctor_finds(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("snapshot", "store"):
        monkeypatch.setattr(f"kebab_stream.index.{module}.CHECKED_BYTES", 0)
    for path in stored_files(library.config):
        for seed in range(3):
            with damaged(path, "flipped", random.Random(seed)):
                assert not diagnose(lambda: library.config).healthy, path
    assert diagnose(lambda: library.config).healthy


def test_a_writer_never_copies_a_damaged_store_however_large(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kebab_stream.index.store.CHECKED_BYTES", 0)
    damage(library.data_dir / STORE_FILE, "flipped", random.Random(4))

    with an_edited_file(library):
        assert "not those that were written" in str(corrupt(lambda: library.ingest(library.root)))


# --- full disks ------------------------------------------------------------------------------------------

BEFORE, AFTER = state(2), state(3)


def full_disk(place: Path, with_room: Callable[[Library, int], None]) -> None:
    """Ingest with ever more room, until it is enough; all attempts before must fail and change nothing."""
    library = library_with_graph(place)
    write(library.root, BEFORE)
    library.ingest(library.root)
    before = answers(library.config)
    write(library.root, AFTER)
    failures = 0
    for room in range(0, 1 << 20, 12 << 10):
        try:
            with_room(library, room)
            break
        except StorageError:
            failures += 1
        assert answers(library.config) == before
        assert listing(library.data_dir) == listing_of_whole(library)

    assert failures > 2
    after = answers(library.config)
    check_whole(library.config)
    shutil.rmtree(library.data_dir)
    library.ingest(library.root)
    assert answers(library.config) == after != before


def listing_of_whole(library: Library) -> list[str]:
    """What is in the data folder of a library that nobody writes to. The cache may have been given up."""
    names = [f"index/{library.revision()}/{name}" for name in INDEX_FILES]
    names += ["index", f"index/{library.revision()}", STORE_FILE, "write.lock"]
    return sorted([*names, *(["cache.sqlite"] if (library.data_dir / "cache.sqlite").exists() else [])])


def test_files_that_cannot_grow_fail_the_ingest_and_change_nothing(tmp_path: Path) -> None:
    def with_room(library: Library, room: int) -> None:
        with largest_file(room):
            library.ingest(library.root)

    full_disk(tmp_path, with_room)


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[Path]:
    """A small file system of its own, where that is allowed."""
    place.mkdir()
    mount = shutil.which("mount")
    if (
        os.geteuid()
        or not mount
        or subprocess.run([mount, "-t", "tmpfs", *options, "tmpfs", place], check=False).returncode
    ):
        pytest.skip("mounting a file system takes rights that are not given here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def test_a_disk_that_is_full_fails_the_ingest_and_changes_nothing(tmp_path: Path) -> None:
    def with_room(library: Library, room: int) -> None:
        filler = library.data_dir.with_name("filler")
        filler.write_bytes(b"\0" * max(0, shutil.disk_usage(library.data_dir).free - room))
        try:
            library.ingest(library.root)
        finally:
            filler.unlink()

    with mounted(tmp_path / "disk", "-o", "size=1m") as place:
        full_disk(place, with_room)


# --- folders that may not be written or read -------------------------------------------------------------


def test_a_read_only_disk_can_be_searched_in_every_way_and_ingests_are_refused(
    whole: Library, right: str, tmp_path: Path
) -> None:
    with mounted(tmp_path / "disk") as place:
        library = copy_of(whole, place)
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        before = stored.listing(library.data_dir)

        assert answers(library.config) == right
        extra = {"KEBAB_MODELS_EMBEDDING_MODEL_PATH": str(library.config.models.embedding.model_path)}
        line = json.dumps({"query": "walrus"}).encode()
        runs = [
            kebab(*arguments, data_dir=library.data_dir, stdin=line + b"\n", extra=extra)
            for arguments in (
                ("search", "walrus", "--json"),
                ("search", "--bulk", "--json"),
                ("fetch", "doc", path_of(2), "--json"),
                ("list", "--json"),
                ("doctor", "--json"),
            )
        ]
        assert [(run.status, bool(run.out)) for run in runs] == [(0, True)] * len(runs), runs
        refused = kebab("ingest", str(library.root), "--json", data_dir=library.data_dir, extra=extra)
        assert (refused.status, refused.error["code"]) == (2, "io_error")
        assert stored.listing(library.data_dir) == before


def test_a_folder_without_write_permission_can_be_searched_and_ingests_are_refused(whole: Library, right: str) -> None:
    with public_folder() as place:
        library = copy_of(whole, place)
        shutil.copytree(library.root, place / "notes")
        model = Path(shutil.copytree(str(library.config.models.embedding.model_path), place / "model"))
        embedding = replace(library.config.models.embedding, model_path=model)
        models = replace(library.config.models, embedding=embedding)
        library = Library(place / "notes", replace(library.config, models=models))
        before = stored.listing(library.data_dir)
        with restricted(library.data_dir, 0o555):
            assert answers(library.config) == right
            with pytest.raises(StorageError, match="Permission denied"):
                library.ingest(library.root)

        assert stored.listing(library.data_dir) == before


@pytest.mark.parametrize("name", [".", STORE_FILE, *INDEX_FILES])
def test_what_may_not_be_read_is_an_io_error_and_no_damage(whole: Library, name: str) -> None:
    with public_folder() as place:
        library = copy_of(whole, place)
        path = library.data_dir if name == "." else file_of(library, name)
        with restricted(path, 0o000), pytest.raises(StorageError, match="Permission denied"):
            Engine.open(library.config)


def test_a_search_outlives_its_data_folder(library: Library) -> None:
    query = SearchQuery(query="cat dog", mode="hybrid", k=1000)
    with Engine.open(library.config) as engine:
        before = engine.search(query)
        shutil.rmtree(library.data_dir)

        assert engine.search(query) == before
        assert engine.search(SearchQuery(query="dog", mode="vector"))
    with pytest.raises(NotIndexedError):
        Engine.open(library.config)


# --- the write lock --------------------------------------------------------------------------------------


def test_searches_go_on_while_a_writer_is_at_work_and_a_second_one_is_refused(library: Library, right: str) -> None:
    with held_elsewhere(library.data_dir) as process:
        with pytest.raises(IndexLockedError) as caught:
            library.ingest()
        assert caught.value.details == {"pid": process.pid}
        assert answers(library.config) == right
        process.kill()
        process.wait()

    library.ingest()


@pytest.mark.parametrize("content", [b"", b"nobody", b"\xff\xfe", b"-7", b"0", b"9" * 30, b"9" * 5000, None])
def test_nonsense_in_place_of_the_pid_is_no_obstacle(library: Library, content: bytes | None) -> None:
    path = library.data_dir / "write.pid"

    def write_nonsense() -> None:
        path.unlink(missing_ok=True)
        path.mkdir() if content is None else path.write_bytes(content)

    write_nonsense()
    library.ingest()
    with held_elsewhere(library.data_dir):
        if path.is_file():
            write_nonsense()
        refused = kebab("ingest", str(library.root), "--json", data_dir=library.data_dir)
        assert (refused.status, refused.error["code"], refused.error["details"]) == (2, "index_locked", {"pid": None})
        assert diagnose(lambda: library.config).healthy


def test_a_lock_file_that_cannot_be_one_is_an_io_error(library: Library, right: str) -> None:
    (library.data_dir / "write.lock").unlink(missing_ok=True)
    (library.data_dir / "write.lock").mkdir()

    with pytest.raises(StorageError, match=r"write\.lock|Is a directory"):
        library.ingest()
    assert answers(library.config) == right
