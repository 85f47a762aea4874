"""The static model: a text's vector is the normalised weighted sum of its tokens' rows.

    vector(text) = normalise(Σ_t weight[t] · row[t])        over the tokens t of the text, unknown ones left out

Reads the model2vec layout by hand: `model.safetensors` (int8 rows, one float32 weight a row), `tokenizer.json`, and
`SHA256SUMS` of the two. A search touches a dozen rows, so the file stays mapped; ingest multiplies the table out once.

The bits of a vector depend on its text alone. Each product is one float32 multiplication, the sum runs in float64 in
the order of the tokens, one text at a time, and BLAS, whose order of summation varies, has no part in it.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from kebab_stream.embed.unigram import MappedUnigram, is_common
from kebab_stream.errors import ModelUnavailableError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Scalar = TypeVar("Scalar", bound=np.generic)

BUNDLED_MODEL = "static-koen-256"
BUNDLED_FOLDER = Path(__file__).parent / "static_koen_256"

WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
VOCABULARY_FILE = "vocabulary.bin"
"""Made from the tokenizer's file, so neither checksums nor the fingerprint need it; a folder may do without."""
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
BATCH_TOKENS = 1024
"""Rows gathered at once for several texts: 1 MB of 256 dimensions stays in a processor's cache."""
BLOCK_TOKENS = 4096
"""Rows gathered at once for one text, however long it is."""
LOOKED_UP_CHARS = 4096
"""Characters after which looking tokens up has cost about as much as loading the tokenizer, which is quicker then."""


@dataclass(frozen=True, slots=True, eq=False)
class StaticEmbedder:
    """An `Embedder` over a table of token vectors; safe to use from several threads.

    A query is tokenised on the calling thread. Passages are tokenised by as many threads as the tokenizer's own
    `TOKENIZERS_PARALLELISM` and `RAYON_NUM_THREADS` allow, which are left to the user. Once that has happened,
    a process started by fork (not by spawn) says so on stderr and tokenises on one thread; the vectors are the same.
    """

    model_id: str
    fingerprint: str
    tokens: "_Tokens"
    rows: NDArray[np.int8]
    """(vocabulary, dim), mapped."""
    weights: NDArray[np.float32]
    """(vocabulary,)."""
    table: NDArray[np.float32] | None
    """(vocabulary, dim): weight times row, or None where it is computed row by row."""
    score_floor: float = 0.0

    @property
    def dim(self) -> int:
        return int(self.rows.shape[1])

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts: shape (len(texts), dim), rows of L2 norm 1, or of zeros where no token is known."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for start, stop in _batches(texts, count=BATCH_TEXTS, size=BATCH_CHARS):
            encodings = self.tokens.of_passages([_encodable(text) for text in texts[start:stop]])
            token_ids = [_known(encoding.ids) for encoding in encodings]
            for first, last in _batches(token_ids, count=BATCH_TEXTS, size=BATCH_TOKENS):
                vectors[start + first : start + last] = self._vectors(token_ids[first:last])
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of one text: shape (dim,), the same bits as `embed_passages` gives it."""
        vector: NDArray[np.float32] = self._vectors([_known(self.tokens.of_query(_encodable(text)))])[0]
        return vector

    def _vectors(self, token_ids: Sequence[NDArray[np.intp]]) -> NDArray[np.float32]:
        """The vectors of texts given by their known tokens, shape (texts, dim)."""
        totals = np.zeros((len(token_ids), self.dim), dtype=np.float64)
        lengths = np.array([len(ids) for ids in token_ids])
        known = np.flatnonzero(lengths)
        if len(token_ids) == 1:  # however long
            for start in range(0, lengths[0], BLOCK_TOKENS):
                rows = self._weighted_rows(token_ids[0][start : start + BLOCK_TOKENS])
                totals[0] += np.add.reduce(rows, axis=0, dtype=np.float64)
        elif len(known):
            starts = (np.cumsum(lengths) - lengths)[known]
            rows = self._weighted_rows(np.concatenate(token_ids))
            totals[known] = np.add.reduceat(rows, starts, axis=0, dtype=np.float64)
        norms = np.sqrt(np.add.reduce(np.square(totals), axis=1, keepdims=True))
        np.divide(totals, norms, out=totals, where=norms > 0)
        return totals.astype(np.float32)

    def _weighted_rows(self, ids: NDArray[np.intp]) -> NDArray[np.float32]:
        if self.table is not None:
            return self.table.take(ids, axis=0)
        return _weighted(self.rows.take(ids, axis=0), self.weights.take(ids))


class _Tokens:
    """The ids of texts' tokens: of passages by the tokenizer's own code, of the first few queries by look-ups."""

    def __init__(self, folder: Path, *, for_ingest: bool) -> None:
        """Raises OSError or ValueError where a file is missing or damaged."""
        self._file = folder / TOKENIZER_FILE
        mapped = folder / VOCABULARY_FILE
        self._mapped = None if for_ingest or not mapped.is_file() else MappedUnigram.open(mapped)
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


def load_static(folder: Path, *, model_id: str, for_ingest: bool, score_floor: float = 0.0) -> StaticEmbedder:
    """Load the model in `folder`: its tokenizer is parsed, its rows are mapped.

    `for_ingest` the rows are multiplied out, and the files compared with their checksums: what is made with damaged
    weights would stay in the index.

    Raises:
        ModelUnavailableError: a file is missing, damaged, or does not fit the others.
    """
    with _translated(folder):
        if for_ingest:
            _check_sums(folder)
        fingerprint = _fingerprint(folder)
        rows, weights = _read_table(folder / WEIGHTS_FILE)
        tokens = _Tokens(folder, for_ingest=for_ingest)
        _check(rows, weights, vocabulary=tokens.count)
    table = _weighted(rows, weights) if for_ingest else None
    return StaticEmbedder(model_id, fingerprint, tokens, rows, weights, table, score_floor)


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    """What readers say of the model's files, as an error of ours."""
    try:
        yield
    except OSError as error:
        raise _unavailable(folder, f"{error.filename or folder}: {error.strerror or error}") from error
    except ValueError as error:  # malformed content, named by the reader that met it
        raise _unavailable(folder, str(error)) from error


def _unavailable(folder: Path, problem: str) -> ModelUnavailableError:
    way_out = (
        "install the package again: a part of it is missing or damaged"
        if folder == BUNDLED_FOLDER
        else "repair the folder, or remove models.embedding.model_path to use the bundled model"
    )
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


def _encodable(text: str) -> str:
    """The text with `?` for lone surrogates, which the tokenizer refuses; like any punctuation it has no vector."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _known(token_ids: Sequence[int]) -> NDArray[np.intp]:
    ids = np.array(token_ids, dtype=np.intp)
    known: NDArray[np.intp] = ids[ids != UNKNOWN_TOKEN]
    return known


def _batches(items: Sequence[Sized], *, count: int, size: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of runs of at most `count` items of at most `size` together, at least one item each."""
    start = total = 0
    for number, item in enumerate(items):
        if number > start and (number - start == count or total + len(item) > size):
            yield start, number
            start, total = number, 0
        total += len(item)
    if start < len(items):
        yield start, len(items)
