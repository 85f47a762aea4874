"""One generation of the index files: written beside the old one, complete before anybody sees it, never changed after.

    chunk_ids.bin    (n, 16) uint8, ascending: a chunk's number is its row
    doc_ids.bin      (m, 16) uint8, ascending: the documents that have chunks; a document's number is its row
    chunk_docs.bin   (n,) int32: the document number of each chunk
    scripts.bin      (n,) uint8: the script of each chunk's text, an `analyser.Script`
    ...              the files of the two indexes
    manifest.json    versions, counts, and the size and checksum of each file

Numbers follow the order of the ids, so ties by chunk id are ties by number, and the same corpus gives the same bytes
whatever way it came about. (Only the graph over the vectors of a large collection keeps traces of how it grew.)
"""

import json
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kebab_stream.analyser import ANALYSER_VERSION, Script
from kebab_stream.errors import IndexCorruptError, StorageError
from kebab_stream.index.arrays import mapped, write_array
from kebab_stream.index.checksum import check_file, file_checksum
from kebab_stream.index.durable import sync, writing
from kebab_stream.index.graph import GRAPH_FILE, Graph, write_graph
from kebab_stream.index.lexical import LexicalBuilder, LexicalIndex, write_lexical
from kebab_stream.index.moves import Moves
from kebab_stream.index.texts import TextIndex, write_texts
from kebab_stream.index.vectors import VectorBuilder, VectorIndex, write_vectors

INDEX_VERSION = "2"
"""Version of the format of a generation."""

_MANIFEST = "manifest.json"
_CHUNK_IDS = "chunk_ids.bin"
_DOC_IDS = "doc_ids.bin"
_CHUNK_DOCS = "chunk_docs.bin"
_SCRIPTS = "scripts.bin"
_ID_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpec:
    """The model whose vectors a generation holds."""

    model_id: str
    fingerprint: str
    dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a generation says of itself."""

    index_version: str
    analyser_version: str
    n_chunks: int
    n_windows: int
    embedding: EmbeddingSpec | None
    files: dict[str, tuple[int, str]]
    """Name to (size in bytes, checksum)."""


@dataclass(slots=True)
class Additions:
    """Chunks that are new in a generation, in the order they came."""

    ids: list[bytes] = field(default_factory=list)
    scripts: list[Script] = field(default_factory=list)
    lexical: LexicalBuilder = field(default_factory=LexicalBuilder)
    vectors: VectorBuilder = field(default_factory=VectorBuilder)
    texts: list[bytes] = field(default_factory=list)
    """Folded, UTF-8."""


@dataclass(frozen=True, slots=True)
class Generation:
    """An opened generation; its arrays are memory-mapped and stay readable when the files are removed."""

    manifest: Manifest
    chunk_ids: NDArray[np.uint8]
    doc_ids: NDArray[np.uint8]
    chunk_docs: NDArray[np.int32]
    scripts: NDArray[np.uint8]
    lexical: LexicalIndex
    vectors: VectorIndex | None
    texts: TextIndex
    graph: Graph | None
    """None for small collections."""

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a generation after cheap checks: versions and sizes. Checksums are for `verify`.

        Raises:
            IndexCorruptError: a file is missing, of the wrong size, or made by another version of the program.
            StorageError: a file cannot be read.
        """
        manifest = read_manifest(folder)
        for name, (size, _) in manifest.files.items():
            _check_size(folder / name, size)
        embedding = manifest.embedding
        chunk_ids = _mapped_ids(folder / _CHUNK_IDS)
        graph_file = manifest.files.get(GRAPH_FILE)
        vectors = VectorIndex.open(folder, embedding.dim) if embedding else None
        generation = cls(
            manifest=manifest,
            chunk_ids=chunk_ids,
            doc_ids=_mapped_ids(folder / _DOC_IDS),
            chunk_docs=mapped(folder / _CHUNK_DOCS, np.dtype("<i4")),
            scripts=mapped(folder / _SCRIPTS, np.dtype(np.uint8)),
            lexical=LexicalIndex.open(folder),
            vectors=vectors,
            texts=TextIndex.open(folder),
            graph=Graph.open(folder, vectors, chunk_ids, graph_file[1]) if vectors and graph_file else None,
        )
        counts = [len(generation.chunk_ids), len(generation.chunk_docs), len(generation.scripts)]
        counts += [generation.lexical.n_chunks, generation.texts.n_chunks]
        if generation.vectors:
            counts.append(generation.vectors.n_chunks)
        if any(count != manifest.n_chunks for count in counts):
            raise IndexCorruptError(str(folder), "its files disagree on the number of chunks")
        numbers = generation.chunk_docs
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(generation.doc_ids):
            raise IndexCorruptError(str(folder / _CHUNK_DOCS), "names documents that are not there")
        return generation

    def chunk_id(self, number: int) -> bytes:
        """The 16-byte id of a chunk."""
        return bytes(self.chunk_ids[number])

    def number_of(self, chunk_id: bytes) -> int:
        """The number of the chunk with this 16-byte id.

        Raises:
            IndexCorruptError: it is not here, so the store is not of this state.
        """
        number = int(_numbers_of(_as_rows([chunk_id]), self.chunk_ids)[0])
        if number < 0:
            raise IndexCorruptError(_CHUNK_IDS, "lacks a chunk that the store has")
        return number

    def chunks_of(self, doc_ids: Iterable[bytes]) -> NDArray[np.bool_]:
        """(n_chunks,): True for the chunks of these documents."""
        chosen = np.zeros(len(self.doc_ids), dtype=np.bool_)
        numbers = _numbers_of(_as_rows(doc_ids), self.doc_ids)
        chosen[numbers[numbers >= 0]] = True
        return chosen[self.chunk_docs]


def seal_of(folder: Path) -> str:
    """The checksum of the manifest, which has those of all other files: to be kept where the generation is named.

    Raises:
        IndexCorruptError: there is no manifest.
        StorageError: it cannot be read.
    """
    return file_checksum(folder / _MANIFEST)


def verify(folder: Path, *, seal: str | None = None, at_most: int | None = None) -> None:
    """Compare the files of a generation with the checksums taken when they were written.

    Args:
        seal: what `seal_of` gave; None believes the manifest.
        at_most: bytes that are looked at, of the smallest files first, whole files only; None looks at all.

    Raises:
        IndexCorruptError: a file is not what was written.
        StorageError: a file cannot be read.
    """
    if seal is not None:
        check_file(folder / _MANIFEST, seal)
    looked_at = 0
    for name, (size, digest) in sorted(read_manifest(folder).files.items(), key=lambda file: file[1][0]):
        looked_at += size
        if at_most is not None and looked_at > at_most:
            break
        _check_size(folder / name, size)
        check_file(folder / name, digest)


def write_generation(
    folder: Path,
    *,
    keys: Iterable[tuple[bytes, bytes]],
    old: Generation | None,
    added: Additions,
    embedding: EmbeddingSpec | None,
    graph_above: int | None = None,
) -> Manifest:
    """Write a generation into a new folder, and sync it to disk.

    Args:
        folder: must not exist; it appears under its name when everything in it is complete.
        keys: (chunk id, document id) of every chunk of the new state, in chunk id order.
        old: the generation whose chunks are carried over, unless they are in `added` or not in `keys`.
        added: the chunks that are new or changed; with `old`, all that `keys` has beyond it.
        embedding: the model of the vectors in `old` and `added`; None for a generation without vectors.
        graph_above: the number of windows beyond which a graph is written; None for never.

    Raises:
        IndexCorruptError: `old` and `added` are not the chunks of `keys`, or `old` is damaged.
        StorageError: it cannot be written, for example because the disk is full. What was written is removed, as far
            as that can be; a folder under its name, complete but perhaps not on disk, may stay.
    """
    pairs = list(keys)
    chunk_ids = _as_rows(chunk_id for chunk_id, _ in pairs)
    documents = sorted({doc_id for _, doc_id in pairs})
    number_of_document = {doc_id: number for number, doc_id in enumerate(documents)}
    chunk_docs = np.fromiter((number_of_document[doc_id] for _, doc_id in pairs), dtype="<i4", count=len(pairs))
    moves = _moves(chunk_ids, old, added)
    _check_moves(folder, moves)
    with _appearing(folder) as partial:
        write_array(partial / _CHUNK_IDS, chunk_ids)
        write_array(partial / _DOC_IDS, _as_rows(documents))
        write_array(partial / _CHUNK_DOCS, chunk_docs)
        write_array(partial / _SCRIPTS, _scripts(moves, old, added))
        write_lexical(partial, moves, old=old.lexical if old else None, added=added.lexical)
        write_texts(partial, moves, old=old.texts if old else None, added=added.texts)
        n_windows = 0
        if embedding is not None:
            vectors = old.vectors if old else None
            n_windows = write_vectors(partial, moves, dim=embedding.dim, old=vectors, added=added.vectors)
            if graph_above is not None and n_windows > graph_above:
                written = VectorIndex.open(partial, embedding.dim)
                graph = old.graph if old else None
                write_graph(partial, written, chunk_ids, added=moves.added_to_new, old=graph)
        manifest = Manifest(
            index_version=INDEX_VERSION,
            analyser_version=ANALYSER_VERSION,
            n_chunks=len(pairs),
            n_windows=n_windows,
            embedding=embedding,
            files={path.name: _sync_and_sum(path) for path in sorted(partial.iterdir())},
        )
        (partial / _MANIFEST).write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")
        sync(partial / _MANIFEST)
        sync(partial)
    return manifest


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """A folder under another name, which gets its own name at the end, or vanishes if that is not reached."""
    partial = folder.with_name(f".{folder.name}.partial")
    with writing(folder):
        try:
            partial.mkdir(parents=True)
            yield partial
            partial.rename(folder)
            sync(folder.parent)
        except BaseException:
            import shutil  # late: searches never write

            shutil.rmtree(partial, ignore_errors=True)
            raise


def _moves(chunk_ids: NDArray[np.uint8], old: Generation | None, added: Additions) -> Moves:
    added_to_new = _numbers_of(_as_rows(added.ids), chunk_ids)
    old_to_new = _numbers_of(old.chunk_ids, chunk_ids) if old else np.empty(0, dtype=np.int32)
    old_to_new[np.isin(old_to_new, added_to_new)] = -1
    return Moves(len(chunk_ids), old_to_new, added_to_new)


def _scripts(moves: Moves, old: Generation | None, added: Additions) -> NDArray[np.uint8]:
    new = np.array(added.scripts, dtype=np.uint8)
    return (np.concatenate([new, old.scripts]) if old else new)[moves.origins()]


def _check_moves(folder: Path, moves: Moves) -> None:
    carried, added = (int(np.count_nonzero(numbers >= 0)) for numbers in (moves.old_to_new, moves.added_to_new))
    if (carried + added, added) != (moves.n_chunks, len(moves.added_to_new)):
        problem = f"{moves.n_chunks} chunks stored, but {carried} carried over and {len(moves.added_to_new)} added"
        raise IndexCorruptError(str(folder), problem)


def _as_rows(ids: Iterable[bytes]) -> NDArray[np.uint8]:
    """(n, 16) bytes of n ids."""
    return np.frombuffer(b"".join(ids), dtype=np.uint8).reshape(-1, _ID_BYTES)


def _numbers_of(ids: NDArray[np.uint8], ascending: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Row numbers of ids in an ascending table of ids, -1 where absent."""
    # NumPy drops trailing zero bytes when it shows such strings, but compares them in full: all are 16 bytes long.
    needles = np.ascontiguousarray(ids).view(f"S{_ID_BYTES}").ravel()
    table = np.ascontiguousarray(ascending).view(f"S{_ID_BYTES}").ravel()
    if not len(table):
        return np.full(len(needles), -1, dtype=np.int32)
    places = np.minimum(np.searchsorted(table, needles), len(table) - 1)
    return np.where(table[places] == needles, places, -1).astype(np.int32)


def read_manifest(folder: Path) -> Manifest:
    """What a generation says of itself.

    Raises:
        IndexCorruptError: nothing that can be understood.
        StorageError: it cannot be read.
    """
    path = folder / _MANIFEST
    try:
        fields = json.loads(path.read_bytes())
        for name, ours in (("index_version", INDEX_VERSION), ("analyser_version", ANALYSER_VERSION)):
            if fields[name] != ours:
                raise IndexCorruptError(str(path), f"{name} is {fields[name]!r}, this program has {ours!r}")
        embedding = fields.pop("embedding")
        files = {name: (int(size), str(digest)) for name, (size, digest) in fields.pop("files").items()}
        return Manifest(embedding=EmbeddingSpec(**embedding) if embedding else None, files=files, **fields)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexCorruptError(str(path), "missing") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise IndexCorruptError(str(path), f"not a manifest ({error})") from error


def _mapped_ids(path: Path) -> NDArray[np.uint8]:
    """(n, 16) bytes of n ids."""
    numbers = mapped(path, np.dtype(np.uint8))
    if len(numbers) % _ID_BYTES:
        raise IndexCorruptError(str(path), "cut short")
    return numbers.reshape(-1, _ID_BYTES)


def _check_size(path: Path, size: int) -> None:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise IndexCorruptError(str(path), "missing") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    if not stat.S_ISREG(status.st_mode):
        raise IndexCorruptError(str(path), "no regular file")
    if status.st_size != size:
        raise IndexCorruptError(str(path), f"{status.st_size} bytes, {size} expected")


def _sync_and_sum(path: Path) -> tuple[int, str]:
    """Bring a written file to disk; its size and checksum."""
    sync(path)
    return path.stat().st_size, file_checksum(path)
