"""Window vectors: int8 rows, exact cosines, merges that leave no trace, damaged files."""

import math
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from kebab_stream.errors import EmbeddingFailedError, IndexCorruptError, RetrievalError, StorageError
from kebab_stream.index import vectors
from kebab_stream.index.vectors import GATHER_COST, VectorBuilder, VectorIndex, quantise, spans, write_vectors
from tests.index.stored import all_added, moves

DIM = 5
VECTOR_FILES = ("vectors.rows", "vectors.norms", "vectors.indptr")
Windows = NDArray[np.int8]

CHUNK = arrays(np.int8, st.tuples(st.integers(0, 4), st.just(DIM)), elements=st.integers(-127, 127))
FINITE = st.floats(-(2.0**100), 2.0**100, width=32)


def builder_of(chunks: Iterable[Windows]) -> VectorBuilder:
    builder = VectorBuilder()
    for windows in chunks:
        builder.add(windows)
    return builder


def build(folder: Path, chunks: list[Windows], dim: int = DIM) -> VectorIndex:
    """An index of these chunks, in this order, written and opened."""
    folder.mkdir()
    write_vectors(folder, all_added(len(chunks)), dim=dim, old=None, added=builder_of(chunks))
    return VectorIndex.open(folder, dim)


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in VECTOR_FILES]


def row(*components: int) -> Windows:
    return np.array([components], dtype=np.int8)


# --- quantise --------------------------------------------------------------------------------------------


def test_the_largest_component_becomes_127_and_halves_round_to_even() -> None:
    rows = np.array([[2, -1, 0], [-254, 1, 3], [1e-40, -1e-40, 0], [0, 0, 0]], dtype=np.float32)

    small = quantise(rows)

    np.testing.assert_array_equal(small, [[127, -64, 0], [-127, 0, 2], [127, -127, 0], [0, 0, 0]])
    assert small.dtype == np.int8


def test_no_vectors_quantise_to_no_vectors() -> None:
    assert quantise(np.empty((0, 4), dtype=np.float32)).shape == (0, 4)


@given(arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 8)), elements=FINITE))
def test_quantising_errs_by_half_a_step_at_most_and_uses_the_whole_range(rows: NDArray[np.float32]) -> None:
    small = quantise(rows).astype(np.float64)

    peaks = np.abs(rows).max(axis=1, keepdims=True).astype(np.float64)
    assert np.all(np.abs(small).max(axis=1) == np.where(peaks[:, 0] > 0, 127, 0))
    assert np.all(np.abs(small * peaks / 127 - rows) <= peaks / 127 * 0.5000001)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_component_that_is_not_finite_is_an_embedding_failure(value: float) -> None:
    with pytest.raises(EmbeddingFailedError, match="not finite"):
        quantise(np.array([[1, value]], dtype=np.float32))


# --- cosines ---------------------------------------------------------------------------------------------


def test_a_chunk_scores_by_its_best_window(tmp_path: Path) -> None:
    far_and_near = np.vstack([row(0, 127), row(127, 0), row(-127, 0)])
    index = build(tmp_path / "v", [row(-127, 0), far_and_near, row(0, 5), row(3, 4)], dim=2)

    np.testing.assert_array_equal(index.cosines(np.array([0.5, 0], dtype=np.float32)), [-1, 1, 0, 0.6])


def test_chunks_without_vectors_score_zero_wherever_they_stand(tmp_path: Path) -> None:
    none = np.empty((0, 2), dtype=np.int8)
    index = build(tmp_path / "v", [none, row(-127, 0), none, row(0, 0), row(-3, 4), none], dim=2)

    np.testing.assert_array_equal(index.has_vector, [False, True, False, False, True, False])
    np.testing.assert_array_equal(index.cosines(np.array([1, 0], dtype=np.float32)), [0, -1, 0, 0, -0.6, 0])
    assert (index.n_chunks, index.n_windows) == (6, 2)


def test_a_query_of_zeros_scores_zero_everywhere(tmp_path: Path) -> None:
    index = build(tmp_path / "v", [row(127, 0), row(-3, 4)], dim=2)

    np.testing.assert_array_equal(index.cosines(np.zeros(2, dtype=np.float32)), [0, 0])


@pytest.mark.parametrize("chunks", [[], [np.empty((0, DIM), dtype=np.int8)] * 3])
def test_an_index_without_windows_answers(tmp_path: Path, chunks: list[Windows]) -> None:
    index = build(tmp_path / "v", chunks)

    np.testing.assert_array_equal(index.cosines(np.ones(DIM, dtype=np.float32)), [0.0] * len(chunks))
    assert index.n_windows == 0


@given(chunks=st.lists(CHUNK, max_size=8), query=arrays(np.float32, DIM, elements=FINITE))
@settings(deadline=None)
def test_cosines_are_those_of_a_plain_loop(chunks: list[Windows], query: NDArray[np.float32]) -> None:
    with TemporaryDirectory() as folder:
        cosines = build(Path(folder) / "v", chunks).cosines(query)

    small = [int(component) for component in quantise(query[None, :])[0]]
    for windows, cosine in zip(chunks, cosines, strict=True):
        expected = [loop_cosine(window, small) for window in windows.tolist() if any(window)]
        assert cosine == pytest.approx(max(expected, default=0.0), abs=1e-12)
        assert -1 <= cosine <= 1


def loop_cosine(one: list[int], other: list[int]) -> float:
    norms = sum(a * a for a in one) * sum(b * b for b in other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.sqrt(norms) if norms else 0.0


@given(data=st.data(), chunks=st.lists(CHUNK, max_size=8), query=arrays(np.float32, DIM, elements=FINITE))
def test_some_chunks_get_the_very_bits_that_all_chunks_get(
    data: st.DataObject, chunks: list[Windows], query: NDArray[np.float32]
) -> None:
    wanted = data.draw(st.lists(st.sampled_from(range(len(chunks))), unique=True) if chunks else st.just([]))
    numbers = np.array(wanted, dtype=np.int64)
    with TemporaryDirectory() as folder:
        index = build(Path(folder) / "v", chunks)
        some, everything = index.cosines(query, numbers), index.cosines(query)

    assert some[numbers].tobytes() == everything[numbers].tobytes()
    assert not np.delete(some, numbers).any()


def test_a_subset_knows_its_windows_and_whether_picking_them_is_worth_it(tmp_path: Path) -> None:
    index = build(tmp_path / "v", [np.repeat(row(1, 2), count, axis=0) for count in (3, 0, 1, 4)], dim=2)
    few, none = np.array([False, True, True, False]), np.zeros(4, dtype=np.bool_)

    assert [index.windows_of(allowed) for allowed in (None, few, none, ~none)] == [8, 1, 0, 8]
    assert (index.dim, GATHER_COST) == (2, 4)
    assert [index.worth_picking(windows) for windows in (0, 1, 2, 8)] == [True, True, False, False]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5))))
def test_spans_are_ranges_one_after_the_other(pairs: list[tuple[int, int]]) -> None:
    starts, counts = (np.array([pair[place] for pair in pairs], dtype=np.int64) for place in (0, 1))

    assert spans(starts, starts + counts).tolist() == [
        number for start, count in pairs for number in range(start, start + count)
    ]


@pytest.mark.parametrize("dim", [1, 3, 63, 64, 65, 256, 384, 1000])
@pytest.mark.parametrize("n_windows", [1, 2, 31, 257])
def test_dot_products_are_exact_integers_whatever_the_block_size(dim: int, n_windows: int) -> None:
    random = np.random.default_rng(dim * n_windows)
    rows = random.integers(-127, 128, (n_windows, dim), dtype=np.int8)
    rows[0], rows[-1] = 127, -127  # the largest sums
    query = np.full((1, dim), 127, dtype=np.int8)

    np.testing.assert_array_equal(vectors._dots(rows, query), (rows.astype(np.int64) * query).sum(axis=1))


def test_mapped_rows_are_scanned_in_place(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).integers(-127, 128, (3001, 256), dtype=np.int8)
    index = build(tmp_path / "v", np.split(rows, [7, 1000, 2999]), dim=256)

    assert not index.rows.flags.writeable
    assert not index.rows.flags.owndata
    np.testing.assert_array_equal(
        vectors._dots(index.rows, rows[42:43]), rows.astype(np.int64) @ rows[42].astype(np.int64)
    )
    assert index.cosines(rows[42].astype(np.float32))[1] == 1.0


def test_a_query_of_another_dimension_is_a_retrieval_error(tmp_path: Path) -> None:
    index = build(tmp_path / "v", [row(127, 0)], dim=2)

    for numbers in (None, np.array([0])):
        with pytest.raises(RetrievalError, match="vector scan failed"):
            index.cosines(np.ones(3, dtype=np.float32), numbers)


# --- writing ---------------------------------------------------------------------------------------------


@given(data=st.data(), wanted=st.lists(CHUNK, max_size=8))
@settings(deadline=None)
def test_a_merge_is_byte_identical_to_a_rebuild(data: st.DataObject, wanted: list[Windows]) -> None:
    """Some wanted chunks come from an old index, which has others too and in another order."""
    is_kept = data.draw(st.lists(st.booleans(), min_size=len(wanted), max_size=len(wanted)))
    kept = [number for number, flag in enumerate(is_kept) if flag]
    gone = data.draw(st.lists(CHUNK, max_size=3))
    old_to_new = data.draw(st.permutations([*kept, *([-1] * len(gone))]))
    gone_left = iter(gone)
    old_chunks = [wanted[number] if number >= 0 else next(gone_left) for number in old_to_new]
    added_to_new = data.draw(st.permutations([number for number, flag in enumerate(is_kept) if not flag]))

    with TemporaryDirectory() as temporary, pytest.MonkeyPatch.context() as patch:
        folder = Path(temporary)
        rebuilt = build(folder / "rebuilt", wanted)
        old = build(folder / "old", old_chunks)
        patch.setattr(vectors, "BLOCK_WINDOWS", 3)
        (folder / "merged").mkdir()
        n_windows = write_vectors(
            folder / "merged",
            moves(len(wanted), old_to_new, added_to_new),
            dim=DIM,
            old=old,
            added=builder_of(wanted[number] for number in added_to_new),
        )

        assert n_windows == rebuilt.n_windows
        assert contents(folder / "merged") == contents(folder / "rebuilt")
        np.testing.assert_array_equal(rebuilt.has_vector, [bool(windows.any()) for windows in wanted])


def test_the_files_hold_what_the_docstring_says(tmp_path: Path) -> None:
    build(tmp_path / "v", [row(3, -4), np.vstack([row(127, 127), row(0, 0), row(1, 0)]), row(0, 0)], dim=2)

    assert np.fromfile(tmp_path / "v" / "vectors.rows", np.int8).tolist() == [3, -4, 127, 127, 1, 0]
    assert np.fromfile(tmp_path / "v" / "vectors.norms", "<i4").tolist() == [25, 32258, 1]
    assert np.fromfile(tmp_path / "v" / "vectors.indptr", "<i8").tolist() == [0, 1, 3, 3]


def test_windows_are_copied_when_they_are_added() -> None:
    builder = VectorBuilder()
    windows = row(1, 2)
    builder.add(windows)
    windows[:] = 9

    assert builder.chunks[0].tolist() == [[1, 2]]


def test_vectors_of_another_dimension_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="of 2 dimensions, not 3"):
        build(tmp_path / "v", [row(1, 1)], dim=3)


@pytest.mark.parametrize("name", VECTOR_FILES)
def test_a_file_that_may_be_mapped_is_never_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"mapped")

    with pytest.raises(FileExistsError):
        write_vectors(tmp_path, all_added(0), dim=2, old=None, added=VectorBuilder())

    assert (tmp_path / name).read_bytes() == b"mapped"


# --- opening ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VECTOR_FILES)
def test_a_missing_file_is_a_corrupt_index(tmp_path: Path, name: str) -> None:
    build(tmp_path / "v", [row(1, 2), row(3, 4)], dim=2)
    (tmp_path / "v" / name).unlink()

    with pytest.raises(IndexCorruptError, match=f"{name}: missing"):
        VectorIndex.open(tmp_path / "v", 2)


@pytest.mark.parametrize("name", VECTOR_FILES)
@pytest.mark.parametrize("change", ["cut", "longer", "empty"])
def test_a_file_of_another_size_is_a_corrupt_index(tmp_path: Path, name: str, change: str) -> None:
    build(tmp_path / "v", [row(1, 2), row(3, 4)], dim=2)
    file = tmp_path / "v" / name
    file.write_bytes({"cut": file.read_bytes()[:-1], "longer": file.read_bytes() * 2, "empty": b""}[change])

    with pytest.raises(IndexCorruptError):
        VectorIndex.open(tmp_path / "v", 2)


@pytest.mark.parametrize(
    ("name", "dtype", "values"),
    [
        ("vectors.indptr", "<i8", [0, 3, 2]),
        ("vectors.indptr", "<i8", [1, 2, 2]),
        ("vectors.indptr", "<i8", [0, 1, 1 << 60]),
        ("vectors.norms", "<i4", [5, 0]),
        ("vectors.norms", "<i4", [5, -1]),
    ],
)
def test_numbers_without_sense_are_a_corrupt_index(tmp_path: Path, name: str, dtype: str, values: list[int]) -> None:
    build(tmp_path / "v", [row(1, 2), row(3, 4)], dim=2)
    np.array(values, dtype=dtype).tofile(tmp_path / "v" / name)

    with pytest.raises(IndexCorruptError):
        VectorIndex.open(tmp_path / "v", 2)


def test_an_index_of_another_dimension_is_a_corrupt_index(tmp_path: Path) -> None:
    build(tmp_path / "v", [row(1, 2), row(3, 4)], dim=2)

    with pytest.raises(IndexCorruptError, match="not 2 rows of 4 bytes"):
        VectorIndex.open(tmp_path / "v", 4)


def test_a_file_that_cannot_be_read_is_a_storage_error(tmp_path: Path) -> None:
    build(tmp_path / "v", [row(1, 2)], dim=2)
    (tmp_path / "v" / "vectors.rows").unlink()
    (tmp_path / "v" / "vectors.rows").symlink_to("vectors.rows")  # a loop

    with pytest.raises(StorageError, match="cannot read"):
        VectorIndex.open(tmp_path / "v", 2)
