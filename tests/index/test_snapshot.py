"""A snapshot: one committed state, whatever writers do, and a folder that is as it was after a search."""

import functools
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from kebab_stream.engine import Engine
from kebab_stream.errors import IndexCorruptError, KebabError, NotIndexedError
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.index.store_writer import StoreWriter
from kebab_stream.ingest import IngestRequest, ingest
from kebab_stream.model import MODES, SearchQuery
from tests.corpora import config_of, ingest_files
from tests.index.stored import listing
from tests.index.test_generation import NAMES
from tests.limits import public_folder, restricted


@contextmanager
def opened(data_dir: Path) -> Iterator[Snapshot]:
    snapshot = Snapshot.open(data_dir)
    try:
        yield snapshot
    finally:
        snapshot.close()


def found(data_dir: Path, word: str) -> list[str]:
    with Engine.open(config_of(data_dir, provider="none")) as engine:
        return paths_of(engine, word)


def paths_of(engine: Engine, word: str) -> list[str]:
    return [hit.doc_path for hit in engine.search(SearchQuery(query=word, mode="lexical"))]


@pytest.fixture
def data_dir(fixture_data: Path, tmp_path: Path) -> Path:
    """A copy of the data folder of `fixtures/corpus`."""
    return Path(shutil.copytree(fixture_data, tmp_path / "data"))


def test_a_folder_without_an_index_stays_as_it_is(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(NotIndexedError):
            Snapshot.open(folder)
    assert list(tmp_path.iterdir()) == []


def test_an_ingest_that_failed_leaves_no_index(tmp_path: Path) -> None:
    with pytest.raises(KebabError):
        anyio.run(functools.partial(ingest, config_of(tmp_path / "data"), IngestRequest(), lambda *_: None))

    with pytest.raises(NotIndexedError):
        Snapshot.open(tmp_path / "data")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("damage", ["missing", "short"])
def test_a_damaged_index_file_is_named_with_the_way_out(data_dir: Path, name: str, damage: str) -> None:
    (path,) = (data_dir / "index").rglob(name)
    content = path.read_bytes()
    path.unlink()
    if damage == "short":
        path.write_bytes(content[:-1])

    with pytest.raises(IndexCorruptError, match=name) as caught:
        Snapshot.open(data_dir)
    assert caught.value.hint == "run `kebab ingest --rebuild-index`"


def test_a_missing_index_folder_is_corrupt(data_dir: Path) -> None:
    shutil.rmtree(data_dir / "index")

    with pytest.raises(IndexCorruptError, match=r"manifest\.json: missing"):
        Snapshot.open(data_dir)


def test_a_store_that_names_no_index_is_corrupt(tmp_path: Path) -> None:
    store = StoreWriter.open(tmp_path)
    store.set_meta("other", "1")
    store.commit()
    store.close()

    with pytest.raises(IndexCorruptError, match="names no index files"):
        Snapshot.open(tmp_path)


def test_a_restored_store_never_goes_with_the_index_files_of_another(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest_files(config, tmp_path / "one", {"a.md": "coffee"})
    backup = shutil.copy(tmp_path / "data" / "kebab.sqlite", tmp_path / "backup")
    shutil.rmtree(tmp_path / "data")
    ingest_files(config, tmp_path / "two", {"a.md": "tea"})
    shutil.copy(backup, tmp_path / "data" / "kebab.sqlite")

    with pytest.raises(IndexCorruptError, match="missing") as caught:
        found(tmp_path / "data", "tea")
    assert caught.value.hint == "run `kebab ingest --rebuild-index`"


def test_a_data_folder_can_be_moved(data_dir: Path) -> None:
    assert found(data_dir.rename(data_dir.with_name("elsewhere")), "coffee")


def test_a_search_leaves_the_folder_as_it_was(data_dir: Path) -> None:
    before = listing(data_dir)
    with Engine.open(config_of(data_dir)) as engine:
        for mode in MODES:
            assert engine.search(SearchQuery(query="coffee 커피", mode=mode))
            assert listing(data_dir) == before

    assert listing(data_dir) == before


def test_a_folder_that_cannot_be_written_can_be_searched(fixture_data: Path) -> None:
    with public_folder() as place:
        data_dir = Path(shutil.copytree(fixture_data, place / "data"))
        with restricted(data_dir, 0o555), Engine.open(config_of(data_dir)) as engine:
            for mode in MODES:
                assert engine.search(SearchQuery(query="coffee 커피", mode=mode))


def test_a_reader_keeps_its_state_through_commits(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest_files(config, tmp_path / "notes", {"a.md": "one apple", "b.md": "one banana"})
    with Engine.open(config) as before:
        ingest_files(config, tmp_path / "notes", {"a.md": "one cherry"})
        ingest_files(config, tmp_path / "notes", {"c.md": "one damson"})

        assert len(list((tmp_path / "data" / "index").iterdir())) == 1
        assert not before.snapshot.store.is_current()
        assert [paths_of(before, word) for word in ("one", "apple", "cherry")] == [["a.md", "b.md"], ["a.md"], []]
    assert [len(found(tmp_path / "data", word)) for word in ("one", "apple", "cherry")] == [3, 0, 1]


def test_readers_that_open_while_a_writer_commits_see_one_state(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    commits = 12
    ingest_files(config, tmp_path / "notes", {"n.md": "state"})

    def write() -> None:
        for number in range(1, commits + 1):
            more = "x" * number
            ingest_files(config, tmp_path / "notes", {"n.md": f"state{more}", f"more{more}.md": "more"})

    thread = threading.Thread(target=write)
    thread.start()
    seen = set()
    while thread.is_alive():
        with Engine.open(config) as engine:
            documents = engine.snapshot.store.count("documents")
            seen.add(documents)
            assert paths_of(engine, "state" + "x" * (documents - 1)) == ["n.md"]
            assert engine.snapshot.generation.manifest.n_chunks == documents
    thread.join()

    assert len(seen) > 2
    with opened(tmp_path / "data") as last:
        assert last.store.count("documents") == commits + 1
