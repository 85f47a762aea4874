"""A model folder out of token vectors: int8 rows, one float32 weight a row, as `kebab_stream.embed.static` reads it.

`model.safetensors` is the model2vec layout. The file starts with the length of its header (uint64, little-endian); the
header is JSON padded with spaces to a multiple of 8 bytes; the tensors follow without gaps, wider types first
(https://github.com/huggingface/safetensors). Equal vectors give equal bytes.
"""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kebab_stream.embed.static import SUMS_FILE, TOKENIZER_FILE, VOCABULARY_FILE, WEIGHTS_FILE

CONFIG_FILE: Final = "config.json"
INT8_MAX: Final = 127
SMALLEST_WEIGHT: Final = 1e-8


def quantised(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows and weights whose product is near `vectors` of shape (vocabulary, dim): within weight / 2.

    weight[t] = max_d |vectors[t, d]| / 127 and row[t, d] = round(vectors[t, d] / weight[t]), half to even.
    """
    weights = np.maximum(np.abs(vectors).max(axis=1) / INT8_MAX, SMALLEST_WEIGHT).astype(np.float32)
    return np.round(vectors / weights[:, np.newaxis]).astype(np.int8), weights


def write_model(folder: Path, rows: NDArray[np.int8], weights: NDArray[np.float32], tokenizer: Path) -> None:
    """Write the four files of a model; `tokenizer` is copied.

    Args:
        rows: (vocabulary, dim).
        weights: (vocabulary,).
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WEIGHTS_FILE).write_bytes(safetensors(rows, weights))
    shutil.copyfile(tokenizer, folder / TOKENIZER_FILE)
    (folder / VOCABULARY_FILE).unlink(missing_ok=True)  # made from the tokenizer that was there before
    (folder / CONFIG_FILE).write_text(_config(*rows.shape), encoding="utf-8")
    sums = [f"{_checksum(folder / name)}  {name}\n" for name in (WEIGHTS_FILE, TOKENIZER_FILE)]
    (folder / SUMS_FILE).write_text("".join(sums), encoding="utf-8")


def safetensors(rows: NDArray[np.int8], weights: NDArray[np.float32]) -> bytes:
    """The content of `model.safetensors`."""
    boundary, end = 4 * weights.size, 4 * weights.size + rows.size
    header = {
        "weights": {"dtype": "F32", "shape": list(weights.shape), "data_offsets": [0, boundary]},
        "embeddings": {"dtype": "I8", "shape": list(rows.shape), "data_offsets": [boundary, end]},
    }
    content = json.dumps(header, separators=(",", ":")).encode()
    content += b" " * (-len(content) % 8)
    return len(content).to_bytes(8, "little") + content + weights.astype("<f4").tobytes() + rows.tobytes()


def _config(vocabulary: int, dim: int) -> str:
    """What other readers of model2vec folders look for; this project's reader does without."""
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": dim,
        "vocab_size": vocabulary,
        "normalize": True,
        "embedding_dtype": "int8",
    }
    return json.dumps(config, indent=1)


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
