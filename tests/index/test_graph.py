"""The graph over the vectors: it finds what the exact scan finds, forgets what is gone, and shows its damage."""

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from usearch.index import Index

from kebab_stream.config import Chunking, Embedding
from kebab_stream.embed import load_embedder
from kebab_stream.errors import EmbeddingFailedError, IndexCorruptError, RetrievalError, StorageError
from kebab_stream.index import graph as graph_module
from kebab_stream.index.graph import GRAPH_FILE, Graph, graph_above, write_graph
from kebab_stream.index.ranking import rounded, top
from kebab_stream.index.vectors import VectorBuilder, VectorIndex, quantise, write_vectors
from kebab_stream.ingest.chunk import chunk
from kebab_stream.ingest.parse import parse
from kebab_stream.ingest.windows import windows
from tests.index.stored import all_added
from tests.limits import largest_file
from tests.paths import SHARED

DIM = 32
Query = NDArray[np.float32]
Chunks = dict[bytes, NDArray[np.int8]]
"""Chunk id to its windows."""


@dataclass(frozen=True)
class Built:
    """Vectors and graph of some chunks."""

    vectors: VectorIndex
    graph: Graph
    ids: list[bytes]

    def exact(self, query: Query, limit: int, allowed: NDArray[np.bool_] | None = None) -> list[int]:
        """The best chunks of all."""
        eligible = self.vectors.has_vector if allowed is None else self.vectors.has_vector & allowed
        return list(map(int, top(rounded(self.vectors.cosines(query)), limit, eligible)))

    def near(self, query: Query, limit: int, allowed: NDArray[np.bool_] | None = None) -> list[int]:
        """The best of those that the graph finds."""
        numbers = self.graph.candidates(query, wanted=limit, allowed=allowed, always=True)
        assert numbers is not None, "the graph was not walked"
        eligible = np.zeros(self.vectors.n_chunks, dtype=np.bool_)
        eligible[numbers] = True
        return list(map(int, top(rounded(self.vectors.cosines(query, numbers)), limit, eligible)))

    def recall(self, queries: list[Query], limit: int, allowed: NDArray[np.bool_] | None = None) -> float:
        shares = [
            len(set(self.near(query, limit, allowed)) & set(self.exact(query, limit, allowed))) / limit
            for query in queries
        ]
        return sum(shares) / len(shares)


def build(folder: Path, chunks: Mapping[bytes, NDArray[np.int8]], old: Built | None = None) -> Built:
    """Write vectors and graph; chunks that `old` has with the same windows are not new."""
    folder.mkdir()
    ids = sorted(chunks)
    builder = VectorBuilder()
    for chunk_id in ids:
        builder.add(chunks[chunk_id])
    dim = next((rows.shape[1] for rows in chunks.values()), DIM)
    write_vectors(folder, all_added(len(ids)), dim=dim, old=None, added=builder)
    vectors = VectorIndex.open(folder, dim)
    table = np.frombuffer(b"".join(ids), np.uint8).reshape(-1, 16)
    had = set(old.ids) if old else set()
    added = np.array([number for number, chunk_id in enumerate(ids) if chunk_id not in had], dtype=np.int32)
    write_graph(folder, vectors, table, added=added[::-1], old=old.graph if old else None)
    return Built(vectors, Graph.open(folder, vectors, table), ids)


def some_chunks(count: int, seed: int = 1) -> Chunks:
    """Chunks of 0 to 4 windows, in clusters."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(20, DIM))
    return {
        hashlib.blake2b(f"{seed} {number}".encode(), digest_size=16).digest(): quantise(
            (centres[number % 20] + 0.7 * random.normal(size=(number % 5, DIM))).astype(np.float32)
        )
        for number in range(count)
    }


def some_queries(count: int) -> list[Query]:
    return list(np.random.default_rng(2).normal(size=(count, DIM)).astype(np.float32))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """2,000 chunks, 4,000 windows."""
    return build(tmp_path_factory.mktemp("graph") / "small", some_chunks(2000))


def chunks_without(built: Built, gone: range) -> Chunks:
    return {
        chunk_id: built.vectors.rows[built.vectors.indptr[number] : built.vectors.indptr[number + 1]]
        for number, chunk_id in enumerate(built.ids)
        if number not in gone
    }


# --- real windows ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Real:
    """A part of the shared corpora."""

    built: Built
    queries: list[Query]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Real:
    """About 10,000 windows of real documents, Korean and English, and their headings as queries."""
    corpora = SHARED / "corpora"
    if not corpora.is_dir():
        pytest.skip("the shared corpora are not here")
    embedder = load_embedder(Embedding())
    assert embedder
    pieces = list(islice(real_chunks(corpora), 2000))
    chunks = {
        hashlib.blake2b(f"{number}".encode(), digest_size=16).digest(): quantise(embedder.embed_passages(windows(text)))
        for number, (text, _) in enumerate(pieces)
    }
    headings = dict.fromkeys(heading for _, path in pieces for heading in path[-1:])
    queries = [query for heading in list(headings)[::13] if (query := embedder.embed_query(heading)).any()]
    return Real(build(tmp_path_factory.mktemp("real") / "whole", chunks), queries[:60])


def real_chunks(corpora: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    for path in sorted(corpora.rglob("*.md"))[::4]:
        for piece in chunk(parse(path.name, path.read_text("utf-8", errors="replace")), Chunking()):
            yield piece.text, tuple(piece.heading_path)


def test_the_graph_finds_nearly_all_of_the_best_fifty(real: Real) -> None:
    assert real.built.vectors.n_windows > 7000
    assert real.built.recall(real.queries, 50) >= 0.95


def test_with_a_filter_it_still_does(real: Real, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "WALK_COST", 1)
    allowed = np.random.default_rng(3).random(real.built.vectors.n_chunks) < 0.5

    assert real.built.recall(real.queries, 50, allowed) >= 0.95


def test_a_graph_that_grew_finds_as_much(real: Real, tmp_path: Path) -> None:
    n_chunks = real.built.vectors.n_chunks
    before = chunks_without(real.built, range(n_chunks * 9 // 10, n_chunks))
    after = chunks_without(real.built, range(n_chunks // 10))
    grown = build(tmp_path / "after", after, old=build(tmp_path / "before", before))

    assert entries(grown) > grown.vectors.n_windows
    assert grown.recall(real.queries, 50) >= 0.95


# --- what is found ---------------------------------------------------------------------------------------


def test_the_windows_nearest_to_a_row_begin_with_its_own_chunk(small: Built) -> None:
    for number in np.flatnonzero(small.vectors.has_vector)[:50].tolist():
        row = small.vectors.rows[small.vectors.indptr[number]].astype(np.float32)

        assert number in small.graph.nearest(row, 10).tolist()


def test_candidates_are_numbers_in_order_each_once(small: Built) -> None:
    numbers = small.graph.candidates(some_queries(1)[0], wanted=200, allowed=None, always=True)

    assert numbers is not None
    assert len(numbers) >= 200
    assert numbers.tolist() == sorted(set(numbers.tolist()))


def test_a_filter_that_excludes_what_is_nearest_widens_the_walk(small: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """The filter lets half of the chunks through: the half that is farther away."""
    monkeypatch.setattr(graph_module, "WALK_COST", 1)
    monkeypatch.setattr(graph_module, "LEAST_ASKED", 1)
    monkeypatch.setattr(graph_module, "OVER_FETCH", 1)
    query = some_queries(1)[0]
    cosines = small.vectors.cosines(query)
    allowed = cosines < np.median(cosines[small.vectors.has_vector])
    asked: list[int] = []
    nearest = Graph.nearest

    def noted(graph: Graph, query: Query, count: int) -> NDArray[np.int64]:
        asked.append(count)
        return nearest(graph, query, count)

    monkeypatch.setattr(Graph, "nearest", noted)

    numbers = small.graph.candidates(query, wanted=20, allowed=allowed)

    assert numbers is not None
    assert len(numbers) >= 20
    assert allowed[numbers].all()
    assert asked[0] == 20 * small.vectors.n_windows // small.vectors.windows_of(allowed)
    assert asked[1:] == [2 * count for count in asked[:-1]]
    assert len(asked) > 3


def test_where_a_scan_is_less_work_there_are_no_candidates(small: Built) -> None:
    query = some_queries(1)[0]
    few = np.arange(small.vectors.n_chunks) < 100

    assert small.graph.candidates(query, wanted=50, allowed=None) is None
    assert small.graph.candidates(query, wanted=50, allowed=few, always=True) is None
    assert small.graph.candidates(query, wanted=50, allowed=np.zeros_like(few)) is None
    assert small.graph.candidates(query, wanted=50, allowed=None, always=True) is not None


@pytest.mark.parametrize("wanted", [1000, 1599, 10**6])
def test_who_wants_nearly_all_compares_all(small: Built, wanted: int) -> None:
    assert small.graph.candidates(some_queries(1)[0], wanted=wanted, allowed=None, always=True) is None


def test_a_graph_of_nothing_has_no_candidates(tmp_path: Path) -> None:
    empty = build(tmp_path / "empty", {})
    blank = build(tmp_path / "blank", {b"x" * 16: np.empty((0, DIM), np.int8)})

    for built in (empty, blank):
        assert built.graph.candidates(some_queries(1)[0], wanted=1, allowed=None, always=True) is None


def test_ids_that_begin_alike_are_all_found(tmp_path: Path) -> None:
    """The largest key is one that usearch keeps for itself; bytes of zero end a string of numpy."""
    heads = [b"\0" * 8, b"a" + b"\0" * 7, b"\xff" * 8]
    tails = [b"\0" * 8, b"\0" * 7 + b"\1", b"\xff" * 8]
    ids = [head + tail for head in heads for tail in tails]
    rows = quantise(np.random.default_rng(4).normal(size=(9, 1, DIM)).astype(np.float32).reshape(9, DIM))
    built = build(tmp_path / "g", {chunk_id: rows[[number]] for number, chunk_id in enumerate(ids)})

    for number in range(9):
        group = number // 3 * 3
        assert built.graph.nearest(rows[number].astype(np.float32), 1).tolist() == [group, group + 1, group + 2]


def test_several_threads_get_the_same_answers_as_one(small: Built) -> None:
    graph = replace(small.graph, _index=None)
    queries = some_queries(40)
    expected = [small.graph.nearest(query, 100).tolist() for query in queries]

    with ThreadPoolExecutor(16) as pool:
        for _ in range(3):
            assert list(pool.map(lambda query: graph.nearest(query, 100).tolist(), queries)) == expected


# --- exact distances -------------------------------------------------------------------------------------


@given(
    arrays(np.int8, st.tuples(st.integers(1, 6), st.sampled_from([1, 2, 5, 64, 256])), elements=st.integers(-127, 127))
)
def test_scaled_rows_keep_their_direction_and_get_one_length(rows: NDArray[np.int8]) -> None:
    rows = rows[rows.any(axis=1)]
    scaled = graph_module._on_sphere(rows).astype(np.float64)

    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(scaled, axis=1)
    radius = 20 * rows.shape[1] ** 0.5
    unclipped = np.abs(wide).max(axis=1) * radius <= 127 * np.linalg.norm(wide, axis=1)
    assert np.all(np.abs(lengths[unclipped] - radius) <= radius * 0.04)
    cosines = (wide * scaled).sum(axis=1) / np.linalg.norm(wide, axis=1) / lengths
    assert np.all(cosines[unclipped] >= 0.998)


@pytest.mark.parametrize("dim", [3, 64, 256, 1024])
def test_distances_are_whole_numbers_so_that_every_processor_finds_the_same(dim: int) -> None:
    random = np.random.default_rng(dim)
    rows = graph_module._on_sphere(quantise(random.normal(size=(300, dim)).astype(np.float32)))
    rows[0], rows[1] = graph_module._on_sphere(np.array([[127] * dim, [-127] * dim], np.int8))  # as far as can be
    index = graph_module._empty(dim)
    index.add(np.arange(300, dtype=np.uint64), rows, threads=1)

    for row in rows[:20]:
        found = index.search(row, 300, threads=1)
        squares = np.square(rows.astype(np.int64) - row).sum(axis=1)
        assert found.distances.astype(np.float64).tolist() == squares[found.keys.astype(np.int64)].tolist()
        assert len(found) == 300


# --- how it grows ----------------------------------------------------------------------------------------


def entries(built: Built) -> int:
    return len(built.graph.to_continue())


def graph_bytes(built: Built) -> bytes:
    return built.graph.path.read_bytes()


def test_a_fresh_build_gives_the_same_bytes_each_time(small: Built, tmp_path: Path) -> None:
    again = build(tmp_path / "again", some_chunks(2000))

    assert graph_bytes(again) == graph_bytes(small)
    assert entries(again) == small.vectors.n_windows


def test_the_same_history_gives_the_same_bytes(small: Built, tmp_path: Path) -> None:
    after = chunks_without(small, range(100)) | some_chunks(100, seed=5)

    one, other = (build(tmp_path / name, after, old=small) for name in ("one", "other"))

    assert graph_bytes(one) == graph_bytes(other)
    assert entries(one) == small.vectors.n_windows + 200


def test_entries_are_added_in_the_order_of_chunk_ids(small: Built, tmp_path: Path) -> None:
    added = np.arange(0, 200, dtype=np.int32)
    for name, order in (("one", added), ("other", np.random.default_rng(7).permutation(added))):
        (tmp_path / name).mkdir()
        write_graph(tmp_path / name, small.vectors, small.graph.chunk_ids, added=order, old=small.graph)

    one, other = ((tmp_path / name / GRAPH_FILE).read_bytes() for name in ("one", "other"))
    assert one == other


def test_chunks_that_are_gone_are_never_found(small: Built, tmp_path: Path) -> None:
    gone = range(300)
    after = build(tmp_path / "after", chunks_without(small, gone), old=small)

    assert entries(after) == small.vectors.n_windows  # all still there
    for number in gone:
        rows = small.vectors.rows[small.vectors.indptr[number] : small.vectors.indptr[number + 1]]
        for row in rows.astype(np.float32):
            found = after.graph.nearest(row, 50)
            assert len(found) < 50
            assert found.max() < after.vectors.n_chunks
            expected = {small.ids[other] for other in small.graph.nearest(row, 50).tolist()} - set(small.ids[:300])
            assert {after.ids[other] for other in found.tolist()} == expected


def test_new_and_old_chunks_are_found(small: Built, tmp_path: Path) -> None:
    after = build(tmp_path / "after", chunks_without(small, range(200)) | some_chunks(300, seed=6), old=small)

    assert after.recall(some_queries(40), 50) >= 0.95
    for number in np.flatnonzero(after.vectors.has_vector)[::20].tolist():
        assert number in after.graph.nearest(after.vectors.rows[after.vectors.indptr[number]].astype(np.float32), 20)


def test_a_chunk_whose_windows_changed_is_found_by_the_new_ones(small: Built, tmp_path: Path) -> None:
    """Its old entries lead to it too, which costs a comparison and changes no score."""
    number = int(np.flatnonzero(small.vectors.has_vector)[0])
    row = quantise(some_queries(1)[0][np.newaxis, :])
    kept = replace(small, ids=[chunk_id for chunk_id in small.ids if chunk_id != small.ids[number]])
    after = build(tmp_path / "after", chunks_without(small, range(0)) | {small.ids[number]: row}, old=kept)

    assert after.near(row[0].astype(np.float32), 1) == [number]
    assert entries(after) == small.vectors.n_windows + 1


@pytest.mark.parametrize(("gone", "continued"), [(390, True), (410, False)])
def test_too_many_dead_entries_end_in_a_new_graph(small: Built, tmp_path: Path, gone: int, continued: bool) -> None:
    """A fifth of 2,000 chunks, each with two windows on average."""
    by_windows = sorted(range(2000), key=lambda number: abs(int(np.diff(small.vectors.indptr)[number]) - 2))
    left = set(by_windows[gone:])  # chunks of exactly two windows go
    chunks = {
        chunk_id: rows
        for number, (chunk_id, rows) in enumerate(chunks_without(small, range(0)).items())
        if number in left
    }
    after = build(tmp_path / "after", chunks, old=small)

    fresh = build(tmp_path / "fresh", chunks)
    assert (entries(after) == small.vectors.n_windows) == continued
    assert (graph_bytes(after) != graph_bytes(fresh)) == continued


# --- damage ----------------------------------------------------------------------------------------------


def with_content(built: Built, content: bytes) -> Graph:
    return replace(built.graph, content=content, _index=None)


def test_a_missing_file_is_a_corrupt_index(small: Built, tmp_path: Path) -> None:
    with pytest.raises(IndexCorruptError, match=f"{GRAPH_FILE}: missing"):
        Graph.open(tmp_path, small.vectors, small.graph.chunk_ids)


@pytest.mark.parametrize("damage", ["empty", "cut", "head", "zeros", "text"])
def test_a_file_that_is_no_graph_is_a_corrupt_index_when_it_is_needed(small: Built, damage: str) -> None:
    content = graph_bytes(small)
    changed = {
        "empty": b"",
        "cut": content[: len(content) // 4],
        "head": content[:100],
        "zeros": bytes(len(content)),
        "text": b"usearch" * 1000,
    }[damage]
    graph = with_content(small, changed)

    for use in (lambda: graph.nearest(some_queries(1)[0], 5), graph.to_continue):
        with pytest.raises(IndexCorruptError, match=f"{GRAPH_FILE}: not a graph"):
            use()


def test_a_graph_of_other_vectors_is_a_corrupt_index(small: Built, tmp_path: Path) -> None:
    other = Index(ndim=DIM, metric="cos", dtype="i8", multi=True).save()
    assert other is not None
    fewer = build(tmp_path / "fewer", some_chunks(10))
    wider = build(tmp_path / "wider", {b"x" * 16: np.ones((1, DIM + 1), np.int8)})

    for content in (bytes(other), graph_bytes(wider)):
        with pytest.raises(IndexCorruptError, match="a graph of other vectors"):
            with_content(small, content).nearest(some_queries(1)[0], 5)
    with pytest.raises(IndexCorruptError, match="20 entries for 4000 windows"):
        with_content(small, graph_bytes(fewer)).nearest(some_queries(1)[0], 5)


def test_a_full_disk_is_a_storage_error(tmp_path: Path) -> None:
    built = build(tmp_path / "g", some_chunks(50))
    built.graph.path.unlink()

    with largest_file(2000), pytest.raises(StorageError, match=f"cannot write .*{GRAPH_FILE}"):
        write_graph(tmp_path / "g", built.vectors, built.graph.chunk_ids, added=np.arange(50, dtype=np.int32), old=None)


def test_a_query_that_does_not_fit_is_refused(small: Built) -> None:
    with pytest.raises(RetrievalError, match="walk of the graph failed"):
        small.graph.nearest(np.ones(DIM + 1, np.float32), 5)
    with pytest.raises(EmbeddingFailedError, match="not finite"):
        small.graph.nearest(np.full(DIM, np.nan, np.float32), 5)


def test_an_opened_graph_stays_readable_when_its_file_is_removed(tmp_path: Path) -> None:
    built = build(tmp_path / "g", some_chunks(50))
    built.graph.path.unlink()

    assert len(built.graph.nearest(some_queries(1)[0], 10)) > 0
    assert len(built.graph.to_continue()) == 100


# --- settings --------------------------------------------------------------------------------------------


def test_settings_say_from_when_on_there_is_a_graph() -> None:
    assert [graph_above(name, 7) for name in ("exact", "hnsw", "auto")] == [None, 0, 7]
