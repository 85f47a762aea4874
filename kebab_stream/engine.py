"""The reading half of the program: one opened corpus, asked any number of times."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Self

from kebab_stream.config import Config
from kebab_stream.embed import load_embedder
from kebab_stream.embed.once import Once
from kebab_stream.embed.rerank import Reranker, load_reranker
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import Filters, SearchHit, SearchOpts, SearchQuery, SearchResponse
from kebab_stream.single.search import search

if TYPE_CHECKING:  # a search does without
    from kebab_stream.reports.lookup import DocSummary, FetchResult, InspectResult, SourceSummary, TagSummary


class Engine:
    """Answers queries on the state that was committed when it was opened.

    Made by `open`. Not for use by several threads at once; a thread after another is fine.
    """

    def __init__(self, config: Config, snapshot: Snapshot) -> None:
        self.config = config
        self.snapshot = snapshot
        wanted = config.models.embedding
        # Loaded by the first query that needs it.
        self._embedder = Once(partial(load_embedder, wanted))
        self._reranker = Once(partial(_reranker_of, config))

    @classmethod
    def open(cls, config: Config) -> Self:
        """Open the index in `config.storage.data_dir`.

        Raises:
            NotIndexedError: nothing was ingested there yet.
            IndexCorruptError: the store or an index file is damaged.
        """
        return cls(config, Snapshot.open(config.storage.data_dir))

    def reopen(self) -> Self:
        """Another engine, on the state committed last, with the models that this one loaded. This one stays as it is.

        Raises:
            NotIndexedError, IndexCorruptError: as `open`.
        """
        engine = type(self).open(self.config)
        engine._embedder = self._embedder  # noqa: SLF001  # one of our own kind
        engine._reranker = self._reranker  # noqa: SLF001  # the same
        return engine

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
        return search(
            self.snapshot,
            self._embedder,
            query,
            opts,
            self.config.search,
            now=datetime.now(UTC),
            load_reranker=self._reranker,
        )

    def search(self, query: SearchQuery) -> list[SearchHit]:
        """The hits of the first page, without a budget."""
        return list(self.search_with_opts(query).hits)

    def score_floor(self) -> float:
        """The cosine that counts as 0 with the embedding model, which is loaded for that; 0 where there is none.

        Raises:
            KebabError: the model cannot be loaded.
        """
        embedder = self._embedder()
        return embedder.score_floor if embedder else 0.0

    def fetch_chunk(self, chunk_id: str, *, context: int = 0) -> "FetchResult":
        """A chunk as it is indexed, with up to `context` (0 to 50) chunks on either side, in document order.

        Raises:
            KebabError: `chunk_not_found`, `invalid_input`.
        """
        from kebab_stream.single.fetch import fetch_chunk  # late: a search does without

        return fetch_chunk(self.snapshot.store, chunk_id, context, settings=self.config.search, now=datetime.now(UTC))

    def fetch_document(self, doc: str, *, source: str | None = None, max_tokens: int | None = None) -> "FetchResult":
        """A document by its doc_id or doc_path, as it was read; with a budget, its beginning.

        Raises:
            KebabError: `doc_not_found`; `invalid_input`, also where several sources have the path and none is named.
        """
        from kebab_stream.single.fetch import fetch_document  # late: a search does without

        return fetch_document(
            self.snapshot.store,
            doc,
            source=source,
            max_tokens=max_tokens,
            settings=self.config.search,
            now=datetime.now(UTC),
        )

    def fetch_span(
        self,
        doc: str,
        start: int | None = None,
        end: int | None = None,
        *,
        source: str | None = None,
        max_tokens: int | None = None,
    ) -> "FetchResult":
        """Lines `start` to `end` of a document or, without these, what the `citation.uri` in place of `doc` names.

        Raises:
            KebabError: `doc_not_found`, `span_not_supported`, `invalid_input`.
        """
        from kebab_stream.single.fetch import fetch_span  # late: a search does without

        return fetch_span(
            self.snapshot.store,
            doc,
            start,
            end,
            source=source,
            max_tokens=max_tokens,
            settings=self.config.search,
            now=datetime.now(UTC),
        )

    def documents(self, filters: Filters = Filters()) -> "Iterator[DocSummary]":
        """The documents that pass the filters, by source and path, read one by one while the engine is open.

        Raises:
            KebabError: `invalid_input`, at once.
        """
        from kebab_stream.single.listing import list_documents  # late: a search does without

        return list_documents(self.snapshot.store, filters, settings=self.config.search, now=datetime.now(UTC))

    def tags(self, filters: Filters = Filters()) -> "list[TagSummary]":
        """The tags of the documents that pass the filters. Raises KebabError: `invalid_input`."""
        from kebab_stream.single.listing import list_tags  # late: a search does without

        return list_tags(self.snapshot.store, filters)

    def sources(self) -> "list[SourceSummary]":
        """All known sources."""
        from kebab_stream.single.listing import list_sources  # late: a search does without

        return list_sources(self.snapshot.store)

    def nothing_listed_hint(self, filters: Filters) -> str | None:
        """Why no document passes the filters."""
        from kebab_stream.single.listing import nothing_listed_hint  # late: a search does without

        return nothing_listed_hint(self.snapshot, filters)

    def inspect(self, wanted: str, *, source: str | None = None) -> "InspectResult":
        """How a chunk, by its id, or a document, by its id or path, is indexed.

        Raises:
            KebabError: `doc_not_found`, `invalid_input`.
        """
        from kebab_stream.single.inspection import inspect  # late: a search does without

        return inspect(self.snapshot, wanted, source, settings=self.config.search, now=datetime.now(UTC))


def _reranker_of(config: Config) -> Reranker:
    wanted = config.models.rerank
    return load_reranker(model=wanted.model, model_path=wanted.model_path, depth=wanted.depth)
