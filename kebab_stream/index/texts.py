"""The folded text of every chunk, mapped: what "contains this text" is decided on, for filters and quoted phrases.

Folded text (`analyser.fold`) has no case, no compatibility forms and single spaces. Containing is a search for bytes:
70 MB, the text of 100,000 chunks, take 10 to 45 ms.

Files of a generation:

    texts.folded   UTF-8, chunk after chunk, each followed by a zero byte, which no folded text holds
    texts.offsets  int64 (n_chunks + 1,), little-endian: where each chunk begins
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kebab_stream.errors import IndexCorruptError
from kebab_stream.index.arrays import mapped, mapped_bytes, write_array
from kebab_stream.index.moves import Moves

FOLDED_FILE = "texts.folded"
OFFSETS_FILE = "texts.offsets"

_END = b"\0"


@dataclass(frozen=True, slots=True, eq=False)
class TextIndex:
    """Opened texts, by chunk number."""

    folded: mmap | bytes
    offsets: NDArray[np.int64]

    @classmethod
    def open(cls, folder: Path) -> "TextIndex":
        """Map the files of a generation.

        Raises:
            IndexCorruptError: a file is missing, or the two do not fit together.
        """
        folded = mapped_bytes(folder / FOLDED_FILE)
        offsets = mapped(folder / OFFSETS_FILE, np.dtype("<i8"))
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(folded) or not (np.diff(offsets) > 0).all():
            raise IndexCorruptError(str(folder / OFFSETS_FILE), f"does not divide {FOLDED_FILE}")
        return cls(folded, offsets)

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return len(self.offsets) - 1

    def raw(self, number: int) -> bytes:
        """The folded text of a chunk, UTF-8."""
        return self.folded[self.offsets[number] : self.offsets[number + 1] - 1]

    def containing(self, needle: str) -> NDArray[np.bool_]:
        """(n_chunks,) whether a chunk's folded text contains this folded text; an empty one is in every chunk."""
        found = np.zeros(self.n_chunks, dtype=np.bool_)
        wanted = needle.encode("utf-8", "surrogatepass")
        if not wanted:
            return ~found
        if _END in wanted:
            return found
        place = self.folded.find(wanted)
        while place >= 0:
            number = bisect_right(self.offsets, place) - 1
            found[number] = True
            place = self.folded.find(wanted, int(self.offsets[number + 1]))
        return found


def write_texts(folder: Path, moves: Moves, *, old: TextIndex | None, added: Sequence[bytes]) -> None:
    """Write the files of a generation from the chunks kept of `old` and those `added`.

    Args:
        added: folded texts, UTF-8, of new chunks.

    Raises:
        OSError: a file cannot be written.
        ValueError: the new numbers of chunks have gaps or collide.
    """
    ends = [0]

    def texts() -> Iterator[bytes]:
        for origin in moves.origins().tolist():
            text = added[origin] if origin < len(added) or old is None else old.raw(origin - len(added))
            ends.append(ends[-1] + len(text) + len(_END))
            yield text + _END

    with (folder / FOLDED_FILE).open("xb") as file:
        file.writelines(texts())
    write_array(folder / OFFSETS_FILE, np.array(ends, dtype="<i8"))
