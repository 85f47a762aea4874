"""What is ours in a data folder, and that nothing else is ever touched."""

import shutil
from pathlib import Path

import pytest

from kebab_stream.errors import IndexCorruptError, NotIndexedError, StorageError
from kebab_stream.index.data_folder import leftovers, own_paths, remove_own, size_of
from kebab_stream.index.lock import write_lock
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.index.store import STORE_FILE
from tests.limits import public_folder, restricted

FOREIGN = ("kebab.toml", "kebab.sqlite.old", "index/photos/a.jpg", "index/00000001", "notes/kebab.sqlite")


@pytest.fixture
def data_dir(fixture_data: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(fixture_data, tmp_path / "data"))


def put(data_dir: Path, *names: str) -> None:
    for name in names:
        (data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (data_dir / name).write_text("mine")


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_nothing_that_an_ingest_leaves_is_forgotten(data_dir: Path) -> None:
    with write_lock(data_dir):
        remove_own(data_dir)

    assert list(data_dir.iterdir()) == []


def test_what_is_not_ours_stays(data_dir: Path) -> None:
    put(data_dir, *FOREIGN)

    remove_own(data_dir)

    assert everything_in(data_dir) == sorted(FOREIGN)


def test_the_store_goes_first(data_dir: Path) -> None:
    put(data_dir, ".kebab.sqlite.partial", "index/.00000009-0123456789ab.partial/rows")

    assert own_paths(data_dir)[0].name == STORE_FILE
    assert remove_own(data_dir)[0] == STORE_FILE


def test_a_removal_that_is_cut_short_leaves_no_damaged_index(fixture_data: Path) -> None:
    with public_folder() as folder:
        data_dir = folder / "data"
        shutil.copytree(fixture_data, data_dir)
        data_dir.chmod(0o777)
        with restricted(data_dir / "index", 0o555), pytest.raises(StorageError, match=r"cannot remove .*index"):
            remove_own(data_dir)

        with pytest.raises(NotIndexedError):
            Snapshot.open(data_dir)


def test_a_link_in_the_place_of_the_index_folder_leads_nowhere(data_dir: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (data_dir / "index").rename(elsewhere)
    (data_dir / "index").symlink_to(elsewhere)
    before, ours = everything_in(elsewhere), everything_in(data_dir)

    for action in (own_paths, remove_own):
        with pytest.raises(IndexCorruptError, match="a symbolic link"):
            action(data_dir)

    assert everything_in(data_dir) == ours
    assert everything_in(elsewhere) == before


def test_links_that_are_called_like_our_files_are_not_followed(data_dir: Path, tmp_path: Path) -> None:
    generation = tmp_path / "generation"
    put(generation, "rows")
    (tmp_path / "other.sqlite").write_text("mine")
    (data_dir / "index" / "00000007-0123456789ab").symlink_to(generation)
    (data_dir / STORE_FILE).unlink()
    (data_dir / STORE_FILE).symlink_to(tmp_path / "other.sqlite")

    removed = remove_own(data_dir)

    assert everything_in(generation) == ["rows"]
    assert (tmp_path / "other.sqlite").read_text() == "mine"
    assert STORE_FILE in removed
    assert "index/00000007-0123456789ab" not in removed


def test_leftovers_are_what_is_neither_current_nor_foreign(data_dir: Path) -> None:
    (current,) = (data_dir / "index").iterdir()
    put(data_dir, *FOREIGN, ".kebab.sqlite.partial", "index/00000009-0123456789ab/rows")

    found = [str(path.relative_to(data_dir)) for path in leftovers(data_dir, current.name)]

    assert found == [".kebab.sqlite.partial", "index/00000009-0123456789ab"]


def test_a_folder_that_is_not_there_has_nothing_of_ours(tmp_path: Path) -> None:
    assert own_paths(tmp_path / "nowhere") == leftovers(tmp_path / "nowhere", None) == []


def test_sizes_count_all_files_of_a_folder(tmp_path: Path) -> None:
    put(tmp_path, "a", "b/c", "b/d/e")

    assert (size_of(tmp_path), size_of(tmp_path / "a"), size_of(tmp_path / "nothing")) == (12, 4, 0)


def test_a_file_in_the_place_of_the_data_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")

    for action in (own_paths, Snapshot.open):
        with pytest.raises(StorageError, match="it is no folder") as caught:
            action(tmp_path / "data")
        assert "storage.data_dir" in str(caught.value.hint)
