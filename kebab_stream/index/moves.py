"""Which chunk of a new generation comes from where."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """The new numbers of the chunks of an old generation and of those that are added."""

    n_chunks: int
    """Chunks in the new generation."""
    old_to_new: NDArray[np.int32]
    """(old.n_chunks,) new number of each old chunk, -1 where it is gone; empty without an old generation."""
    added_to_new: NDArray[np.int32]
    """(chunks added,) new number of each of them, -1 where it is dropped."""

    def origins(self) -> NDArray[np.int64]:
        """(n_chunks,) where each new chunk comes from: number in the added ones, or their count + number in the old.

        Raises:
            ValueError: the new numbers are not 0 to n_chunks - 1, each once.
        """
        new_numbers = np.concatenate([self.added_to_new, self.old_to_new])
        sources = np.flatnonzero(new_numbers >= 0)
        if not np.array_equal(np.sort(new_numbers[sources]), np.arange(self.n_chunks)):
            raise ValueError(f"the new numbers of chunks must be 0 to {self.n_chunks - 1}, each once")
        origins = np.empty(self.n_chunks, dtype=np.int64)
        origins[new_numbers[sources]] = sources
        return origins
