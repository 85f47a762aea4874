"""One committed state of the corpus: the store and the index files that belong together."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kebab_stream.errors import IndexCorruptError
from kebab_stream.index.checksum import CHECKED_BYTES
from kebab_stream.index.generation import Generation, verify
from kebab_stream.index.store import Store, store_corrupt

INDEX_FOLDER = "index"

SEAL = "index_seal"
"""Key in the store: what the checksum of their manifest must be."""

_ATTEMPTS = 5
"""How often opening is tried when writers commit, and remove old index files, at that very moment."""


def index_folder(data_dir: Path) -> Path:
    """Where the index files are, or will be.

    Raises:
        IndexCorruptError: a symbolic link is there. We make none: behind it, old index files would pile up or, were it
            followed, files that are not ours be removed.
    """
    folder = data_dir / INDEX_FOLDER
    if folder.is_symlink():
        hint = f"put the folder itself in the place of {folder}, or set storage.data_dir to where there is room"
        raise IndexCorruptError(str(folder), "a symbolic link, which is not followed", hint)
    return folder


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a reader sees, whatever is committed after it was opened."""

    store: Store
    generation: Generation
    corpus_revision: str

    @classmethod
    def open(cls, data_dir: Path) -> Self:
        """Open the state committed last.

        Raises:
            NotIndexedError: nothing was ever committed.
            IndexCorruptError: the store or an index file is damaged, or the index folder a link.
            StorageError: one of them cannot be read.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            store = Store.open(data_dir)
            try:
                return cls(store, *_generation_of(store, data_dir))
            except BaseException as error:
                store.close()
                if not isinstance(error, IndexCorruptError) or store.is_current() or attempt == _ATTEMPTS:
                    raise
        raise AssertionError  # the last attempt returned or raised

    def close(self) -> None:
        """Let go of the store; the mapped arrays go with their last user."""
        self.store.close()


def _generation_of(store: Store, data_dir: Path) -> tuple[Generation, str]:
    """The index files that belong to a state of the store, and its corpus_revision, which is their folder's name."""
    revision = store.corpus_revision
    if revision is None:
        raise store_corrupt(data_dir, "the store names no index files")
    folder = index_folder(data_dir) / revision
    verify(folder, seal=store.meta(SEAL) or "", at_most=CHECKED_BYTES)
    return Generation.open(folder), revision
