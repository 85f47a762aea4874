"""The graph (HNSW) over the window vectors of a large collection: built at ingest, mapped and walked by a search.

It only finds candidates. Their scores are computed from the vectors themselves, so a search with the graph gives each
chunk the score that a search without it would give, and may miss a few chunks.

The file `vectors.graph` in the folder of a generation has the format of usearch; small collections have none. An entry
is one window. Its key is the first 7 bytes of the id of its chunk, because chunk numbers change with every generation.
Entries are added and never removed: those of chunks that are gone are dead, lead the walk on, and are dropped from what
it finds. When too many are dead, the graph is built anew.

Distances are exact integers, so the same graph gives the same answer on every machine and instruction set: rows are
scaled to about the same length, where the order of squared distances is that of cosines. (A library's own "cosine"
rounds differently from one processor to the next.) One thread adds the entries, in the order of chunk ids, so the same
history of a corpus gives the same bytes. Another history of the same corpus may give another graph.
"""

import math
from dataclasses import dataclass, field
from mmap import mmap
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kebab_stream.errors import IndexCorruptError, RetrievalError, StorageError
from kebab_stream.index.arrays import mapped_bytes
from kebab_stream.index.checksum import checksum, written
from kebab_stream.index.vectors import GATHER_COST, LARGEST, VectorIndex, quantise, spans, squared_norms

if TYPE_CHECKING:
    from usearch.index import Index

GRAPH_FILE = "vectors.graph"

CONNECTIVITY = 24
"""Neighbours kept of each entry; twice as many in the lowest layer."""
EXPANSION_ADD = 128
"""Entries looked at to choose the neighbours of a new one."""
MAX_DEAD = 0.2
"""Share of dead entries up to which a graph is continued."""
BLOCK_WINDOWS = 4096
"""Entries added at once; the processor scales that many rows in memory."""

LEAST_ASKED = 512
"""Windows asked for at least: with fewer, a walk is too narrow to find the nearest surely."""
OVER_FETCH = 4
"""Windows asked for each chunk that is wanted: chunks have several windows, and the last ones are found less surely."""
WALK_COST = 200
"""Asking the graph for a window takes as long as comparing this many in a row: measured 4 µs and 20 ns."""

_KEY_BYTES = 7
"""An eighth byte of ones could make the key that usearch keeps for itself."""
_STEP = 20.0
"""Length of a row, per root of its dimension: longer ones would round less, but more of their components pass 127."""


def graph_above(vector_index: str, exact_below: int) -> int | None:
    """The number of windows beyond which these settings want a graph; None for never.

    Args:
        vector_index: `exact`, `hnsw` or `auto`.
        exact_below: what `auto` goes by.
    """
    return {"exact": None, "hnsw": 0}.get(vector_index, exact_below)


@dataclass(slots=True, eq=False)
class Graph:
    """The graph of one generation, read-only and safe to use from several threads."""

    path: Path
    content: mmap | bytes
    """Mapped when the generation is opened, so that it stays readable when the file is removed."""
    vectors: VectorIndex
    chunk_ids: NDArray[np.uint8]
    """(n_chunks, 16), ascending."""
    checksum: str | None = None
    """What the file was when it was written. None believes that it still is."""
    _index: "Index | None" = None
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(
        cls, folder: Path, vectors: VectorIndex, chunk_ids: NDArray[np.uint8], checksum: str | None = None
    ) -> "Graph":
        """Map the file in `folder`. What is in it is looked at when it is first used, which takes a heavy library.

        Raises:
            IndexCorruptError: the file is missing.
            StorageError: it cannot be read.
        """
        return cls(folder / GRAPH_FILE, mapped_bytes(folder / GRAPH_FILE), vectors, chunk_ids, checksum)

    def candidates(
        self, query: NDArray[np.float32], *, wanted: int, allowed: NDArray[np.bool_] | None, always: bool = False
    ) -> NDArray[np.int64] | None:
        """Find the chunks that are worth comparing with a query.

        Args:
            query: shape (dim,), not all zeros.
            wanted: how many chunks, at least.
            allowed: (n_chunks,) False for chunks a filter excludes; None lets all through.
            always: without a filter, walk also where comparing all windows is less work.

        Returns:
            Chunk numbers, ascending; None where all allowed chunks are to be compared, since that is less work or the
            walk would have to visit all.

        Raises:
            EmbeddingFailedError: a component of the query is not finite.
            IndexCorruptError: the file holds no graph, or not one of these vectors.
            RetrievalError: the walk failed, for example because the query has another dimension.
        """
        windows, n_windows = self.vectors.windows_of(allowed), self.vectors.n_windows
        cost = 1 if always and allowed is None else WALK_COST
        asked = max(OVER_FETCH * wanted, LEAST_ASKED) * n_windows // max(windows, 1)
        while asked * cost < min(windows * GATHER_COST, n_windows):
            numbers = self.nearest(query, asked)
            if allowed is not None:
                numbers = numbers[allowed[numbers]]
            if len(numbers) >= wanted:
                return numbers
            asked *= 2
        return None

    def nearest(self, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """The numbers of the chunks of the `count` nearest windows, ascending: fewer, for several reasons.

        Raises:
            EmbeddingFailedError, IndexCorruptError, RetrievalError: as `candidates`.
        """
        needle = _on_sphere(quantise(query[np.newaxis, :]))[0]
        with self._lock:  # usearch can end the whole process when more threads search than it has made ready for
            self._index = self._index or self._read(view=True)
            try:
                keys: NDArray[np.uint64] = self._index.search(needle, count, threads=1).keys
            except (RuntimeError, ValueError) as error:
                raise RetrievalError(f"the walk of the graph failed: {error}") from error
        return _chunks_of(keys, self.chunk_ids)

    def to_continue(self) -> "Index":
        """A copy in memory that takes more entries. Raises IndexCorruptError, as `candidates`."""
        return self._read(view=False)

    def _read(self, *, view: bool) -> "Index":
        from usearch.index import Index

        index = _empty(self.vectors.dim)
        content = memoryview(self.content)
        # Always in full: one flipped bit can make usearch read anywhere in memory, which ends the whole process.
        if self.checksum not in {None, written(checksum([content]))}:
            raise IndexCorruptError(str(self.path), "its bytes are not those that were written")
        try:
            stated = Index.metadata(content) or {}
            found = tuple(stated.get(name) for name in ("kind_metric", "kind_scalar", "dimensions", "count_deleted"))
            if found != (index.metric_kind, index.dtype, index.ndim, 0):
                raise IndexCorruptError(str(self.path), "a graph of other vectors")
            (index.view if view else index.load)(content)
        except (RuntimeError, ValueError) as error:
            raise IndexCorruptError(str(self.path), f"not a graph ({error})") from error
        if len(index) < self.vectors.n_windows:
            raise IndexCorruptError(str(self.path), f"{len(index)} entries for {self.vectors.n_windows} windows")
        return index


def write_graph(
    folder: Path, vectors: VectorIndex, chunk_ids: NDArray[np.uint8], *, added: NDArray[np.int32], old: Graph | None
) -> None:
    """Write the graph of a generation, by adding to an old one unless too much of that is dead.

    Takes about 0.3 ms for each window added. The file is new, and making it durable is the caller's part.

    Args:
        folder: an existing folder.
        vectors: all windows of the generation, in chunk order.
        chunk_ids: (n_chunks, 16), ascending.
        added: numbers of the chunks whose windows the old graph has not.
        old: the graph to continue, or None.

    Raises:
        IndexCorruptError: the old graph is damaged.
        StorageError: the file cannot be written, or there is not enough memory.
    """
    chunks = np.sort(added)
    windows = spans(vectors.indptr[chunks], vectors.indptr[chunks + 1])
    index = old.to_continue() if old else None
    if index is None or vectors.n_windows < (1 - MAX_DEAD) * (len(index) + len(windows)):
        index, windows = _empty(vectors.dim), np.arange(vectors.n_windows)
    keys = np.repeat(_keys(chunk_ids), np.diff(vectors.indptr))
    try:
        for start in range(0, len(windows), BLOCK_WINDOWS):
            block = windows[start : start + BLOCK_WINDOWS]
            index.add(keys[block], _on_sphere(vectors.rows[block]), threads=1)
        index.save(folder / GRAPH_FILE)
    except (RuntimeError, MemoryError) as error:
        raise StorageError(f"cannot write {folder / GRAPH_FILE}: {error}") from error


def _empty(dim: int) -> "Index":
    # Late: it takes longer to load than most searches take.
    from usearch.index import Index

    return Index(
        ndim=dim,
        metric="l2sq",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        multi=True,  # a key has an entry for each window of its chunk
        enable_key_lookups=False,  # nobody looks for a key: saves the table
    )


def _on_sphere(rows: NDArray[np.int8]) -> NDArray[np.int8]:
    """Rows of about the same length, shape (n, dim), none of zeros.

    A squared distance is at most (2 · 20)² · dim: float32, in which usearch keeps it, holds it exactly up to 10,000
    dimensions.
    """
    lengths = np.sqrt(squared_norms(rows).astype(np.float64))
    scaled: NDArray[np.float64] = rows * (_STEP * math.sqrt(rows.shape[1]) / lengths)[:, np.newaxis]
    return np.rint(scaled).clip(-LARGEST, LARGEST).astype(np.int8)


def _keys(chunk_ids: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """(n,) key of each chunk."""
    first = np.pad(chunk_ids[:, :_KEY_BYTES], ((0, 0), (0, 8 - _KEY_BYTES)))
    return first.view("<u8").ravel().astype(np.uint64)


def _chunks_of(keys: NDArray[np.uint64], chunk_ids: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The numbers of the chunks with these keys, ascending: none for a dead key, several for ids that begin alike."""
    id_bytes = chunk_ids.shape[1]
    table = np.ascontiguousarray(chunk_ids).view(f"S{id_bytes}").ravel()
    first = np.unique(keys).astype("<u8").view(np.uint8).reshape(-1, 8)[:, :_KEY_BYTES]
    rest = ((0, 0), (0, id_bytes - _KEY_BYTES))
    low, high = (np.pad(first, rest, constant_values=fill).view(f"S{id_bytes}").ravel() for fill in (0, 255))
    return np.sort(spans(np.searchsorted(table, low), np.searchsorted(table, high, "right")))
