"""One committed state of the corpus: the store and the index files that belong together."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kebab_stream.errors import IndexCorruptError, NotIndexedError
from kebab_stream.index.generation import Generation
from kebab_stream.index.store import Store

INDEX_FOLDER = "index"

_ATTEMPTS = 5
"""How often opening is tried again when a writer commits, and removes the old files, at that very moment."""


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
            IndexCorruptError: the store or an index file is damaged.
        """
        store = Store.open(data_dir)
        try:
            return cls(store, *_current(store, data_dir))
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Let go of the store; the mapped arrays go with their last user."""
        self.store.close()


def _current(store: Store, data_dir: Path) -> tuple[Generation, str]:
    """The generation that the store's state names, and its corpus_revision."""
    for _ in range(_ATTEMPTS):
        name = store.meta("generation")
        if name is None:
            raise NotIndexedError(str(data_dir))
        try:
            return Generation.open(data_dir / INDEX_FOLDER / name), store.meta("corpus_revision") or ""
        except IndexCorruptError:
            store.begin()
            if store.meta("generation") == name:
                raise
    raise IndexCorruptError(str(data_dir / INDEX_FOLDER), "it changes faster than it can be opened")
