"""Lexical indexes of chunks that are made up: their words follow Zipf's law, as words do."""

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kebab_stream.index.lexical import LexicalBuilder, write_lexical
from kebab_stream.index.moves import Moves

VOCABULARY = 200_000
CHUNK_TERMS = 60
QUERY_TERMS = 4
_BATCH = 10_000


def synthetic_index(n_chunks: int, place: Path) -> Path:
    """The folder of an index of so many chunks, written if it is not there; a larger one begins as a smaller one."""
    folder = place / f"synthetic-{n_chunks}"
    if folder.exists():
        return folder
    builder = LexicalBuilder()
    random = np.random.default_rng(8)
    names = np.array([f"t{number}" for number in range(VOCABULARY)], dtype=object)
    for start in range(0, n_chunks, _BATCH):
        count = min(_BATCH, n_chunks - start)
        for terms in names[_ranks(random, (count, CHUNK_TERMS))].tolist():
            builder.add(Counter(terms))
    folder.mkdir()
    numbers = np.arange(n_chunks, dtype=np.int32)
    write_lexical(folder, Moves(n_chunks, np.empty(0, dtype=np.int32), numbers), old=None, added=builder)
    return folder


def synthetic_queries(count: int) -> list[list[str]]:
    """Terms of queries, drawn like those of the chunks."""
    ranks = _ranks(np.random.default_rng(9), (count, QUERY_TERMS))
    return [[f"t{number}" for number in row] for row in ranks.tolist()]


def _ranks(random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Ranks from 0, with probability proportional to 1 / (rank + 1)."""
    weights = np.cumsum(1.0 / np.arange(1, VOCABULARY + 1))
    return np.searchsorted(weights / weights[-1], random.random(shape)).astype(np.int64)
