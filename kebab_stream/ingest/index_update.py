"""The index files of the next generation: what is new of each chunk, and the commit that makes it the current one."""

import re
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from kebab_stream.analyser import fold
from kebab_stream.embed import Embedder
from kebab_stream.errors import IndexCorruptError
from kebab_stream.index.generation import (
    Additions,
    EmbeddingSpec,
    Generation,
    Manifest,
    read_manifest,
    verify,
    write_generation,
)
from kebab_stream.index.snapshot import INDEX_FOLDER
from kebab_stream.index.store_writer import StoreWriter
from kebab_stream.index.vectors import quantise
from kebab_stream.ingest.prepare import embedded_windows, indexed_terms
from kebab_stream.model import Chunk, Document

_GENERATION = re.compile(r"\d{8,}-[0-9a-f]{12}|\.\d{8,}-[0-9a-f]{12}\.partial")
"""Names that are ours: a data folder chosen by mistake may have an `index` of its own."""


class IndexUpdate:
    """Collects new chunks; at the end the old generation and they become the new one."""

    def __init__(self, data_dir: Path, store: StoreWriter, embedder: Embedder | None) -> None:
        self._folder = data_dir / INDEX_FOLDER
        self._store = store
        self._embedder = embedder
        self._added = Additions()
        self._old: Generation | None = None

    def carry_over(self) -> bool:
        """Open the current generation to carry its chunks over.

        Returns:
            False if there is none that fits (another model, analyser or format): every chunk must then be added.
        """
        revision = self._store.meta("corpus_revision")
        try:
            old = Generation.open(self._folder / revision) if revision else None
        except IndexCorruptError:
            old = None
        fits = old is not None and old.manifest.embedding == self._spec()
        self._old = old if fits else None
        return fits

    def add(self, chunks: Sequence[tuple[Chunk, Document]]) -> None:
        """Index chunks that are new or changed, a batch at a time."""
        texts: list[str] = []
        ends: list[int] = []
        for chunk, document in chunks:
            self._added.ids.append(bytes.fromhex(chunk.chunk_id))
            self._added.lexical.add(indexed_terms(chunk, document))
            self._added.texts.append(fold(chunk.text).encode("utf-8"))
            if self._embedder:
                texts.extend(embedded_windows(chunk))
                ends.append(len(texts))
        if self._embedder:
            rows = quantise(self._embedder.embed_passages(texts))
            for start, end in zip([0, *ends], ends, strict=False):
                self._added.vectors.add(rows[start:end])

    def commit(self) -> str:
        """Write the new generation and make it, with the store's changes, the current state.

        Returns:
            The new corpus_revision.

        Raises:
            IndexCorruptError: the chunks to carry over are damaged. Copied, the damage would look sound.
        """
        current = self._store.meta("corpus_revision")
        if self._old and current:
            verify(self._folder / current)
        revision = self._next_revision()
        write_generation(
            self._folder / revision,
            keys=self._store.chunk_keys(),
            old=self._old,
            added=self._added,
            embedding=self._spec(),
        )
        self._store.set_meta("corpus_revision", revision)
        self._store.commit()
        self.remove_leftovers()
        return revision

    def current_manifest(self) -> Manifest:
        """What the current generation says of itself."""
        return read_manifest(self._folder / (self._store.meta("corpus_revision") or ""))

    def remove_leftovers(self) -> None:
        """Remove all generations but the current one, also what a run that was killed left.

        Readers that opened one have it mapped; one that is just about to open it starts again.
        """
        current = self._store.meta("corpus_revision")
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path.name != current and _GENERATION.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)

    def _next_revision(self) -> str:
        """The next number, and a token, so that no other store ever names the same index files."""
        number, _, _ = (self._store.meta("corpus_revision") or "0").partition("-")
        return f"{int(number) + 1:08d}-{secrets.token_hex(6)}"

    def _spec(self) -> EmbeddingSpec | None:
        embedder = self._embedder
        if embedder is None:
            return None
        return EmbeddingSpec(model_id=embedder.model_id, fingerprint=embedder.fingerprint, dim=embedder.dim)
