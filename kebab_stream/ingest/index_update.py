"""The index files of the next generation: what is new of each chunk, and the commit that makes it the current one."""

import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kebab_stream.embed import Embedder
from kebab_stream.errors import IndexCorruptError, KebabError
from kebab_stream.index.cache import EmbeddingCache
from kebab_stream.index.checksum import CHECKED_BYTES
from kebab_stream.index.data_folder import generations
from kebab_stream.index.generation import (
    Additions,
    EmbeddingSpec,
    Generation,
    Manifest,
    read_manifest,
    seal_of,
    verify,
    write_generation,
)
from kebab_stream.index.snapshot import SEAL, index_folder
from kebab_stream.index.store import REVISION
from kebab_stream.index.store_writer import StoreWriter
from kebab_stream.index.vectors import quantise
from kebab_stream.ingest.prepare import IndexedChunk, indexed_chunk
from kebab_stream.ingest.versions import INDEXED_VERSION

_CACHED_PER_CHUNK = 2
"""Texts that are remembered for each chunk: those that are, and as many that were."""
_LEAST_CACHED = 10_000
_CHUNKS_AT_ONCE = 256


class IndexUpdate:
    """Collects new chunks; at the end the old generation and they become the new one."""

    def __init__(
        self,
        data_dir: Path,
        store: StoreWriter,
        load_embedder: Callable[[], Embedder | None],
        *,
        graph_above: int | None = None,
    ) -> None:
        """Nothing is read yet; the embedder is loaded when a text is to be embedded, or `is_of_model` asked.

        Raises:
            IndexCorruptError: something else is in the place of the folder of index files.
        """
        self._data_dir = data_dir
        self._folder = folder = index_folder(data_dir)
        if folder.exists() and not folder.is_dir():
            hint = f"move {folder} away, then run `kebab ingest --rebuild-index`"
            raise IndexCorruptError(str(folder), "no folder", hint)
        self._store = store
        self._load_embedder = load_embedder
        self._is_loaded = False
        self._embedder: Embedder | None = None
        self._graph_above = graph_above
        self._added = Additions()
        self._old: Generation | None = None
        self._cache: EmbeddingCache | None = None

    def close(self) -> None:
        """Let go of the cache."""
        if self._cache:
            self._cache.close()

    def carry_over(self) -> bool:
        """Open the current generation to carry its chunks over.

        Returns:
            False if there is none that fits (damaged; another analyser or format): every chunk must then be added.
            Files that are too large to be compared each time are compared by `commit`.
        """
        revision = self._store.corpus_revision
        if revision is None:
            return True  # there is nothing yet
        try:
            verify(self._folder / revision, seal=self._store.meta(SEAL) or "", at_most=CHECKED_BYTES)
            self._old = Generation.open(self._folder / revision)
        except IndexCorruptError:
            return False
        return True

    def is_of_model(self) -> bool:
        """Whether what is carried over has the vectors of the model in the settings, which is loaded for that.

        If not, nothing is carried over any more: every chunk must then be added.

        Raises:
            ModelUnavailableError, ModelTimeoutError, ConfigInvalidError: the model cannot be loaded.
        """
        embedder = self._model()
        if self._old is None or self._old.manifest.embedding == _spec_of(embedder):
            return True
        self._old = None
        return False

    def add(self, chunks: Sequence[IndexedChunk]) -> None:
        """Index chunks that are new or changed, a batch at a time."""
        for chunk in chunks:
            self._added.ids.append(bytes.fromhex(chunk.chunk_id))
            self._added.scripts.append(chunk.script)
            self._added.lexical.add(chunk.frequencies)
            self._added.texts.append(chunk.folded)
        if embedder := self._model():
            vectors = self._vectors(embedder, {chunk.text: chunk.windows for chunk in chunks})
            for chunk in chunks:
                self._added.vectors.add(vectors[chunk.text])

    def _model(self) -> Embedder | None:
        """The embedder, loaded now at the latest."""
        if not self._is_loaded:
            self._embedder = embedder = self._load_embedder()
            if embedder:
                scope = f"{embedder.fingerprint}|{INDEXED_VERSION}"
                self._cache = EmbeddingCache.open(self._data_dir, scope=scope, dim=embedder.dim)
            self._is_loaded = True
        return self._embedder

    def _vectors(self, embedder: Embedder, windows_of: Mapping[str, list[str]]) -> dict[str, NDArray[np.int8]]:
        """The window vectors of each text, remembered or new."""
        assert self._cache
        known = self._cache.get(list(windows_of))
        pieces = {text: windows for text, windows in windows_of.items() if text not in known}
        rows = quantise(embedder.embed_passages([window for windows in pieces.values() for window in windows]))
        ends = accumulate(map(len, pieces.values()), initial=0)
        new = {text: rows[start:end] for text, (start, end) in zip(pieces, pairwise(ends), strict=True)}
        self._cache.put(new)
        return known | new

    def commit(self) -> str:
        """Write the new generation and make it, with the store's changes, the current state.

        If the chunks to carry over are damaged (copied, the damage would look sound), all are indexed again.

        Returns:
            The new corpus_revision.
        """
        current = self._store.corpus_revision
        if self._old and current:
            try:
                verify(self._folder / current)
            except IndexCorruptError:
                self._old, self._added = None, Additions()
                for _ in self.add_every_chunk():
                    pass
        revision = self._next_revision()
        write_generation(
            self._folder / revision,
            keys=self._store.chunk_keys(),
            old=self._old,
            added=self._added,
            embedding=self._spec(),
            graph_above=self._graph_above,
        )
        try:
            self._store.set_meta(REVISION, revision)
            self._store.set_meta(SEAL, seal_of(self._folder / revision))
            self._store.commit()
        except KebabError:  # the old state stands; a disk that is full needs the room
            shutil.rmtree(self._folder / revision, ignore_errors=True)
            raise
        self.remove_leftovers()
        if self._cache:
            self._cache.trim(_CACHED_PER_CHUNK * max(self._store.count("chunks"), _LEAST_CACHED))
        return revision

    def add_every_chunk(self) -> Iterator[int]:
        """Index every chunk of the store, a batch at a time; gives how many each batch had."""
        everything = self._store.every_chunk()
        while chunks := list(islice(everything, _CHUNKS_AT_ONCE)):
            self.add([indexed_chunk(chunk, document) for chunk, document in chunks])
            yield len(chunks)

    def current_manifest(self) -> Manifest:
        """What the current generation says of itself."""
        return read_manifest(self._folder / (self._store.corpus_revision or ""))

    def remove_leftovers(self) -> None:
        """Remove all generations but the current one, also what a run that was killed left.

        Readers that opened one have it mapped; one that is just about to open it starts again.
        """
        for path in generations(self._folder.parent):
            if path.name != self._store.corpus_revision:
                shutil.rmtree(path, ignore_errors=True)

    def _next_revision(self) -> str:
        """The next number, and a token, so that no other store ever names the same index files."""
        number, _, _ = (self._store.corpus_revision or "0").partition("-")
        return f"{int(number) + 1:08d}-{secrets.token_hex(6)}"

    def _spec(self) -> EmbeddingSpec | None:
        """The model of the vectors: where nothing was embedded, that of those that are carried over."""
        if self._old is not None and not self._is_loaded:
            return self._old.manifest.embedding
        return _spec_of(self._model())


def _spec_of(embedder: Embedder | None) -> EmbeddingSpec | None:
    if embedder is None:
        return None
    return EmbeddingSpec(model_id=embedder.model_id, fingerprint=embedder.fingerprint, dim=embedder.dim)
