"""The reading half of the program: one opened corpus, asked any number of times."""

import functools
from datetime import UTC, datetime
from typing import Self

from kebab_stream.config import Config
from kebab_stream.embed import load_embedder
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import SearchHit, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.single.search import search


class Engine:
    """Answers queries on the state that was committed when it was opened.

    Made by `open`. Not for use by several threads at once; a thread after another is fine.
    """

    def __init__(self, config: Config, snapshot: Snapshot) -> None:
        self.config = config
        self.snapshot = snapshot
        wanted = config.models.embedding
        # Loaded by the first query that needs it.
        self._embedder = functools.cache(
            functools.partial(load_embedder, wanted.provider, model=wanted.model, model_path=wanted.model_path)
        )

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

    def search(self, query: SearchQuery) -> list[SearchHit]:
        """The hits of the first page, without a budget."""
        return list(self.search_with_opts(query).hits)
