"""The window vectors of all chunks: written as int8 rows, mapped, scanned exactly.

A chunk has one vector per window of its text and scores by its best window. Rows are int8 scaled per vector, so a
cosine comes from integers: `dot / sqrt(|row|² · |query|²)`. The dot products are exact in int32 and the last step is
one float64 rounding each for root and quotient, so every machine and instruction set gets the same cosine. (A library's
own "angular" metric would not promise that.) By Cauchy-Schwarz and monotone rounding no cosine leaves [-1, 1].

The scan reads every row: 1 ms for 50,000 windows of 256 dimensions, 8 ms for 400,000. For larger collections the graph
(`graph.py`) says which chunks to compare.

Files in the folder of one generation, little-endian, without headers:

    vectors.rows    int8   (n_windows, dim)   in chunk order
    vectors.norms   int32  (n_windows,)       squared norm of each row, never 0
    vectors.indptr  int64  (n_chunks + 1,)    rows of chunk i are indptr[i]:indptr[i + 1]
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numkong
import numpy as np
from numpy.typing import NDArray

from kebab_stream.errors import EmbeddingFailedError, IndexCorruptError, RetrievalError
from kebab_stream.index.arrays import mapped, write_array
from kebab_stream.index.moves import Moves

ROWS_FILE = "vectors.rows"
NORMS_FILE = "vectors.norms"
INDPTR_FILE = "vectors.indptr"

LARGEST = 127
GATHER_COST = 4
"""Comparing a window picked from among others takes as long as this many windows in a row: measured 70 and 20 ns."""

BLOCK_WINDOWS = 16_384
"""Rows gathered at once when writing: 4 MB of 256 dimensions."""


def quantise(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Vectors as int8, scaled one by one: the largest |component| becomes 127, the others round half to even.

    Cosine ignores the scale. Shape (n, dim) stays, rows of zeros stay zero.

    Raises:
        EmbeddingFailedError: a component is not finite.
    """
    wide = vectors.astype(np.float64)
    peaks = np.abs(wide).max(axis=1, keepdims=True, initial=0.0)
    if not np.isfinite(peaks).all():
        raise EmbeddingFailedError("the embedding model returned a vector with components that are not finite")
    peaks[peaks == 0] = 1.0
    # value · 127 is exact in float64, so there is one rounding before rint: halves are recognised as halves
    scaled: NDArray[np.float64] = np.rint(wide * LARGEST / peaks)
    return scaled.astype(np.int8)


def squared_norms(rows: NDArray[np.int8]) -> NDArray[np.int32]:
    """(n,) squared norm of each row, exact. Shape (n, dim)."""
    norms: NDArray[np.int32] = np.square(rows, dtype=np.int32).sum(axis=1, dtype=np.int32)
    return norms


def spans(starts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of some half-open spans, one span after the other. Shapes (n,), starts <= stops."""
    counts = stops - starts
    before = np.cumsum(counts) - counts
    numbers: NDArray[np.int64] = np.arange(counts.sum(), dtype=np.int64) + np.repeat(starts - before, counts)
    return numbers


@dataclass(frozen=True, slots=True, eq=False)
class VectorIndex:
    """The window vectors of one generation, read-only and safe to use from several threads."""

    rows: NDArray[np.int8]
    """(n_windows, dim), mapped, in chunk order, no row of zeros."""
    norms: NDArray[np.int32]
    """(n_windows,), squared."""
    indptr: NDArray[np.int64]
    """(n_chunks + 1,)."""

    @classmethod
    def open(cls, folder: Path, dim: int) -> "VectorIndex":
        """Map the files in `folder`; costs no more than looking at sizes, `indptr` and `norms`.

        Raises:
            IndexCorruptError: a file is missing, cut short, or does not fit the others or `dim`.
            StorageError: a file cannot be read.
        """
        indptr = mapped(folder / INDPTR_FILE, np.dtype("<i8"))
        norms = mapped(folder / NORMS_FILE, np.dtype("<i4"))
        components = mapped(folder / ROWS_FILE, np.dtype(np.int8))
        if len(indptr) == 0 or indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
            raise IndexCorruptError(str(folder / INDPTR_FILE), "not a rising sequence from 0")
        n_windows = int(indptr[-1])
        if len(norms) != n_windows or np.any(norms <= 0):
            raise IndexCorruptError(str(folder / NORMS_FILE), f"not {n_windows} norms above 0")
        if len(components) != n_windows * dim:
            raise IndexCorruptError(str(folder / ROWS_FILE), f"not {n_windows} rows of {dim} bytes")
        return cls(components.reshape(n_windows, dim), norms, indptr)

    @property
    def n_chunks(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_windows(self) -> int:
        return len(self.rows)

    @property
    def dim(self) -> int:
        return int(self.rows.shape[1])

    @property
    def has_vector(self) -> NDArray[np.bool_]:
        """(n_chunks,): whether the chunk has a window at all."""
        return self.indptr[1:] > self.indptr[:-1]

    def windows_of(self, allowed: NDArray[np.bool_] | None) -> int:
        """How many windows some chunks have together. `allowed`: (n_chunks,), or None for all chunks."""
        return self.n_windows if allowed is None else int(np.diff(self.indptr)[allowed].sum())

    def worth_picking(self, windows: int) -> bool:
        """Whether so many windows are compared sooner when they are picked than all windows in a row."""
        return windows * GATHER_COST < self.n_windows

    def cosines(self, query: NDArray[np.float32], numbers: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """(n_chunks,): cosine of each chunk's best window with the quantised query, 0.0 for a chunk without vectors.

        A query of zeros gives zeros.

        Args:
            query: shape (dim,), of any length.
            numbers: the chunks to compare, in any order, each once; the others get 0.0. None compares all.

        Raises:
            EmbeddingFailedError: a component of the query is not finite.
            RetrievalError: the scan failed, for example because the query has another dimension.
        """
        best = np.zeros(self.n_chunks, dtype=np.float64)
        small = quantise(query[np.newaxis, :])
        query_norm = int(squared_norms(small)[0])
        # a chunk without windows would take its neighbour's first one: leave it out
        filled = np.flatnonzero(self.has_vector) if numbers is None else numbers[self.has_vector[numbers]]
        if len(filled) == 0 or query_norm == 0:
            return best
        starts, stops = self.indptr[filled], self.indptr[filled + 1]
        rows, norms = self.rows, self.norms
        if numbers is not None:
            picked = spans(starts, stops)
            rows, norms = rows[picked], norms[picked]
            starts = np.cumsum(stops - starts) - (stops - starts)
        cosines = _dots(rows, small) / np.sqrt(norms * float(query_norm))
        best[filled] = np.maximum.reduceat(cosines, starts)
        return best


@dataclass(slots=True)
class VectorBuilder:
    """Collects the windows of new chunks in memory, in any order of chunks."""

    chunks: list[NDArray[np.int8]] = field(default_factory=list)

    def add(self, windows: NDArray[np.int8]) -> None:
        """Append one chunk: shape (its windows, dim), from `quantise`; rows of zeros are dropped, none left is fine."""
        self.chunks.append(windows[windows.any(axis=1)])


def write_vectors(folder: Path, moves: Moves, *, dim: int, old: VectorIndex | None, added: VectorBuilder) -> int:
    """Write the files of a generation from the chunks kept of `old` and those `added`.

    The bytes depend on the resulting chunks only, not on which of them are old. The files are new: `folder` must not
    hold them yet, because a process may have them mapped. Making them durable is the caller's part.

    Args:
        folder: an existing folder.
        dim: length of a vector, the same in `old` and `added`.
        old: the generation to continue, or None.
        added: the new chunks.

    Returns:
        How many windows there are.

    Raises:
        OSError: a file cannot be written.
        ValueError: the new numbers of chunks have gaps or collide.
    """
    origins = moves.origins()
    sources = added.chunks if old is None else [*added.chunks, *_chunks(old)]
    counts = np.array([len(windows) for windows in sources], dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum(counts[origins])]).astype("<i8")
    with (folder / ROWS_FILE).open("xb") as rows_file, (folder / NORMS_FILE).open("xb") as norms_file:
        for rows in _row_blocks(dim, [sources[number] for number in origins.tolist()]):
            rows_file.write(rows.tobytes())
            norms_file.write(squared_norms(rows).astype("<i4").tobytes())
    write_array(folder / INDPTR_FILE, indptr)
    return int(indptr[-1])


def _chunks(index: VectorIndex) -> list[NDArray[np.int8]]:
    """The rows of each chunk, as views of the mapped file."""
    return [index.rows[start:stop] for start, stop in pairwise(index.indptr.tolist())]


def _row_blocks(dim: int, chunks: list[NDArray[np.int8]]) -> Iterator[NDArray[np.int8]]:
    """The rows of all chunks in order, about BLOCK_WINDOWS at a time, so that no second copy of them all arises."""
    pieces: list[NDArray[np.int8]] = []
    size = 0
    for windows in chunks:
        if windows.shape[1] != dim:
            raise ValueError(f"a chunk has vectors of {windows.shape[1]} dimensions, not {dim}")
        pieces.append(windows)
        size += len(windows)
        if size >= BLOCK_WINDOWS:
            yield np.concatenate(pieces)
            pieces, size = [], 0
    if pieces:
        yield np.concatenate(pieces)


def _dots(rows: NDArray[np.int8], query: NDArray[np.int8]) -> NDArray[np.int32]:
    """Exact inner products of n > 0 rows, shape (n, dim), with one query, shape (1, dim): shape (n,)."""
    products = np.empty((len(rows), 1), dtype=np.int32)
    try:
        numkong.cdist(rows, query, "dot", out=products)
    except (BufferError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise RetrievalError(f"the vector scan failed: {error}") from error
    return products[:, 0]
