"""Texts to vectors: which embedder a configuration means."""

from pathlib import Path

from kebab_stream.embed.protocol import Embedder
from kebab_stream.embed.static import BUNDLED_FOLDER, BUNDLED_MODEL, load_static
from kebab_stream.errors import ConfigInvalidError, ModelUnavailableError

__all__ = ["PROVIDERS", "Embedder", "load_embedder"]

PROVIDERS = ("static", "fastembed", "none")


def load_embedder(
    provider: str, *, model: str | None = None, model_path: Path | None = None, for_ingest: bool = False
) -> Embedder | None:
    """The embedder that `models.embedding` describes, or None for the provider `none`.

    Args:
        provider: one of `PROVIDERS`.
        model: the name that hits show; static has one model of its own, so another name needs a `model_path`.
        model_path: folder with the model's files, instead of the bundled ones.
        for_ingest: trade load time and memory for speed over many texts; the vectors are the same bits.

    Raises:
        ConfigInvalidError: an unknown provider, or a static model that is not bundled.
        ModelUnavailableError: the model's files are missing or damaged, or the provider is not available.
    """
    match provider:
        case "none":
            return None
        case "static":
            return _load_static(model, model_path, for_ingest=for_ingest)
        case "fastembed":
            raise ModelUnavailableError(
                "the embedding provider 'fastembed' is not available yet in this version",
                'set models.embedding.provider to "static" or "none"',
                {"provider": provider},
            )
        case _:
            raise ConfigInvalidError(
                f"models.embedding.provider: unknown provider {provider!r}",
                f"use one of {', '.join(PROVIDERS)}",
                {"key": "models.embedding.provider", "value": provider},
            )


def _load_static(model: str | None, model_path: Path | None, *, for_ingest: bool) -> Embedder:
    if model_path is not None:
        folder = model_path.resolve()
        return load_static(folder, model_id=model or folder.name, for_ingest=for_ingest)
    if model not in (None, BUNDLED_MODEL):
        raise ConfigInvalidError(
            f"models.embedding.model: no static model {model!r} is bundled",
            f"use {BUNDLED_MODEL!r}, or name the folder of the model in models.embedding.model_path",
            {"key": "models.embedding.model", "value": model},
        )
    return load_static(BUNDLED_FOLDER, model_id=BUNDLED_MODEL, for_ingest=for_ingest)
