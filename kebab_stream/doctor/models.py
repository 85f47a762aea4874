"""Whether the models in the settings can be used, and whether the index has vectors of them."""

from kebab_stream.config import Embedding
from kebab_stream.config.settings import Rerank
from kebab_stream.doctor.found import failed, found, skipped
from kebab_stream.embed import Embedder, load_embedder
from kebab_stream.embed.rerank import load_reranker
from kebab_stream.embed.static import BUNDLED_FOLDER, SUMS_FILE
from kebab_stream.errors import KebabError
from kebab_stream.index.generation import Generation
from kebab_stream.render import encodable
from kebab_stream.reports.housekeeping import Check
from kebab_stream.single.retrieve import method_for

_SAMPLES = ("검색", "search")


def embedding_check(wanted: Embedding) -> tuple[Check, Embedder | None]:
    """What is to be said of the embedding model, and the model if it can be used."""
    try:
        # As for an ingest, which compares the files with their checksums, where there are any.
        embedder = load_embedder(wanted)
        if embedder is None:
            return skipped("model", "models.embedding.provider is none: searches are lexical"), None
        vectors = embedder.embed_passages(_SAMPLES)
    except KebabError as error:
        return failed("model", error), None
    facts = {"model": embedder.model_id, "fingerprint": embedder.fingerprint, "dim": embedder.dim}
    message = f"{embedder.model_id}, {embedder.dim} dimensions"
    if unknown := [word for word, vector in zip(_SAMPLES, vectors, strict=True) if not vector.any()]:
        hint = "texts in that language are found by their words only; the bundled model knows Korean and English"
        return found("model", "warn", f"{message}, no vector for {', '.join(unknown)}", hint, **facts), embedder
    if wanted.provider != "static":  # such a model has a vector for anything, whether it knows the language or not
        return found("model", "ok", f"{message}, answers", **facts), embedder
    if ((wanted.model_path or BUNDLED_FOLDER) / SUMS_FILE).is_file():
        message += ", checksums match"
    return found("model", "ok", f"{message}, embeds Korean and English", **facts), embedder


def vectors_check(generation: Generation, model: Check, embedder: Embedder | None) -> Check:
    """Whether the vectors in the index can be searched with the model in the settings."""
    name, stored = "vectors", generation.manifest.embedding
    if model.status == "fail":
        return skipped(name, "the model is needed for it")
    if stored is None and embedder is None:
        return found(name, "ok", "the index has none, as models.embedding.provider says")
    if stored is None:
        return found(name, "warn", "the index has none", "run `kebab ingest`; until then searches are lexical")
    if embedder is None:
        hint = "set models.embedding back to use them, or run `kebab ingest` to drop them"
        return found(name, "warn", f"those of {stored.model_id} are not used: models.embedding.provider is none", hint)
    try:
        method_for("vector", generation, lambda: embedder)  # the very check of a search
    except KebabError as error:
        return failed(name, error)
    facts = {"model": stored.model_id, "fingerprint": stored.fingerprint, "dim": stored.dim}
    return found(name, "ok", f"of {stored.model_id}, the model in the settings", **facts)


def rerank_checks(wanted: Rerank) -> list[Check]:
    """What is to be said of the reranking model; nothing where none is set, which is the default."""
    if wanted.model is None and wanted.model_path is None:
        return []
    try:
        reranker = load_reranker(model=wanted.model, model_path=wanted.model_path, depth=wanted.depth)
        reranker.scores(_SAMPLES[0], _SAMPLES)
    except KebabError as error:
        return [failed("rerank", error)]
    name = encodable(wanted.model or str(wanted.model_path))
    facts = {"model": name, "fingerprint": reranker.fingerprint, "depth": reranker.depth}
    return [found("rerank", "ok", f"{name}, answers", **facts)]
