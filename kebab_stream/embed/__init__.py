"""Texts to vectors: which embedder a configuration means."""

import os
from collections.abc import Mapping

from kebab_stream.embed.protocol import Embedder
from kebab_stream.embed.settings import EmbeddingSettings, model_id_of
from kebab_stream.embed.static import BUNDLED_FOLDER, BUNDLED_MODEL, StaticEmbedder
from kebab_stream.errors import ConfigInvalidError

__all__ = ["Embedder", "load_embedder", "model_id_of"]


def load_embedder(
    wanted: EmbeddingSettings,
    *,
    may_download: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Embedder | None:
    """The embedder that `models.embedding` describes, or None for the provider `none`.

    Args:
        wanted: the settings.
        may_download: whether fastembed's provider may download a model that is not on this machine.
        environ: has the key of a server, where the settings name a variable for it.

    Raises:
        ConfigInvalidError: a model that is not bundled, or not in fastembed's list; a key that is not there.
        ModelUnavailableError: the model's files are missing or damaged, or its server does not answer.
        ModelTimeoutError: its server takes too long.
    """
    match wanted.provider:
        case "none":
            return None
        case "static":
            return _load_static(wanted)
        case "fastembed":
            from kebab_stream.embed.fastembed_model import load_fastembed  # late: heavy
            from kebab_stream.embed.profile import profile_of

            return load_fastembed(wanted, profile_of(wanted), may_download=may_download)
        case "ollama" | "openai" as provider:
            from kebab_stream.embed.profile import profile_of
            from kebab_stream.embed.remote import load_remote  # late: an HTTP client

            return load_remote(provider, wanted, profile_of(wanted), environ)


def _load_static(wanted: EmbeddingSettings) -> Embedder:
    floor = max(wanted.score_floor, 0.0)
    if wanted.model_path is not None:
        folder = wanted.model_path.resolve()
        return StaticEmbedder(folder, model_id=model_id_of(wanted), score_floor=floor)
    if wanted.model != BUNDLED_MODEL:
        raise ConfigInvalidError(
            f"models.embedding.model: no static model {wanted.model!r} is bundled",
            f"use {BUNDLED_MODEL!r}, or name the folder of the model in models.embedding.model_path",
            {"key": "models.embedding.model", "value": wanted.model},
        )
    return StaticEmbedder(BUNDLED_FOLDER, model_id=BUNDLED_MODEL, score_floor=floor)
