"""Texts as bags of token numbers, and the vectors of many bags at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kebab_stream.embed.static import UNKNOWN_TOKEN

SMALLEST_NORM = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """Bag b holds `ids[starts[b]:starts[b + 1]]`."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    """(bags + 1,), from 0 on."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def take(self, numbers: NDArray[np.int64]) -> "Bags":
        """The bags of these numbers, in this order."""
        parts = [self.ids[self.starts[number] : self.starts[number + 1]] for number in numbers]
        return of(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Bags with their vectors."""

    bags: Bags
    units: NDArray[np.float32]
    """(bags, dim), L2 norm 1."""
    norms: NDArray[np.float32]
    """(bags, 1), of the sums before they were normalised."""


def of(parts: Sequence[NDArray[np.int64]]) -> Bags:
    starts = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    return Bags(np.concatenate(parts), starts)


def tokenised(tokenizer: Tokenizer, texts: Sequence[str]) -> Bags:
    """A bag for each text, unknown tokens left out: a bag may be empty."""
    encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    return of([np.array([i for i in encoding.ids if i != UNKNOWN_TOKEN], dtype=np.int64) for encoding in encodings])


def encoded(rows: NDArray[np.float32], bags: Bags) -> Encoded:
    """u = s / max(|s|, SMALLEST_NORM) with s = Σ_t rows[t] over the tokens of a bag; no bag may be empty."""
    sums = np.add.reduceat(rows.take(bags.ids, axis=0), bags.starts[:-1], axis=0)
    norms = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(SMALLEST_NORM))
    return Encoded(bags, sums / norms, norms)


def sum_gradient(bags: Encoded, gradient: NDArray[np.float32]) -> NDArray[np.float32]:
    """Gradient at the sums, given the one at the units, both (bags, dim): (g − (g · u) u) / |s|.

    Each token of a bag has this gradient too.
    """
    along = np.einsum("bd,bd->b", gradient, bags.units)[:, np.newaxis]
    return np.asarray((gradient - along * bags.units) / bags.norms, dtype=np.float32)
