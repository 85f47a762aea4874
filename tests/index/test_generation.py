"""A generation of index files: no trace of how it came about, all or nothing, and damage that shows."""

import hashlib
import json
import pickle
import shutil
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab_stream.analyser import ANALYSER_VERSION, Script
from kebab_stream.errors import IndexCorruptError, StorageError
from kebab_stream.index import generation
from kebab_stream.index.generation import (
    Additions,
    EmbeddingSpec,
    Generation,
    read_manifest,
    verify,
    write_generation,
)
from tests.limits import largest_file, public_folder, restricted

SPEC = EmbeddingSpec(model_id="m", fingerprint="f", dim=4)
IDS = st.binary(min_size=16, max_size=16) | st.sampled_from(
    [b"\0" * 16, b"\xff" * 16, b"a" + b"\0" * 15, b"a\0b" + b"\0" * 13, b"\x7f" * 16, b"\x80" * 16]
)
Corpus = dict[bytes, bytes]
"""Chunk id to document id; all else of a chunk follows from its id."""
CORPORA = st.dictionaries(IDS, st.sampled_from([b"A" * 16, b"B" * 16, b"\0" * 16]), max_size=8)


def additions(corpus: Mapping[bytes, bytes]) -> Additions:
    """The chunks of a corpus, in its own order."""
    added = Additions()
    for chunk_id in corpus:
        word = chunk_id.hex()
        added.ids.append(chunk_id)
        added.scripts.append(Script(chunk_id[0] % 4))
        added.lexical.add(Counter(["all", *word]))
        added.texts.append(word.encode())
        added.vectors.add(np.frombuffer(chunk_id[: chunk_id[0] % 4 * 4], dtype=np.int8).reshape(-1, 4))
    return added


def write(
    folder: Path,
    corpus: Corpus,
    *,
    old: Generation | None = None,
    added: Corpus | None = None,
    embedding: EmbeddingSpec | None = SPEC,
    graph_above: int | None = None,
) -> Generation:
    write_generation(
        folder,
        keys=sorted(corpus.items()),
        old=old,
        added=additions(corpus if added is None else added),
        embedding=embedding,
        graph_above=graph_above,
    )
    return Generation.open(folder)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


SMALL = {bytes([number]) * 16: (b"A" if number % 2 else b"B") * 16 for number in range(1, 6)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generation of five chunks; not to be changed."""
    folder = tmp_path_factory.mktemp("whole") / "1"
    write(folder, SMALL)
    return folder


@contextmanager
def copy_of(folder: Path) -> Iterator[Path]:
    with TemporaryDirectory() as place:
        yield Path(shutil.copytree(folder, Path(place, "1")))


# --- what is written -------------------------------------------------------------------------------------


@settings(max_examples=40)  # each writes three generations and waits for the disk
@given(CORPORA, CORPORA, st.randoms(use_true_random=False))
def test_the_bytes_do_not_depend_on_what_was_carried_over(before: Corpus, after: Corpus, random: object) -> None:
    changed = {chunk_id: doc_id for chunk_id, doc_id in after.items() if before.get(chunk_id) != doc_id}
    shuffled = list(changed.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    with TemporaryDirectory() as place:
        old = write(Path(place, "1"), before)
        write(Path(place, "2"), after, old=old, added=dict(shuffled))
        write(Path(place, "3"), after)

        assert files_of(Path(place, "2")) == files_of(Path(place, "3"))


@settings(max_examples=40)
@given(CORPORA)
def test_numbers_follow_the_order_of_the_ids(corpus: Corpus) -> None:
    with TemporaryDirectory() as place:
        opened = write(Path(place, "1"), corpus)

        assert [opened.chunk_id(number) for number in range(len(corpus))] == sorted(corpus)
        assert opened.scripts.tolist() == [chunk_id[0] % 4 for chunk_id in sorted(corpus)]
        assert opened.manifest.n_chunks == len(corpus)
        assert opened.manifest.n_windows == (opened.vectors.n_windows if opened.vectors else -1)
        for doc_id in (*set(corpus.values()), b"?" * 16):
            expected = [corpus[chunk_id] == doc_id for chunk_id in sorted(corpus)]
            assert opened.chunks_of([doc_id]).tolist() == expected
        assert opened.chunks_of(set(corpus.values())).all()
        assert not opened.chunks_of([]).any()


def test_a_manifest_holds_sizes_and_checksums_of_all_other_files(whole: Path) -> None:
    files = files_of(whole)
    del files["manifest.json"]

    assert read_manifest(whole).files == {
        name: (len(content), f"{zlib.crc32(content):08x}") for name, content in files.items()
    }


def test_without_a_model_there_are_no_vectors(tmp_path: Path) -> None:
    opened = write(tmp_path / "1", SMALL, embedding=None)

    assert (opened.vectors, opened.manifest.n_windows, opened.manifest.embedding) == (None, 0, None)


def test_an_opened_generation_stays_readable_when_it_is_removed(tmp_path: Path) -> None:
    opened = write(tmp_path / "1", SMALL)
    shutil.rmtree(tmp_path / "1")

    assert opened.lexical.document_frequency("all") == 5
    assert opened.vectors
    assert opened.vectors.rows.any()
    assert opened.chunk_id(0) == b"\x01" * 16
    assert opened.texts.containing("01").tolist() == [True, False, False, False, False]
    write(tmp_path / "2", SMALL, old=opened, added={})


# --- all or nothing --------------------------------------------------------------------------------------


def test_what_is_there_is_never_written_over(whole: Path) -> None:
    before = files_of(whole)
    with pytest.raises(StorageError, match="cannot write"):
        write(whole, {})

    assert files_of(whole) == before
    assert [path.name for path in whole.parent.iterdir()] == ["1"]


@pytest.mark.parametrize("room", [0, 40, 120])
def test_a_full_disk_is_a_storage_error_and_leaves_nothing(tmp_path: Path, room: int) -> None:
    with largest_file(room), pytest.raises(StorageError, match=f"cannot write .*{tmp_path}.*: File too large"):
        write(tmp_path / "index" / "1", SMALL)

    assert list((tmp_path / "index").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_storage_error() -> None:
    with (
        public_folder() as folder,
        restricted(folder, 0o555),
        pytest.raises(StorageError, match="Permission denied"),
    ):
        write(folder / "1", SMALL)


@pytest.mark.parametrize(
    ("keys", "added"),
    [
        ({**SMALL, b"x" * 16: b"A" * 16}, {}),  # one that nobody has
        (SMALL, {b"x" * 16: b"A" * 16}),  # one too many
        ({}, {b"x" * 16: b"A" * 16}),
        (SMALL | {b"y" * 16: b"A" * 16}, {b"x" * 16: b"A" * 16}),  # another one
    ],
)
def test_chunks_that_are_not_those_of_the_store_are_refused(
    tmp_path: Path, whole: Path, keys: Corpus, added: Corpus
) -> None:
    with pytest.raises(IndexCorruptError, match="chunks stored"):
        write(tmp_path / "1", keys, old=Generation.open(whole), added=added)

    assert list(tmp_path.iterdir()) == []


# --- damage ----------------------------------------------------------------------------------------------

NAMES = [
    "chunk_docs.bin",
    "chunk_ids.bin",
    "doc_ids.bin",
    "lexical_chunks.bin",
    "lexical_frequencies.bin",
    "lexical_indptr.bin",
    "lexical_lengths.bin",
    "lexical_term_offsets.bin",
    "lexical_terms.bin",
    "manifest.json",
    "scripts.bin",
    "texts.folded",
    "texts.offsets",
    "vectors.indptr",
    "vectors.norms",
    "vectors.rows",
]


def test_these_are_all_files_of_a_generation(whole: Path) -> None:
    assert sorted(files_of(whole)) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("damage", ["missing", "empty", "short", "long"])
def test_a_damaged_file_is_named_with_the_way_out(whole: Path, name: str, damage: str) -> None:
    with copy_of(whole) as folder:
        content = (folder / name).read_bytes()
        (folder / name).unlink()
        if damage != "missing":
            changed = {"empty": b"", "short": content[:-1], "long": content + b"}"}[damage]
            (folder / name).write_bytes(changed)

        with pytest.raises(IndexCorruptError, match=name) as caught:
            Generation.open(folder)
        assert caught.value.hint == "run `kebab ingest --rebuild-index`"
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_generation_that_is_not_there_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for folder in (tmp_path / "missing", tmp_path / "file", tmp_path):
        with pytest.raises(IndexCorruptError, match=r"manifest\.json: missing"):
            Generation.open(folder)


def test_a_file_that_may_not_be_read_is_a_storage_error(whole: Path) -> None:
    for name in ("manifest.json", "chunk_ids.bin"):
        with public_folder() as place:
            folder = Path(shutil.copytree(whole, place / "1"))
            with restricted(folder / name, 0), pytest.raises(StorageError, match=f"{name}: Permission denied"):
                Generation.open(folder)


def test_a_file_that_cannot_even_be_looked_at_is_a_storage_error(whole: Path) -> None:
    with copy_of(whole) as folder:
        fields = json.loads((folder / "manifest.json").read_bytes())
        (folder / "manifest.json").write_text(json.dumps({**fields, "files": {"x" * 1000: [1, ""]}}))

        with pytest.raises(StorageError, match="cannot read"):
            Generation.open(folder)


@pytest.mark.parametrize("constant", ["INDEX_VERSION", "ANALYSER_VERSION"])
def test_a_generation_of_another_version_of_the_program_is_refused(
    whole: Path, monkeypatch: pytest.MonkeyPatch, constant: str
) -> None:
    written = getattr(generation, constant)
    monkeypatch.setattr(generation, constant, "next")

    with pytest.raises(IndexCorruptError, match=f"{constant.lower()} is '{written}', this program has 'next'"):
        Generation.open(whole)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b'"x"',
        b"{}",
        b"\xff",
        json.dumps({"index_version": generation.INDEX_VERSION, "analyser_version": ANALYSER_VERSION}).encode(),
    ],
)
def test_what_is_no_manifest_is_corrupt(whole: Path, content: bytes) -> None:
    with copy_of(whole) as folder:
        (folder / "manifest.json").write_bytes(content)

        with pytest.raises(IndexCorruptError, match="not a manifest"):
            read_manifest(folder)


JSON = st.recursive(
    st.none() | st.integers() | st.floats() | st.text() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.sampled_from(["index_version", "n_chunks", "n_windows", "embedding", "files", "other"]), JSON)
def test_a_manifest_with_any_value_opens_or_is_corrupt(whole: Path, key: str, value: object) -> None:
    with copy_of(whole) as folder, suppress(IndexCorruptError):
        fields = json.loads((folder / "manifest.json").read_bytes())
        (folder / "manifest.json").write_text(json.dumps({**fields, key: value}))
        Generation.open(folder)


def test_files_of_two_generations_do_not_go_together(whole: Path, tmp_path: Path) -> None:
    write(tmp_path / "1", {b"x" * 16: b"A" * 16})
    with copy_of(whole) as folder:
        fields = json.loads((folder / "manifest.json").read_bytes())
        for name in ("lexical_terms.bin", "lexical_term_offsets.bin", "lexical_indptr.bin", "lexical_chunks.bin"):
            shutil.copy(tmp_path / "1" / name, folder / name)
        for name in ("lexical_frequencies.bin", "lexical_lengths.bin"):
            shutil.copy(tmp_path / "1" / name, folder / name)
        fields["files"] = {}  # sizes that fit
        (folder / "manifest.json").write_text(json.dumps(fields))

        with pytest.raises(IndexCorruptError, match="disagree on the number of chunks"):
            Generation.open(folder)


# --- with a graph ----------------------------------------------------------------------------------------

GRAPH = "vectors.graph"


@pytest.fixture(scope="module")
def graphed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same five chunks, with a graph over their windows; not to be changed."""
    folder = tmp_path_factory.mktemp("graphed") / "1"
    write(folder, SMALL, graph_above=0)
    return folder


def test_a_graph_is_one_more_file_and_the_others_are_the_same(whole: Path, graphed: Path) -> None:
    plain, more = files_of(whole), files_of(graphed)

    assert sorted(more) == sorted([*NAMES, GRAPH])
    assert [name for name in NAMES if plain[name] != more[name]] == ["manifest.json"]
    size, digest = read_manifest(graphed).files[GRAPH]
    assert (size, digest) == (len(more[GRAPH]), f"{zlib.crc32(more[GRAPH]):08x}")
    assert Generation.open(whole).graph is None


def test_a_graph_is_written_beyond_the_number_of_windows_that_was_given(whole: Path, tmp_path: Path) -> None:
    n_windows = read_manifest(whole).n_windows
    for above, expected in ((0, True), (n_windows - 1, True), (n_windows, False), (None, False)):
        assert (write(tmp_path / f"{above}", SMALL, graph_above=above).graph is not None) == expected

    assert write(tmp_path / "blank", {}, graph_above=0).graph is None
    assert write(tmp_path / "lexical", SMALL, embedding=None, graph_above=0).graph is None


def hashed(numbers: Iterable[int]) -> Corpus:
    """A chunk for each number, with vectors in all directions."""
    return {hashlib.blake2b(b"%d" % number, digest_size=16).digest(): b"A" * 16 for number in numbers}


def misplaced(opened: Generation) -> list[int]:
    """The chunks that the graph does not find near their own first window."""
    assert opened.graph
    assert opened.vectors
    return [
        number
        for number in np.flatnonzero(opened.vectors.has_vector).tolist()
        if number not in opened.graph.nearest(opened.vectors.rows[opened.vectors.indptr[number]].astype(np.float32), 10)
    ]


def entries(opened: Generation) -> int:
    assert opened.graph
    return len(opened.graph.to_continue())


def test_a_graph_is_continued_and_leads_to_the_new_numbers_of_chunks(tmp_path: Path) -> None:
    old = write(tmp_path / "1", hashed(range(100)), graph_above=0)
    grown = write(tmp_path / "2", hashed(range(130)), old=old, added=hashed(range(100, 130)), graph_above=0)
    moved = write(tmp_path / "3", hashed(range(10, 130)), old=grown, added={}, graph_above=0)

    assert [misplaced(opened) for opened in (old, grown, moved)] == [[], [], []]
    windows = [opened.manifest.n_windows for opened in (old, grown, moved)]
    assert [entries(opened) for opened in (old, grown, moved)] == [windows[0], windows[1], windows[1]]
    assert windows[2] < windows[1]


def test_a_graph_is_built_where_the_old_generation_has_none(tmp_path: Path) -> None:
    old = write(tmp_path / "1", hashed(range(50)))
    opened = write(tmp_path / "2", hashed(range(51)), old=old, added=hashed([50]), graph_above=0)
    write(tmp_path / "3", hashed(range(51)), graph_above=0)

    assert files_of(tmp_path / "2") == files_of(tmp_path / "3")
    assert misplaced(opened) == []


def test_a_graph_is_left_out_again_when_nobody_wants_it(graphed: Path, tmp_path: Path) -> None:
    left_out = write(tmp_path / "1", SMALL, old=Generation.open(graphed), added={})

    assert left_out.graph is None
    assert sorted(files_of(tmp_path / "1")) == NAMES


@pytest.mark.parametrize("damage", ["missing", "empty", "short", "long"])
def test_a_damaged_graph_shows_when_the_generation_is_opened(graphed: Path, damage: str) -> None:
    with copy_of(graphed) as folder:
        content = (folder / GRAPH).read_bytes()
        (folder / GRAPH).unlink()
        if damage != "missing":
            (folder / GRAPH).write_bytes({"empty": b"", "short": content[:-1], "long": content + b"}"}[damage])

        with pytest.raises(IndexCorruptError, match=GRAPH):
            Generation.open(folder)


def test_flipped_bytes_in_a_graph_show_in_its_checksum(graphed: Path) -> None:
    with copy_of(graphed) as folder:
        verify(folder)
        content = bytearray((folder / GRAPH).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / GRAPH).write_bytes(content)

        with pytest.raises(IndexCorruptError, match="not those that were written"):
            verify(folder)


def test_a_full_disk_while_the_graph_is_written_leaves_nothing(tmp_path: Path) -> None:
    corpus = {bytes([number]) * 16: b"A" * 16 for number in range(200)}
    room = max(map(len, files_of_written(tmp_path / "all", corpus))) + 1

    with largest_file(room), pytest.raises(StorageError, match="cannot write"):
        write(tmp_path / "index" / "1", corpus, graph_above=0)

    assert list((tmp_path / "index").iterdir()) == []


def files_of_written(folder: Path, corpus: Corpus) -> list[bytes]:
    """The files of a corpus without a graph."""
    write(folder, corpus)
    return list(files_of(folder).values())
