"""Verses of a SWORD zText module: three files, of which `.bzv` numbers the verses.

Layout (The SWORD Project, `zverse.cpp`), little-endian:
`.bzv`: a verse is block number (uint32), offset in the block (uint32), length (uint16);
`.bzs`: a block is offset in `.bzz` (uint32), compressed length (uint32), plain length (uint32).
"""

import re
import struct
import zlib
from functools import cache
from pathlib import Path
from typing import Final

_VERSE: Final = struct.Struct("<IIH")
_BLOCK: Final = struct.Struct("<III")


def verses(folder: Path, testament: str) -> list[str]:
    """Verses in the order of the module's versification, tags removed; an empty string where one is missing."""
    blocks, index, content = ((folder / f"{testament}.bz{suffix}").read_bytes() for suffix in "svz")

    @cache
    def block(number: int) -> bytes:
        start, length, _ = _BLOCK.unpack_from(blocks, number * _BLOCK.size)
        return zlib.decompress(content[start : start + length])

    found = []
    for number, start, length in _VERSE.iter_unpack(index):
        text = block(number)[start : start + length].decode("utf-8", "ignore") if length else ""
        found.append(re.sub(r"<[^>]*>", "", text))
    return found
