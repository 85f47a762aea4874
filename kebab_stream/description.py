"""What the program can do, what it accepts, and what its index holds: all taken from the code and the index."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, get_args

from kebab_stream import model
from kebab_stream.analyser import ANALYSER_VERSION
from kebab_stream.config import Config
from kebab_stream.embed import model_id_of
from kebab_stream.errors import ErrorCode
from kebab_stream.extras import PACKAGE, extras, version
from kebab_stream.index.generation import INDEX_VERSION, EmbeddingSpec
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.index.store import STORE_VERSION
from kebab_stream.ingest.versions import CHUNKER_VERSION, PARSER_VERSION
from kebab_stream.model import MODES, TRUST_LEVELS, Wire
from kebab_stream.reports import answers, housekeeping, ingest, lookup, offline, quality
from kebab_stream.reports.housekeeping import (
    Count,
    EmbeddingModel,
    IndexedModel,
    LanguageModel,
    ModelsInUse,
    Program,
    SchemaReport,
    Statistics,
    Versions,
)
from kebab_stream.single import validate
from kebab_stream.single.filters import FILTERS, MEDIA
from kebab_stream.single.hits import rfc3339
from kebab_stream.single.settings import MAX_RESULTS

_WIRE: Final = (answers, housekeeping, ingest, lookup, model, offline, quality)
"""The modules that have all wire objects."""
INPUTS: Final = ("search_item.v1",)
"""Schemas of what is read; those of what is written are named by the objects themselves."""

EXIT_STATUSES: Final[Mapping[str, str]] = {
    "0": "success; also without hits, and when single queries of a batch failed",
    "1": "refused on purpose: a writing command under --readonly, a query of the batch failed and --fail"
    " is given, ask found no grounded answer, or reset was not confirmed",
    "2": "every other error",
    "3": "doctor found a failing check",
    "130": "stopped by Ctrl-C",
    "141": "the reader of stdout went away",
}

_BREAKDOWNS = ("media", "lang", "code_lang", "repo", "source_id", "source_type", "trust_level")
_COMBINATIONS = """
SELECT media, lang, code_lang, repo, source_id, source_type, trust_level, count(DISTINCT doc_no), count(chunk_no)
FROM documents LEFT JOIN chunks USING (doc_no)
GROUP BY 1, 2, 3, 4, 5, 6, 7
"""
"""How much there is of each combination of the columns in `_BREAKDOWNS`."""


def describe(
    config: Config, snapshot: Snapshot | None, *, commands: Mapping[str, str], batch: Mapping[str, int]
) -> SchemaReport:
    """Everything a client may want to know before it asks.

    Args:
        snapshot: the index; None where nothing was ingested yet.
        commands: name to what it does.
        batch: what a batch may bring, by limit.

    Raises:
        IndexCorruptError, StorageError: the store cannot be read.
    """
    embedding = snapshot.generation.manifest.embedding if snapshot else None
    return SchemaReport(
        program=Program(name=PACKAGE, version=version()),
        versions=Versions(
            index_version=INDEX_VERSION,
            store_version=STORE_VERSION,
            analyser_version=ANALYSER_VERSION,
            chunker_version=CHUNKER_VERSION,
            parser_version=PARSER_VERSION,
        ),
        wire=wire_names(),
        commands=dict(commands),
        capabilities=_capabilities(config, embedding, commands),
        extras=extras(),
        modes=MODES,
        filters={definition.name: definition.help for definition in FILTERS},
        media=MEDIA,
        trust_levels=TRUST_LEVELS,
        limits=_limits(batch),
        defaults=_defaults(config),
        error_codes=get_args(ErrorCode),
        exit_statuses=dict(EXIT_STATUSES),
        models=_models(config, embedding),
        statistics=statistics(snapshot) if snapshot else None,
    )


def wire_names() -> tuple[str, ...]:
    """The names of all objects that are read or written as JSON, which are those of their schemas."""
    kinds = [value for module in _WIRE for value in vars(module).values() if isinstance(value, type)]
    tables = (kind.__dict__.get("__dataclass_fields__", {}) for kind in kinds if issubclass(kind, Wire))
    names = {fields["schema_version"].default for fields in tables if "schema_version" in fields}
    return tuple(sorted(names | set(INPUTS)))


def statistics(snapshot: Snapshot) -> Statistics:
    """What an index holds.

    Raises:
        IndexCorruptError, StorageError: the store cannot be read.
    """
    store = snapshot.store
    counts: dict[str, dict[str, list[int]]] = {column: defaultdict(lambda: [0, 0]) for column in _BREAKDOWNS}
    for *values, documents, chunks in store.rows(_COMBINATIONS):
        for column, value in zip(_BREAKDOWNS, values, strict=True):
            if value is not None:
                counts[column][value][0] += documents
                counts[column][value][1] += chunks
    parts = {
        column: {value: Count(documents=some[0], chunks=some[1]) for value, some in sorted(found.items())}
        for column, found in counts.items()
    }
    ((sources, tags, latest),) = store.rows(
        "SELECT (SELECT count(*) FROM sources), (SELECT count(DISTINCT tag) FROM tags), max(indexed_at) FROM documents"
    )
    return Statistics(
        documents=store.count("documents"),
        chunks=store.count("chunks"),
        windows=snapshot.generation.manifest.n_windows,
        sources=sources,
        tags=tags,
        by_media=parts["media"],
        by_lang=parts["lang"],
        by_code_lang=parts["code_lang"],
        by_repo=parts["repo"],
        by_source=parts["source_id"],
        by_source_type=parts["source_type"],
        by_trust_level=parts["trust_level"],
        corpus_revision=snapshot.corpus_revision,
        indexed_at=None if latest is None else rfc3339(datetime.fromtimestamp(latest, UTC)),
    )


def _capabilities(config: Config, embedding: EmbeddingSpec | None, commands: Mapping[str, str]) -> dict[str, bool]:
    """What can be done: by each command that there is, and by what depends on settings and index."""
    return {
        **{name.replace("-", "_"): True for name in commands},
        "bulk_search": "search" in commands,
        "vector_search": embedding is not None and config.models.embedding.provider != "none",
        "write": not config.readonly,
    }


def _limits(batch: Mapping[str, int]) -> dict[str, int]:
    assert validate.K.most is not None
    assert validate.SNIPPET_CHARS.most is not None
    return {
        "k": validate.K.most,
        "snippet_chars": validate.SNIPPET_CHARS.most,
        "results": MAX_RESULTS,
        **{f"bulk_{name}": number for name, number in batch.items()},
    }


def _defaults(config: Config) -> dict[str, int | float | str]:
    search = config.search
    return {
        "k": search.default_k,
        "snippet_chars": search.snippet_chars,
        "chars_per_token": search.chars_per_token,
        "candidate_depth": search.candidate_depth,
        "fusion": search.fusion,
    }


def _models(config: Config, stored: EmbeddingSpec | None) -> ModelsInUse:
    embedding, llm = config.models.embedding, config.models.llm
    indexed = IndexedModel(model=stored.model_id, fingerprint=stored.fingerprint, dim=stored.dim) if stored else None
    return ModelsInUse(
        embedding=EmbeddingModel(provider=embedding.provider, model=model_id_of(embedding), indexed=indexed),
        llm=LanguageModel(provider=llm.provider, model=llm.model),
    )
