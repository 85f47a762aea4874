"""Which pairs a step learns from, and which are kept back to see how it goes."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.static_model.bags import Bags
from tools.static_model.pairs import Pair, PairKind

KIND_WEIGHTS: Final[dict[PairKind, float]] = {
    "parallel": 1.0,
    "parallel_section": 1.0,
    "dictionary": 1.5,
    "bible": 0.5,
    "heading": 0.7,
    "cross_heading": 1.5,
    "cloze": 0.8,
    "question": 3.0,
    "code": 1.0,
    "chat": 0.3,
}
DOUBLED: Final = frozenset(("korsts", "jungyeul", "tydiqa-en", "opensource.guide", "tatoeba", "cc-kedict", "ud-pud"))
"""Sources of clean sentences, drawn twice as often."""
HELD_OUT: Final[tuple[tuple[str, PairKind], ...]] = (
    ("jungyeul", "parallel"),
    ("tydiqa-en", "question"),
    ("mdn-ko", "heading"),
    ("cc-kedict", "dictionary"),
    ("torch", "code"),
)
HELD_OUT_PAIRS: Final = 300
ONE_SOURCE_SHARE: Final = 0.4
ONE_SOURCE_PAIRS: Final = 2_000
"""Only a source with more pairs makes batches of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """The pairs as arrays of one entry a pair."""

    first: Bags
    second: Bags
    first_hashes: NDArray[np.int64]
    second_hashes: NDArray[np.int64]
    """Equal where the texts are, but for letter case."""
    sources: NDArray[np.str_]
    weights: NDArray[np.float64]
    """How often a pair is drawn, in proportion; 0 where a side has no known token or the pair is held out."""

    def equal(self, batch: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(len(batch), len(batch)): pairs i and j have a first or a second text in common."""
        first, second = self.first_hashes[batch], self.second_hashes[batch]
        return np.asarray((first[:, np.newaxis] == first) | (second[:, np.newaxis] == second))


def pair_table(pairs: Sequence[Pair], first: Bags, second: Bags) -> PairTable:
    weights = np.array([KIND_WEIGHTS[pair.kind] * (2 if pair.source in DOUBLED else 1) for pair in pairs])
    return PairTable(
        first,
        second,
        np.array([zlib.crc32(pair.first.lower().encode()) for pair in pairs]),
        np.array([zlib.crc32(pair.second.lower().encode()) for pair in pairs]),
        np.array([pair.source for pair in pairs]),
        weights * (first.lengths > 0) * (second.lengths > 0),
    )


def hold_out(table: PairTable, pairs: Sequence[Pair], rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """Source → pair numbers that training will not draw: their weight becomes 0."""
    held = {}
    for source, kind in HELD_OUT:
        of_kind = [
            number
            for number, pair in enumerate(pairs)
            if pair.source == source and pair.kind == kind and table.weights[number] > 0
        ]
        held[source] = rng.permutation(np.array(of_kind, dtype=np.int64))[:HELD_OUT_PAIRS]
        table.weights[held[source]] = 0
    return {source: numbers for source, numbers in held.items() if len(numbers)}


class Sampler:
    """Draws batches of pairs: from all by weight, or from one source, whose pairs are harder to tell apart."""

    def __init__(self, table: PairTable, rng: np.random.Generator, size: int) -> None:
        self._rng, self._size = rng, size
        self._cumulated = np.cumsum(table.weights / table.weights.sum())
        by_source = {
            str(source): np.flatnonzero((table.sources == source) & (table.weights > 0))
            for source in np.unique(table.sources)
        }
        self._large = [numbers for numbers in by_source.values() if len(numbers) > ONE_SOURCE_PAIRS]
        sums = np.array([table.weights[numbers].sum() for numbers in self._large])
        self._shares = sums / sums.sum()

    def draw(self) -> NDArray[np.int64]:
        """Distinct pair numbers, at most `size`."""
        if self._rng.random() < ONE_SOURCE_SHARE and self._large:
            numbers = self._large[self._rng.choice(len(self._large), p=self._shares)]
            return self._rng.choice(numbers, min(self._size, len(numbers) // 2), replace=False)
        places = np.searchsorted(self._cumulated, self._rng.random(self._size))
        return np.unique(places.clip(0, len(self._cumulated) - 1))
