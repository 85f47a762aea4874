"""An index that is sent to where its data folder is not seen."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kebab_stream.engine import Engine
from kebab_stream.errors import IndexCorruptError, RetrievalError
from kebab_stream.ndjson import Line
from kebab_stream.replay.answers import answer_lines
from kebab_stream.replay.shipping import Parcel, folder_on, packed, remove, unpacked
from tests.corpora import config_of

LINES = [Line(1, b'{"query":"coffee","k":20}'), Line(2, b'{"query":"backup","mode":"vector"}')]


@dataclass(slots=True)
class Shelf:
    """Keeps bytes, as an object store does."""

    kept: list[bytes] = field(default_factory=list)
    taken: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, piece: bytes) -> int:
        self.kept.append(piece)
        return len(self.kept) - 1

    def get(self, reference: int) -> bytes:
        with self.lock:
            self.taken += 1
        return self.kept[reference]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def parcel_of(data_dir: Path, shelf: Shelf) -> Parcel:
    with Engine.open(config_of(data_dir)) as engine:
        revision = engine.snapshot.corpus_revision
    return packed(shelf.put, data_dir, revision)


def test_a_copy_has_what_a_search_needs_and_answers_the_same(fixture_data: Path, place: Path) -> None:
    shelf = Shelf()
    parcel = parcel_of(fixture_data, shelf)
    folder = folder_on("node", parcel.run)
    os.close(unpacked(shelf.get, parcel, folder))
    with Engine.open(config_of(fixture_data)) as here, Engine.open(config_of(folder)) as there:
        assert answer_lines(there, LINES).output == answer_lines(here, LINES).output

    assert sorted(path.name for path in folder.iterdir()) == ["index", "kebab.sqlite"]
    assert [path.name for path in (folder / "index").iterdir()] == [parcel.revision]
    assert folder.stat().st_mode & 0o077 == 0
    remove(folder)
    assert list(place.iterdir()) == []


def test_processes_that_need_it_at_once_unpack_it_once(fixture_data: Path, place: Path) -> None:
    shelf = Shelf()
    parcel = parcel_of(fixture_data, shelf)
    folder = folder_on("node", parcel.run)
    with ThreadPoolExecutor(8) as threads:
        for lock in threads.map(lambda _: unpacked(shelf.get, parcel, folder), range(8)):
            os.close(lock)

    assert shelf.taken == len(shelf.kept)


@pytest.mark.parametrize("place_in_parcel", [0, 3])
def test_what_arrives_damaged_is_refused_and_removed(fixture_data: Path, place: Path, place_in_parcel: int) -> None:
    shelf = Shelf()
    parcel = parcel_of(fixture_data, shelf)
    piece = bytearray(shelf.kept[place_in_parcel])
    piece[-1] ^= 1
    shelf.kept[place_in_parcel] = bytes(piece)

    with pytest.raises(IndexCorruptError):
        unpacked(shelf.get, parcel, folder_on("node", parcel.run))
    assert [path for path in place.iterdir() if path.is_dir()] == []


def test_what_a_lost_run_left_is_removed_by_the_next_and_what_is_in_use_stays(fixture_data: Path, place: Path) -> None:
    shelf = Shelf()
    parcel = parcel_of(fixture_data, shelf)
    used, left = folder_on("used", parcel.run), place / "kebab-replay-lost-node"
    lock = unpacked(shelf.get, parcel, used)
    for name in (left.name, f"{left.name}.partial"):
        (place / name / "index").mkdir(parents=True)
    left.with_name(f"{left.name}.lock").touch()
    (place / "kebab-replay-notes").mkdir()
    os.close(unpacked(shelf.get, parcel, folder_on("next", parcel.run)))
    os.close(lock)

    folders = {path.name for path in place.iterdir() if path.is_dir()}
    assert folders == {used.name, folder_on("next", parcel.run).name, "kebab-replay-notes"}


def test_another_state_than_the_run_began_with_is_not_sent(fixture_data: Path) -> None:
    with pytest.raises(RetrievalError, match="the index changed"):
        packed(Shelf().put, fixture_data, "00000009-0123456789ab")
