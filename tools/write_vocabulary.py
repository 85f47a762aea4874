"""Write `vocabulary.bin` of the bundled model from its `tokenizer.json`; the layout is that of `embed/unigram.py`."""

import json
import zlib
from pathlib import Path

import numpy as np

from kebab_stream.embed.static import BUNDLED_FOLDER, TOKENIZER_FILE, VOCABULARY_FILE
from kebab_stream.embed.unigram import CHECKED_FROM, HEADER, MAGIC, UNKNOWN_PENALTY


def vocabulary_bytes(tokenizer_json: bytes) -> bytes:
    """The file's content for a Unigram tokenizer."""
    pieces = [(piece.encode(), score) for piece, score in json.loads(tokenizer_json)["model"]["vocab"]]
    order = sorted(range(len(pieces)), key=lambda token_id: pieces[token_id][0])
    unknown_score = min(score for _, score in pieces) - UNKNOWN_PENALTY
    scores = np.array([pieces[token_id][1] for token_id in order], "<f8")
    ends = np.cumsum([len(pieces[token_id][0]) for token_id in order]).astype("<u4")
    texts = b"".join(pieces[token_id][0] for token_id in order)
    numbers = b"".join((scores.tobytes(), np.array(order, "<u4").tobytes(), ends.tobytes()))
    header = np.array([(MAGIC, zlib.crc32(tokenizer_json), 0, len(pieces), unknown_score)], HEADER)
    header["checksum"] = zlib.crc32(header.tobytes()[CHECKED_FROM:] + numbers + texts)
    return header.tobytes() + numbers + texts


def main() -> None:
    folder: Path = BUNDLED_FOLDER
    (folder / VOCABULARY_FILE).write_bytes(vocabulary_bytes((folder / TOKENIZER_FILE).read_bytes()))


if __name__ == "__main__":
    main()
