"""The store: what is put in comes out, a commit is all or nothing, and a reader neither sees nor leaves anything."""

import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.errors import IndexCorruptError, NotIndexedError, StorageError
from kebab_stream.index.rows import FileStamp
from kebab_stream.index.store import STORE_FILE, STORE_VERSION, Store
from kebab_stream.index.store_writer import StoreWriter
from kebab_stream.model import Chunk, ChunkId, Document
from tests import corpora
from tests.index.stored import CHUNKS, DOCUMENTS, SOURCE, changed_store, chunks_of, document, listing
from tests.limits import largest_file, public_folder, restricted


@contextmanager
def writer(data_dir: Path) -> Iterator[StoreWriter]:
    store = StoreWriter.open(data_dir)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def reader(data_dir: Path) -> Iterator[Store]:
    store = Store.open(data_dir)
    try:
        yield store
    finally:
        store.close()


def commit(data_dir: Path, *documents: tuple[Document, list[Chunk]], removed: Document | None = None) -> None:
    with writer(data_dir) as store:
        for owner, chunks in documents:
            store.replace(owner, "", chunks)
        if removed:
            store.remove(removed.doc_id)
        store.commit()


def paths_of(store: Store) -> list[str]:
    return [path for (path,) in store.rows("SELECT doc_path FROM documents ORDER BY doc_path")]


def every_chunk(data_dir: Path) -> list[tuple[Chunk, Document]]:
    with reader(data_dir) as store:
        return list(store.every_chunk())


# --- what is put in comes out ----------------------------------------------------------------------------


@given(DOCUMENTS, st.lists(CHUNKS, max_size=3, unique_by=(lambda chunk: chunk.chunk_id, lambda chunk: chunk.ordinal)))
def test_documents_and_chunks_come_out_as_they_were_put_in(owner: Document, chunks: list[Chunk]) -> None:
    chunks = [replace(chunk, doc_id=owner.doc_id) for chunk in chunks]
    with TemporaryDirectory() as folder:
        commit(Path(folder), (owner, chunks))
        with reader(Path(folder)) as store:
            ids = [bytes.fromhex(chunk.chunk_id) for chunk in chunks]
            bare = replace(owner, tags=())

            assert store.chunks_by_id(ids) == {chunk.chunk_id: (chunk, bare) for chunk in chunks}
            assert list(store.every_chunk()) == [
                (chunk, bare) for chunk in sorted(chunks, key=lambda chunk: chunk.ordinal)
            ]
            assert store.chunk_paths(ids) == {chunk.chunk_id: (owner.doc_id, owner.doc_path) for chunk in chunks}
            assert list(store.chunk_keys()) == [(chunk_id, bytes.fromhex(owner.doc_id)) for chunk_id in sorted(ids)]
            assert sorted(tag for (tag,) in store.rows("SELECT tag FROM tags")) == sorted(owner.tags)


def test_more_ids_than_one_statement_takes_are_found(tmp_path: Path) -> None:
    owner = document(1)
    commit(tmp_path, (owner, chunks_of(owner, *range(1200))))

    with reader(tmp_path) as store:
        ids = [number.to_bytes(16, "big") for number in range(1200)]

        assert len(store.chunks_by_id(ids)) == len(store.chunk_paths(ids)) == 1200
        assert len(store.chunks_by_id(ids[:3] * 2)) == 3


def test_a_chunk_that_only_the_index_files_have_is_damage_that_a_rebuild_mends(tmp_path: Path) -> None:
    commit(tmp_path, (document(1), chunks_of(document(1), 1)))
    ids = [number.to_bytes(16, "big") for number in (1, 2)]

    with reader(tmp_path) as store:
        for look in (store.chunks_by_id, store.chunk_paths):
            with pytest.raises(IndexCorruptError, match="lacks chunks that the index files have") as caught:
                look(ids)
            assert caught.value.hint == "run `kebab ingest --rebuild-index`"


def test_a_document_takes_the_place_of_the_one_with_its_id(tmp_path: Path) -> None:
    old, other = replace(document(1), tags=("old", "both")), document(2)
    new = replace(old, title="B", tags=("new", "both"))
    commit(tmp_path, (old, chunks_of(old, 1, 2)), (other, chunks_of(other, 4)))
    commit(tmp_path, (new, chunks_of(new, 2, 3)))

    assert [(chunk.chunk_id[-1], owner.title) for chunk, owner in every_chunk(tmp_path)] == [
        ("4", "A"),
        ("2", "B"),
        ("3", "B"),
    ]
    with reader(tmp_path) as store:
        assert store.rows("SELECT tag FROM tags ORDER BY tag") == [("both",), ("new",)]
        assert (store.count("documents"), store.count("chunks")) == (2, 3)


def test_a_removed_document_leaves_nothing_behind(tmp_path: Path) -> None:
    owner = replace(document(1), tags=("x",))
    commit(tmp_path, (owner, chunks_of(owner, 1, 2)))
    commit(tmp_path, removed=owner)

    with reader(tmp_path) as store:
        assert [store.count(table) for table in ("documents", "chunks", "tags")] == [0, 0, 0]


def test_one_path_in_two_sources_is_two_documents(tmp_path: Path) -> None:
    one, two = document(1), replace(document(2), source_id="other", doc_path="1.md")
    commit(tmp_path, (one, []), (two, []))

    with reader(tmp_path) as store:
        assert paths_of(store) == ["1.md", "1.md"]


def test_the_stamps_of_a_source_are_by_path_and_can_be_renewed(tmp_path: Path) -> None:
    commit(tmp_path, (document(1), []), (replace(document(2), source_id="other"), []))
    with writer(tmp_path) as store:
        store.touch(document(1).doc_id, size=7, mtime_ns=8)
        store.commit()

        assert store.stamps("notes") == {
            "1.md": FileStamp(doc_id=document(1).doc_id, size=7, mtime_ns=8, content_hash="", signature="")
        }


def test_sources_are_remembered_by_id(tmp_path: Path) -> None:
    other = replace(SOURCE, source_id="a", root="/elsewhere", exclude=())
    with writer(tmp_path) as store:
        store.put_source(SOURCE)
        store.put_source(other)
        store.put_source(replace(SOURCE, trust_level="generated"))
        store.commit()

    with reader(tmp_path) as store:
        assert store.sources() == [other, replace(SOURCE, trust_level="generated")]


def test_meta_values_can_be_replaced(tmp_path: Path) -> None:
    with writer(tmp_path) as store:
        store.set_meta("corpus_revision", "1")
        store.set_meta("corpus_revision", "2")
        store.commit()

    with reader(tmp_path) as store:
        assert (store.meta("corpus_revision"), store.meta("other")) == ("2", None)


# --- a commit is all or nothing --------------------------------------------------------------------------


def test_a_reader_keeps_the_state_that_it_opened(tmp_path: Path) -> None:
    owner = document(1)
    commit(tmp_path, (owner, chunks_of(owner, 1)))
    with reader(tmp_path) as before, writer(tmp_path) as store:
        store.remove(owner.doc_id)
        store.replace(document(2), "", chunks_of(document(2), 2))
        assert paths_of(before) == ["1.md"]
        assert before.is_current()

        store.commit()
        with reader(tmp_path) as after:
            assert (paths_of(before), paths_of(after)) == (["1.md"], ["2.md"])
            assert (before.is_current(), after.is_current()) == (False, True)
            assert list(before.chunks_by_id([(1).to_bytes(16, "big")])) == [ChunkId(f"{1:032x}")]


def test_what_was_not_committed_is_gone(tmp_path: Path) -> None:
    commit(tmp_path, (document(1), []))
    before = listing(tmp_path)
    with writer(tmp_path) as store:
        store.replace(document(2), "", [])
        assert len(listing(tmp_path)) > len(before)

    assert listing(tmp_path) == before
    with pytest.raises(NotIndexedError):
        commit_nothing(tmp_path / "new")


def commit_nothing(data_dir: Path) -> None:
    data_dir.mkdir()
    with writer(data_dir) as store:
        store.replace(document(1), "", [])
    assert listing(data_dir) == []
    Store.open(data_dir)


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    commit(tmp_path, (document(1), []))
    before = listing(tmp_path)
    killed = StoreWriter.open(tmp_path)
    killed.replace(document(2), "", [])
    with writer(tmp_path) as store:
        assert listing(tmp_path) == before
        assert paths_of(store) == ["1.md"]
    killed.close()


def test_a_run_without_changes_writes_nothing(tmp_path: Path) -> None:
    with writer(tmp_path) as store:
        store.put_source(SOURCE)
        store.commit()
    before = listing(tmp_path)
    with writer(tmp_path) as store:
        store.put_source(SOURCE)
        store.commit()

    assert listing(tmp_path) == before


def test_a_writer_can_go_on_after_a_commit(tmp_path: Path) -> None:
    with writer(tmp_path) as store:
        store.replace(document(1), "", [])
        store.commit()
        store.replace(document(2), "", [])
        with reader(tmp_path) as between:
            assert paths_of(between) == ["1.md"]
        store.commit()
        assert paths_of(store) == ["1.md", "2.md"]


def test_a_commit_stands_although_its_folder_cannot_be_synced() -> None:
    with public_folder() as folder:
        commit(folder, (document(1), []))
        with restricted(folder, 0o333), writer(folder) as store:  # names can be changed, but the folder not be opened
            store.replace(document(2), "", [])
            store.commit()
            assert paths_of(store) == ["1.md", "2.md"]

        with reader(folder) as after:
            assert paths_of(after) == ["1.md", "2.md"]


@pytest.mark.parametrize("room", [0, 10_000, 40_000])
def test_a_full_disk_is_a_storage_error_and_leaves_the_old_state(tmp_path: Path, room: int) -> None:
    commit(tmp_path, (document(1), []))
    before = listing(tmp_path)
    long_chunks = [corpora.chunk(doc_id=document(2).doc_id, text="long " * 20_000)]
    with largest_file(room), pytest.raises(StorageError, match=STORE_FILE):
        commit(tmp_path, (document(2), long_chunks))

    assert listing(tmp_path) == before
    commit(tmp_path, (document(2), long_chunks))
    with reader(tmp_path) as after:
        assert paths_of(after) == ["1.md", "2.md"]


# --- opening ---------------------------------------------------------------------------------------------


def test_a_missing_store_is_not_made_by_looking_for_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for data_dir in (tmp_path, tmp_path / "missing"):
        with pytest.raises(NotIndexedError):
            Store.open(data_dir)
    for data_dir in (tmp_path / "file", tmp_path / "file" / "sub"):
        with pytest.raises(StorageError, match="it is no folder"):
            Store.open(data_dir)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_reading_changes_nothing_in_the_folder(tmp_path: Path) -> None:
    owner = document(1)
    commit(tmp_path, (owner, chunks_of(owner, 1, 2)))
    before = listing(tmp_path)
    with reader(tmp_path) as store:
        assert len(list(store.every_chunk())) == 2
        assert listing(tmp_path) == before

    assert listing(tmp_path) == before


def test_a_store_can_be_read_in_a_folder_that_cannot_be_written() -> None:
    with public_folder() as folder:
        commit(folder, (document(1), []))
        with restricted(folder, 0o555), reader(folder) as store:
            assert paths_of(store) == ["1.md"]
        with restricted(folder, 0o555), writer(folder) as store, pytest.raises(StorageError, match="Permission denied"):
            store.remove(document(1).doc_id)


def test_a_store_that_may_not_be_read_is_a_storage_error() -> None:
    with public_folder() as folder:
        commit(folder, (document(1), []))
        for path in (folder, folder / STORE_FILE):
            with restricted(path, 0), pytest.raises(StorageError, match=STORE_FILE):
                Store.open(folder)


def test_paths_are_not_mistaken_for_uris(tmp_path: Path) -> None:
    data_dir = tmp_path / "a?mode=rw#b%20c 데이터"
    data_dir.mkdir()
    commit(data_dir, (document(1), []))

    with reader(data_dir) as store:
        assert paths_of(store) == ["1.md"]


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"not a database, " * 400])
def test_a_file_that_is_no_store_is_corrupt_for_readers_and_writers(tmp_path: Path, content: bytes) -> None:
    (tmp_path / STORE_FILE).write_bytes(content)

    for kind in (Store, StoreWriter):
        with pytest.raises(IndexCorruptError, match=STORE_FILE) as caught:
            kind.open(tmp_path)
        assert caught.value.hint == (
            f"move {tmp_path / STORE_FILE} away and run `kebab ingest` with your folders again"
        )
        assert pickle.loads(pickle.dumps(caught.value)).hint == caught.value.hint
    assert (tmp_path / STORE_FILE).read_bytes() == content


def test_a_store_without_a_table_is_corrupt(tmp_path: Path) -> None:
    commit(tmp_path, (document(1), []))
    with changed_store(tmp_path) as connection:
        connection.execute("DROP TABLE meta")

    with reader(tmp_path) as store, pytest.raises(IndexCorruptError, match="no such table: meta") as caught:
        store.meta("corpus_revision")
    assert caught.value.hint
    assert "move" in caught.value.hint


def test_use_after_close_is_a_mistake_of_the_caller_and_no_damage(tmp_path: Path) -> None:
    commit(tmp_path, (document(1), []))
    store = Store.open(tmp_path)
    store.close()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store.count("chunks")


def test_a_store_of_another_version_is_corrupt(tmp_path: Path) -> None:
    commit(tmp_path, (document(1), []))
    with changed_store(tmp_path) as connection:
        connection.execute(f"PRAGMA user_version = {STORE_VERSION + 1}")

    said = rf"another version of kebab \(format {STORE_VERSION + 1}, this one has {STORE_VERSION}\)"
    with pytest.raises(IndexCorruptError, match=said):
        Store.open(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of many pages."""
    folder = tmp_path_factory.mktemp("whole")
    commit(folder, *((document(n), chunks_of(document(n), *range(1000 * n, 1000 * n + 100))) for n in range(1, 5)))
    return folder / STORE_FILE


@given(st.floats(0, 1, exclude_max=True))
def test_a_store_cut_short_anywhere_is_corrupt(whole: Path, part: float) -> None:
    content = whole.read_bytes()
    with TemporaryDirectory() as folder:
        Path(folder, STORE_FILE).write_bytes(content[: int(len(content) * part)])

        with pytest.raises(IndexCorruptError):
            every_chunk(Path(folder))


@given(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=200))
def test_a_damaged_store_raises_nothing_but_our_errors(whole: Path, place: float, noise: bytes) -> None:
    content = whole.read_bytes()
    start = int(len(content) * place)
    with TemporaryDirectory() as folder, suppress(IndexCorruptError, StorageError):
        Path(folder, STORE_FILE).write_bytes(content[:start] + noise + content[start + len(noise) :])
        with reader(Path(folder)) as store:
            store.sources()
            store.meta("corpus_revision")
            list(store.chunk_keys())
            list(store.every_chunk())
