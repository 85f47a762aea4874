"""The tokenizer of the bundled model over a mapped vocabulary: a query needs a few dozen look-ups, no 1 MB of JSON.

It gives the ids that the `tokenizers` library gives (a test compares the two), which takes 80 ms to load the same
vocabulary. Characters that are in no piece have no id here. Where Unicode has changed since one of the two was made,
they need not agree: `is_common` tells the texts for which they do.

`vocabulary.bin` is written from `tokenizer.json` by `tools/write_vocabulary.py`. All numbers are little-endian:

    magic, checksum of `tokenizer.json`, checksum of what follows it, count, score of an unknown character (`HEADER`)
    | scores float64[count] | ids uint32[count] | ends uint32[count] | the pieces' UTF-8, in the order of their bytes
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

MAGIC = b"unigram2"
HEADER = np.dtype(
    [("magic", "S8"), ("made_from", "<u4"), ("checksum", "<u4"), ("count", "<u8"), ("unknown_score", "<f8")]
)
CHECKED_FROM = 16
"""Where the part of the header begins that the file's own checksum covers, with all that follows."""
UNKNOWN_PENALTY = 10.0
"""How much less likely than the least likely piece an unknown character is, as a difference of logarithms."""

_BYTES_PER_PIECE = 8 + 4 + 4
_LONG_SETTLED = (
    ("\0", "\u058f"),  # ASCII, Latin, Greek, Cyrillic, Armenian
    ("\u2000", "\u206f"),  # punctuation
    ("\u3000", "\u30ff"),  # CJK punctuation, Kana
    ("\u4e00", "\u9fa5"),  # Han
    ("\uac00", "\ud7a3"),  # Hangul
    ("\uff01", "\uff5e"),  # full-width ASCII
)
_CAMEL_BORDER = re.compile("(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True, eq=False)
class MappedUnigram:
    """Pieces with their scores (log-probabilities), sorted; safe to use from several threads."""

    scores: memoryview
    ids: memoryview
    ends: memoryview
    """Where each piece ends in `pieces`; it begins where the one before it ends."""
    pieces: memoryview
    unknown_score: float

    @classmethod
    def open(cls, path: Path, tokenizer: Path) -> "MappedUnigram":
        """Map the file, and compare it with its checksum and the one of the tokenizer it was made from: 0.5 ms.

        Raises:
            OSError: one of the two cannot be read.
            ValueError: it is no such file, or damaged, or made from another tokenizer.
        """
        if path.stat().st_size < HEADER.itemsize:
            raise ValueError(f"{path.name}: cut")
        mapped = np.memmap(path, np.uint8, mode="r")
        header = mapped[: HEADER.itemsize].view(HEADER)[0]
        if header["magic"] != MAGIC or isal_zlib.crc32(mapped[CHECKED_FROM:]) != header["checksum"]:
            raise ValueError(f"{path.name}: damaged, or of another version")
        if isal_zlib.crc32(tokenizer.read_bytes()) != header["made_from"]:
            raise ValueError(f"{path.name}: made from another {tokenizer.name}; a model does without this file")
        count = int(header["count"])
        content = mapped[HEADER.itemsize :]
        scores, ids, ends, pieces = np.split(content, [8 * count, 12 * count, _BYTES_PER_PIECE * count])
        return cls(
            _mapped(scores, "f8"),
            _mapped(ids, "u4"),
            _mapped(ends, "u4"),
            _mapped(pieces, "u1"),
            float(header["unknown_score"]),
        )

    def token_ids(self, text: str) -> list[int]:
        """Ids of the pieces that the text is most likely made of, unknown characters left out."""
        return [token_id for word in words(text) for token_id in self.word_ids(word)]

    def word_ids(self, word: str) -> list[int]:
        """The most likely pieces of a word: the best path from its beginning to its end (Viterbi).

        Kudo 2018, "Subword Regularization"; of two paths of the same score the one whose last piece is longer.
        """
        best = [0.0] + [-np.inf] * len(word)
        last: list[tuple[int, int | None]] = [(0, None)] * (len(word) + 1)
        for start in range(len(word)):
            for stop, piece in self._pieces_from(word, start):
                step = self.unknown_score if piece is None else self.scores[piece]
                if best[start] + step > best[stop]:
                    best[stop] = best[start] + step
                    last[stop] = start, piece
        found = []
        place = len(word)
        while place:
            place, piece = last[place]
            if piece is not None:
                found.append(self.ids[piece])
        return found[::-1]

    def _pieces_from(self, word: str, start: int) -> Iterator[tuple[int, int | None]]:
        """(where it stops, its number) of each piece that stands at `start`; None for a character that is none."""
        at = 0
        for stop in range(start + 1, len(word) + 1):
            wanted = word[start:stop].encode()
            at = bisect_left(range(len(self.ends)), wanted, lo=at, key=self._piece)
            next_piece = self._piece(at) if at < len(self.ends) else b""
            if next_piece == wanted:
                yield stop, at
            elif stop == start + 1:
                yield stop, None
            if not next_piece.startswith(wanted):
                return

    def _piece(self, number: int) -> bytes:
        return bytes(self.pieces[self.ends[number - 1] if number else 0 : self.ends[number]])


def is_common(text: str) -> bool:
    """Whether all characters are such that no version of Unicode sees them in another way."""
    return text.isascii() or all(any(low <= char <= high for low, high in _LONG_SETTLED) for char in text)


def _mapped(numbers: NDArray[np.uint8], kind: str) -> memoryview:
    """The numbers as a sequence of Python's, which is quicker one by one; copied on big-endian machines only."""
    return memoryview(np.ascontiguousarray(numbers.view("<" + kind), kind).data)


def words(text: str) -> list[str]:
    """The text in NFKC and small letters, cut at camelCase borders and where the kind of character changes."""
    normalised = _CAMEL_BORDER.sub(" ", unicodedata.normalize("NFKC", text))
    small = "".join(map(str.lower, normalised))  # a character at a time: Σ is σ at the end of a word, too
    return ["".join(run) for kind, run in groupby(small, _kind) if kind is not None]


@lru_cache(maxsize=1 << 12)
def _kind(character: str) -> str | None:
    """`HANGUL`, `LATIN`, `DIGIT`, or `OTHER` for letters of other scripts; None for what is in no word."""
    if character.isdecimal():
        return "DIGIT"
    if not character.isalpha():
        return None
    script = unicodedata.name(character, "").partition(" ")[0]
    return script if script in ("HANGUL", "LATIN") else "OTHER"
