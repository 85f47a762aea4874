"""The static model: a text's vector is the normalised weighted sum of its tokens' rows.

    vector(text) = normalise(Σ_t weight[t] · row[t])        over the tokens t of the text, unknown ones left out

Reads the model2vec layout by hand: `model.safetensors` (int8 rows, one float32 weight a row), `tokenizer.json`, and
`SHA256SUMS` of the two. A search touches a dozen rows, so the file stays mapped; an ingest multiplies it out once.

The bits of a vector depend on its text alone. Each product is one float32 multiplication, the sum runs in float64 in
the order of the tokens, one text at a time, and BLAS, whose order of summation varies, has no part in it.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from kebab_stream.analyser import without_asking
from kebab_stream.embed.onnx_folder import MODEL_FILES
from kebab_stream.embed.unigram import MappedUnigram, is_common
from kebab_stream.embed.vectors import encodable
from kebab_stream.errors import ModelUnavailableError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Scalar = TypeVar("Scalar", bound=np.generic)

BUNDLED_MODEL = "static-koen-256"
BUNDLED_FOLDER = Path(__file__).parent / "static_koen_256"

WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
VOCABULARY_FILE = "vocabulary.bin"
"""Made from the tokenizer's file, and knows its checksum, so the fingerprint does without it, and a folder may too."""
SUMS_FILE = "SHA256SUMS"

ALGORITHM = "static.1"
"""Part of the fingerprint: goes up when the same files would give other vectors."""

UNKNOWN_TOKEN = 0
BATCH_TEXTS = 1024
BATCH_CHARS = 1 << 20
"""Bounds of what the tokenizer holds at once; a longer text makes a batch of its own."""
HEADER_BYTES = 1 << 20
WEIGHT_LIMIT = 1e30
"""Keeps weight times row inside float32."""
BLOCK_TOKENS = 4096
"""Rows gathered at once: 4 MB of 256 dimensions, however long the text."""
LOOKED_UP_CHARS = 4096
"""Characters after which looking tokens up has cost about as much as loading the tokenizer, which is quicker then."""


class StaticEmbedder:
    """An `Embedder` over a table of token vectors; safe to use from several threads.

    Opening one maps its files. What passages need, the tokenizer and the table multiplied out, comes with the first
    of them: an ingest that finds nothing new does without.

    A query is tokenised on the calling thread. Passages are tokenised by as many threads as the tokenizer's own
    `TOKENIZERS_PARALLELISM` and `RAYON_NUM_THREADS` allow, which are left to the user. Once that has happened,
    a process started by fork (not by spawn) says so on stderr and tokenises on one thread; the vectors are the same.
    """

    def __init__(self, folder: Path, *, model_id: str, score_floor: float = 0.0) -> None:
        """Open the model in `folder`.

        Raises:
            ModelUnavailableError: a file is missing, damaged, or does not fit the others. A file with other bytes than
                its checksum says is found by the first passages.
        """
        self.model_id = model_id
        self.score_floor = score_floor
        self._folder = folder
        with _translated(folder):
            self.fingerprint = _fingerprint(folder)
            self.rows, self.weights = _read_table(folder / WEIGHTS_FILE)
            self._tokens = _Tokens(folder)
            _check(self.rows, self.weights, vocabulary=self._tokens.count)

    @property
    def dim(self) -> int:
        return int(self.rows.shape[1])

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts: shape (len(texts), dim), rows of L2 norm 1, or of zeros where no token is known.

        Raises:
            ModelUnavailableError: the model's files are not those that their checksums were taken of.
        """
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for start, stop in _batches(texts):
            encodings = self._tokens.of_passages([encodable(text) for text in texts[start:stop]])
            vectors[start:stop] = _sums([encoding.ids for encoding in encodings], self._passage_rows, self.dim)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a query: shape (dim,), as `embed_passages` gives it without the words that only ask."""
        token_ids = self._tokens.of_query(encodable(without_asking(text)))
        vector: NDArray[np.float32] = _sums([token_ids], self._query_rows, self.dim)[0]
        return vector

    def _query_rows(self, ids: NDArray[np.intp]) -> NDArray[np.float32]:
        return _weighted(self.rows.take(ids, axis=0), self.weights.take(ids))

    def _passage_rows(self, ids: NDArray[np.intp]) -> NDArray[np.float32]:
        return self.table.take(ids, axis=0)

    @cached_property
    def table(self) -> NDArray[np.float32]:
        """(vocabulary, dim): weight times row, of files that are sound: vectors from damaged ones would stay."""
        with _translated(self._folder):
            _check_sums(self._folder)
        return _weighted(self.rows, self.weights)


class _Tokens:
    """The ids of texts' tokens: of passages by the tokenizer's own code, of the first few queries by look-ups."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError or ValueError where a file is missing or damaged."""
        self._file = folder / TOKENIZER_FILE
        mapped = folder / VOCABULARY_FILE
        self._mapped = MappedUnigram.open(mapped, self._file) if mapped.is_file() else None
        self._looked_up = 0
        self.count = len(self._mapped.ids) if self._mapped else self._tokenizer.get_vocab_size()

    def of_query(self, text: str) -> Sequence[int]:
        self._looked_up += len(text)
        if self._mapped and self._looked_up <= LOOKED_UP_CHARS and is_common(text):
            return self._mapped.token_ids(text)
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def of_passages(self, texts: list[str]) -> Iterable["Encoding"]:
        return self._tokenizer.encode_batch(texts, add_special_tokens=False)

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        with _translated(self._file.parent):
            return _read_tokenizer(self._file)


def _sums(
    token_ids: Sequence[Sequence[int]], rows_of: Callable[[NDArray[np.intp]], NDArray[np.float32]], dim: int
) -> NDArray[np.float32]:
    """The vectors of texts given by their tokens, shape (texts, dim)."""
    totals = np.zeros((len(token_ids), dim), dtype=np.float64)
    for total, text_ids in zip(totals, token_ids, strict=True):
        ids = np.array(text_ids, dtype=np.intp)
        ids = ids[ids != UNKNOWN_TOKEN]
        for start in range(0, len(ids), BLOCK_TOKENS):
            total += np.add.reduce(rows_of(ids[start : start + BLOCK_TOKENS]), axis=0, dtype=np.float64)
    norms = np.sqrt(np.add.reduce(np.square(totals), axis=1, keepdims=True))
    np.divide(totals, norms, out=totals, where=norms > 0)
    return totals.astype(np.float32)


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    """What readers say of the model's files, as an error of ours."""
    try:
        yield
    except OSError as error:
        if not folder.is_dir():
            raise _unavailable(folder, f"the folder {folder} is missing") from error
        raise _unavailable(folder, f"{error.filename or folder}: {error.strerror or error}") from error
    except ValueError as error:  # malformed content, named by the reader that met it
        raise _unavailable(folder, str(error)) from error


def _unavailable(folder: Path, problem: str) -> ModelUnavailableError:
    if folder == BUNDLED_FOLDER:
        way_out = "install the package again: a part of it is missing or damaged"
    elif not (folder / WEIGHTS_FILE).exists() and any((folder / file).exists() for file in MODEL_FILES):
        way_out = 'the folder has an ONNX model, no static one: set models.embedding.provider = "fastembed"'
    else:
        way_out = "repair the folder, or remove models.embedding.model_path to use the bundled model"
    return ModelUnavailableError(f"cannot load the embedding model: {problem}", way_out, {"folder": str(folder)})


def _fingerprint(folder: Path) -> str:
    """16 hex digits of the files' sizes and checksums; the 16 MB are read only where nobody wrote their checksums."""
    files = [folder / WEIGHTS_FILE, folder / TOKENIZER_FILE]
    digest = hashlib.sha256(repr((ALGORITHM, [file.stat().st_size for file in files])).encode())
    sums = folder / SUMS_FILE
    for file in [sums] if sums.is_file() else files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _check_sums(folder: Path) -> None:
    """Raises ValueError where somebody wrote checksums, and they are not those of the files."""
    sums = folder / SUMS_FILE
    if not sums.is_file():
        return
    recorded = [line.replace("*", " ").split() for line in sums.read_text().splitlines()]  # a star: read as binary
    for name in (WEIGHTS_FILE, TOKENIZER_FILE):
        with (folder / name).open("rb") as file:
            checksum = hashlib.file_digest(file, "sha256").hexdigest()
        if [checksum, name] not in recorded:
            raise ValueError(f"{name}: its checksum is not the one in {SUMS_FILE}")


def _read_table(path: Path) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Map the two tensors of a safetensors file: 8 bytes of length, that much JSON, then the tensors' bytes."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        content = file.read(min(length, HEADER_BYTES))
    try:
        header = orjson.loads(content)
        rows = _map_tensor(path, 8 + length, header["embeddings"], kind="I8", dtype=np.dtype(np.int8))
        weights = _map_tensor(path, 8 + length, header["weights"], kind="F32", dtype=np.dtype("<f4"))
    except KeyError as error:
        raise ValueError(f"{path.name}: the header has no {error}") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path.name}: {error}") from error
    return rows, weights


def _map_tensor(path: Path, data_start: int, entry: Any, *, kind: str, dtype: "np.dtype[Scalar]") -> NDArray[Scalar]:
    """One tensor, read-only, no byte of it read. Raises KeyError, TypeError or ValueError on a header without sense."""
    (begin, end), shape = entry["data_offsets"], entry["shape"]
    if entry["dtype"] != kind:
        raise ValueError(f"expected values of type {kind}, got {entry['dtype']}")
    if end - begin != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{end - begin} bytes cannot be {kind} of shape {shape}")
    if data_start + end > path.stat().st_size:
        raise ValueError("the file ends early")
    return np.asarray(np.memmap(path, dtype, mode="r", offset=data_start + begin, shape=tuple(shape)))


def _read_tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer  # heavy: a lexical search must not pay for it

    content = path.read_bytes()
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error
    tokenizer.no_padding()  # would make a vector depend on its batch
    tokenizer.no_truncation()
    return tokenizer


def _check(rows: NDArray[np.int8], weights: NDArray[np.float32], *, vocabulary: int) -> None:
    if rows.ndim != 2 or weights.shape != (vocabulary,) or len(rows) != vocabulary:
        raise ValueError(
            f"{vocabulary} tokens need rows of shape ({vocabulary}, dim) and weights of shape ({vocabulary},), "
            f"got {rows.shape} and {weights.shape}"
        )
    if not np.all(np.abs(weights) < WEIGHT_LIMIT):  # not-a-number fails too
        raise ValueError("a weight is no usable number")


def _weighted(rows: NDArray[np.int8], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """weight · row, each product rounded to float32 once: shape of `rows`."""
    return np.multiply(rows, weights[:, np.newaxis], dtype=np.float32)


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(start, stop) of runs of at most BATCH_TEXTS texts and BATCH_CHARS characters, at least one text each."""
    start = chars = 0
    for number, text in enumerate(texts):
        if number > start and (number - start == BATCH_TEXTS or chars + len(text) > BATCH_CHARS):
            yield start, number
            start, chars = number, 0
        chars += len(text)
    if start < len(texts):
        yield start, len(texts)
