"""The lexical index: postings in memory-mapped arrays, scored by Lucene's BM25 when a query comes.

score(chunk) = Σ over the query's term occurrences of idf · tf / (tf + k1 · (1 − b + b · length / mean length)),
idf = ln(1 + (N − df + 0.5) / (df + 0.5)): BM25 (Robertson and Zaragoza 2009) as Lucene computes it since version 8,
without the factor (k1 + 1). Neither idf nor length normalisation is stored, so chunks come and go without touching
the postings of others.

Files, raw little-endian arrays that depend on the content alone; T terms, sorted by their UTF-8 bytes, P postings:
`terms` uint8, the terms end to end; `term_offsets` int64 (T + 1), where each begins; `indptr` int64 (T + 1), where the
postings of each begin; `chunks` int32 (P), chunk numbers, ascending within a term; `frequencies` uint16 (P), at most
65,535; `lengths` int32 (N + 1), how many terms each chunk has, then −1 − N, so that a short
file shows.
"""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kebab_stream.errors import IndexCorruptError
from kebab_stream.index.arrays import mapped, write_array
from kebab_stream.index.moves import Moves

if TYPE_CHECKING:
    from kebab_stream.reports.lookup import IndexedTerm

_DTYPES = {
    "terms": "<u1",
    "term_offsets": "<i8",
    "indptr": "<i8",
    "chunks": "<i4",
    "frequencies": "<u2",
    "lengths": "<i4",
}

_FREQUENCY_BITS = 16
_MAX_FREQUENCY = (1 << _FREQUENCY_BITS) - 1

K1 = 1.2
"""How much repetition is damped. This and the next are Lucene's defaults."""
B = 0.75
"""How much long chunks are held back, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Which term occurs how often in which chunk: three arrays of one length, and each chunk's number of terms.

    `term_numbers` are positions in `terms`; a (term, chunk) pair occurs once.
    """

    terms: list[bytes]
    term_numbers: NDArray[np.integer]
    chunks: NDArray[np.int32]
    frequencies: NDArray[np.uint16]
    lengths: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where a term or a phrase occurs: chunk numbers, ascending, and how often in each."""

    chunks: NDArray[np.integer]
    frequencies: NDArray[np.integer]


class LexicalIndex:
    """One committed set of postings, open for reading; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._terms = self._mapped("terms")
        self._term_offsets = self._mapped("term_offsets")
        self._indptr = self._mapped("indptr")
        self._chunks = self._mapped("chunks")
        self._frequencies = self._mapped("frequencies")
        lengths = self._mapped("lengths")
        self._check_division("term_offsets", self._term_offsets, len(self._terms))
        self._check_division("indptr", self._indptr, len(self._chunks))
        self._check("indptr", fits=len(self._indptr) == len(self._term_offsets))
        self._check("frequencies", fits=len(self._frequencies) == len(self._chunks))
        self._check("lengths", fits=len(lengths) > 0 and lengths[-1] == -len(lengths))
        self._lengths: NDArray[np.int32] = lengths[:-1]
        self.n_chunks = len(self._lengths)
        mean = int(self._lengths.sum(dtype=np.int64)) / max(self.n_chunks, 1) or 1.0
        self._norms: NDArray[np.float64] = K1 * (1.0 - B + B * (self._lengths / mean))

    @classmethod
    def open(cls, folder: Path) -> "LexicalIndex":
        """Map the files of `folder`.

        Raises:
            IndexCorruptError: a file is missing or short, or does not fit the others. Changed bytes are not looked
                for: that takes checksums.
            StorageError: a file cannot be read.
        """
        return cls(folder)

    def scores(
        self, query_terms: Sequence[str], phrases: Sequence[Occurrences] = ()
    ) -> tuple[NDArray[np.float64], float]:
        """Score every chunk; the order of the terms does not matter, not even to the last bit.

        Args:
            query_terms: analysed; one that is repeated counts as often.
            phrases: counted like one more term each, though the index has no postings of them.

        Returns:
            (n_chunks,) BM25, 0.0 where no term occurs; and the bound that every score is below: Σ idf over the term
            occurrences (a term that no chunk has counts with df = 0).

        Raises:
            IndexCorruptError: the postings of a term are not usable.
        """
        totals = np.zeros(self.n_chunks)
        bound = 0.0
        for term, occurrences in sorted(Counter(map(_encoded, query_terms)).items()):
            start, end = self._bounds(term)
            found = Occurrences(self._chunks[start:end], self._frequencies[start:end])
            bound += self._add_score(totals, found, occurrences)
        for phrase in phrases:
            bound += self._add_score(totals, phrase, 1)
        return totals, bound

    def _add_score(self, totals: NDArray[np.float64], found: Occurrences, repeats: int) -> float:
        """Add what a term, so often in the query, contributes to each chunk; the most it can contribute."""
        weight = repeats * self._idf(len(found.chunks))
        frequencies = found.frequencies.astype(np.float64)
        try:
            totals[found.chunks] += weight * (frequencies / (frequencies + self._norms[found.chunks]))
        except IndexError as error:
            raise self._corrupt("chunks") from error
        return weight

    def chunks_with(self, term: str) -> NDArray[np.int32]:
        """The chunks in which the term occurs, ascending. Raises IndexCorruptError if there are no such chunks."""
        start, end = self._bounds(_encoded(term))
        chunks = self._chunks[start:end]
        self._check("chunks", fits=start == end or (chunks.min() >= 0 and chunks.max() < self.n_chunks))
        return chunks

    def document_frequency(self, term: str) -> int:
        """In how many chunks the term occurs."""
        start, end = self._bounds(_encoded(term))
        return end - start

    def terms_of(self, number: int) -> "list[IndexedTerm]":
        """The terms of a chunk, ascending. Goes through all postings: 10 ms for 100,000 chunks."""
        from kebab_stream.reports.lookup import IndexedTerm  # late: a search does without

        places = np.flatnonzero(self._chunks == number)
        ranks = np.searchsorted(self._indptr, places, side="right") - 1
        document_frequencies = np.diff(self._indptr)[ranks].tolist()
        return [
            IndexedTerm(
                term=self._term(rank).decode("utf-8", "replace"),
                frequency=frequency,
                document_frequency=document_frequency,
                idf=round(self._idf(document_frequency), 6),
            )
            for rank, frequency, document_frequency in zip(
                ranks.tolist(), self._frequencies[places].tolist(), document_frequencies, strict=True
            )
        ]

    def postings(self) -> Postings:
        """Everything that is stored; `terms` ascend.

        Raises:
            IndexCorruptError: the arrays do not fit each other.
        """
        sizes = np.diff(self._indptr)
        self._check("indptr", fits=bool((sizes > 0).all()))
        self._check("chunks", fits=bool(((self._chunks >= 0) & (self._chunks < self.n_chunks)).all()))
        blob = self._terms.tobytes()
        return Postings(
            terms=[blob[start:end] for start, end in pairwise(self._term_offsets.tolist())],
            term_numbers=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            chunks=self._chunks,
            frequencies=self._frequencies,
            lengths=self._lengths,
        )

    def _idf(self, document_frequency: int) -> float:
        return math.log(1.0 + (self.n_chunks - document_frequency + 0.5) / (document_frequency + 0.5))

    def _bounds(self, term: bytes) -> tuple[int, int]:
        """Where the postings of the term begin and end; (0, 0) if there is no such term."""
        low, high = 0, len(self._indptr) - 1
        while low < high:
            middle = (low + high) // 2
            found = self._term(middle)
            if found == term:
                start, end = int(self._indptr[middle]), int(self._indptr[middle + 1])
                self._check("indptr", fits=0 <= start < end <= len(self._chunks) and end - start <= self.n_chunks)
                return start, end
            if found < term:
                low = middle + 1
            else:
                high = middle
        return 0, 0

    def _term(self, rank: int) -> bytes:
        return self._terms[self._term_offsets[rank] : self._term_offsets[rank + 1]].tobytes()

    def _mapped(self, name: str) -> NDArray[Any]:
        return mapped(_path(self._folder, name), np.dtype(_DTYPES[name]))

    def _check_division(self, name: str, offsets: NDArray[np.int64], total: int) -> None:
        self._check(name, fits=len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == total)

    def _check(self, name: str, *, fits: bool) -> None:
        if not fits:
            raise self._corrupt(name)

    def _corrupt(self, name: str) -> IndexCorruptError:
        return IndexCorruptError(str(_path(self._folder, name)), "is damaged or does not fit the files beside it")


class LexicalBuilder:
    """Counts the terms of new chunks, in flat arrays and one vocabulary."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._term_numbers = array("i")
        self._frequencies = array("i")
        self._distinct = array("i")
        self._lengths = array("i")

    def add(self, frequencies: Mapping[str, int]) -> None:
        """Add one chunk: its terms, and how often each occurs. Chunks are numbered 0, 1, 2… in the order added."""
        self._term_numbers.extend(map(self._numbers.__getitem__, frequencies))
        self._frequencies.extend(frequencies.values())
        self._distinct.append(len(frequencies))
        self._lengths.append(sum(frequencies.values()))

    def postings(self) -> Postings:
        """What was added so far; `terms` are in the order they were met."""
        lengths = np.array(self._lengths, dtype=np.int32)
        return Postings(
            terms=list(map(_encoded, self._numbers)),
            term_numbers=np.array(self._term_numbers, dtype=np.int32),
            chunks=np.repeat(np.arange(len(lengths), dtype=np.int32), np.array(self._distinct, dtype=np.int32)),
            frequencies=np.minimum(np.array(self._frequencies, dtype=np.int32), _MAX_FREQUENCY).astype(np.uint16),
            lengths=lengths,
        )


def write_lexical(folder: Path, moves: Moves, *, old: LexicalIndex | None, added: LexicalBuilder) -> None:
    """Write the index of the new chunks into `folder`, which exists; nothing is synced to disk.

    Old chunks keep their postings without being analysed again; the files are those that adding every chunk would give.

    Args:
        old: the index to carry over; None builds from `added` alone.
        added: the chunks to add.

    Raises:
        ValueError: the new numbers of chunks have gaps or collide; or more than 2^48 terms × chunks.
        IndexCorruptError: `old` is damaged.
        OSError: a file cannot be written.
    """
    parts = [(added.postings(), moves.added_to_new)]
    if old is not None:
        parts.append((old.postings(), moves.old_to_new))
    n_chunks = moves.n_chunks
    lengths = np.concatenate([postings.lengths for postings, _ in parts])[moves.origins()]
    terms = sorted(set[bytes]().union(*(postings.terms for postings, _ in parts)))
    ranks = {term: rank for rank, term in enumerate(terms)}
    packed = np.concatenate([_packed(postings, to_new, ranks, n_chunks) for postings, to_new in parts])
    packed.sort(kind="stable")  # what is carried over comes sorted, and this kind merges sorted runs: 1.1 s to 0.01
    _write(folder, terms, packed, lengths)


def _packed(
    postings: Postings, to_new: NDArray[np.int32], ranks: dict[bytes, int], n_chunks: int
) -> NDArray[np.uint64]:
    """Each posting as one integer, (rank of the term, new chunk number, frequency): sorting integers merges."""
    chunk_bits = n_chunks.bit_length()
    if len(ranks).bit_length() + chunk_bits + _FREQUENCY_BITS > 64:
        raise ValueError(f"{len(ranks)} terms in {n_chunks} chunks are more than one index holds")
    rank_of = np.fromiter(map(ranks.__getitem__, postings.terms), dtype=np.uint64, count=len(postings.terms))
    chunks = to_new[postings.chunks]
    kept = chunks >= 0
    packed: NDArray[np.uint64] = rank_of[postings.term_numbers[kept]]
    packed <<= np.uint64(chunk_bits)
    packed |= chunks[kept].astype(np.uint32)
    packed <<= np.uint64(_FREQUENCY_BITS)
    packed |= postings.frequencies[kept]
    return packed


def _write(folder: Path, terms: list[bytes], packed: NDArray[np.uint64], lengths: NDArray[np.int32]) -> None:
    """Unpack sorted postings into files, without the terms that have none. Uses up `packed`."""
    chunk_bits = len(lengths).bit_length()
    frequencies = (packed & np.uint64(_MAX_FREQUENCY)).astype(np.uint16)
    packed >>= np.uint64(_FREQUENCY_BITS)
    chunks = (packed & np.uint64((1 << chunk_bits) - 1)).astype(np.int32)
    packed >>= np.uint64(chunk_bits)
    document_frequencies = np.bincount(packed.view(np.int64), minlength=len(terms))
    used = np.flatnonzero(document_frequencies)
    used_terms = [terms[rank] for rank in used.tolist()]
    columns: dict[str, NDArray[Any]] = {
        "terms": np.frombuffer(b"".join(used_terms), dtype=np.uint8),
        "term_offsets": np.cumsum([0, *map(len, used_terms)]),
        "indptr": np.cumsum([0, *document_frequencies[used].tolist()]),
        "chunks": chunks,
        "frequencies": frequencies,
        "lengths": np.append(lengths, -1 - len(lengths)),
    }
    for name, column in columns.items():
        write_array(_path(folder, name), column.astype(_DTYPES[name], copy=False))


def _encoded(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")


def _path(folder: Path, name: str) -> Path:
    return folder / f"lexical_{name}.bin"
