"""The reading half of the program: one opened corpus, asked any number of times."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from kebab_stream.config import Config
from kebab_stream.embed import Embedder, load_embedder
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import SearchHit, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.single.search import search


@dataclass(slots=True)
class Engine:
    """Answers queries on the state that was committed when it was opened.

    Not for use by several threads at once; a thread after another is fine.
    """

    config: Config
    snapshot: Snapshot
    _embedders: list[Embedder | None] = field(default_factory=list)
    """Empty until the first query that needs the model, then one element."""

    @classmethod
    def open(cls, config: Config) -> Self:
        """Open the index in `config.storage.data_dir`.

        Raises:
            NotIndexedError: nothing was ingested there yet.
            IndexCorruptError: the store or an index file is damaged.
        """
        return cls(config, Snapshot.open(config.storage.data_dir))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self.snapshot.close()

    def search_with_opts(self, query: SearchQuery, opts: SearchOpts = SearchOpts()) -> SearchResponse:
        """Answer one query with a page of hits, within a budget if one is given.

        Raises:
            KebabError: with the code that callers see: `stale_cursor`, `invalid_input`, `embeddings_disabled`, …
        """
        return search(self.snapshot, self._embedder, query, opts, self.config.search, now=datetime.now(UTC))

    def search(self, query: SearchQuery) -> Sequence[SearchHit]:
        """The hits of the first page, without a budget."""
        return list(self.search_with_opts(query).hits)

    def _embedder(self) -> Embedder | None:
        if not self._embedders:
            wanted = self.config.models.embedding
            self._embedders.append(load_embedder(wanted.provider, model=wanted.model, model_path=wanted.model_path))
        return self._embedders[0]
