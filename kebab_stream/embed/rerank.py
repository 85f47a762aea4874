"""A cross-encoder: a model that reads a query and a passage together, and says how well one answers the other.

It runs through fastembed on the processor. Nothing is downloaded here: a search does not depend on a network.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kebab_stream.embed.libraries import default_cache_dir, keep_to_themselves, translated
from kebab_stream.embed.onnx_folder import MODEL_FILES, SETTINGS_FILES, TOKENIZER_FILE, add_to_list, model_file_in
from kebab_stream.errors import KebabError, ModelUnavailableError, RetrievalError

_HINT: Final = (
    "set models.rerank.model (KEBAB_MODELS_RERANK_MODEL) to a cross-encoder of fastembed's list that is in kebab's"
    " cache, such as Xenova/ms-marco-MiniLM-L-6-v2, or models.rerank.model_path (KEBAB_MODELS_RERANK_MODEL_PATH) to a"
    f" folder with {MODEL_FILES[0]}, {TOKENIZER_FILE} and {SETTINGS_FILES[1]} of one; or search without rerank"
)


class Reranker:
    """A loaded model.

    Made by `load_reranker`.
    """

    def __init__(self, encoder: Any, name: str, fingerprint: str, depth: int) -> None:
        self._encoder = encoder
        self._name = name
        self.fingerprint = fingerprint
        """16 hex digits that change with the model and the depth: a page in one order does not continue another."""
        self.depth = depth
        """How many of the best hits it is asked about."""

    def scores(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """What the model says of each passage, higher is better: shape (len(passages),), finite.

        Of a pair that is too long for the model it sees the beginning. Each pair is read by itself: padding a batch to
        its longest takes longer, and where activations are quantised on the way, neighbours would change a score.

        Raises:
            RetrievalError: the model fails on one of the texts.
        """

        def failed(problem: str) -> KebabError:
            return RetrievalError(f"the reranking model {self._name} failed: {problem}", _HINT)

        with translated(failed):
            scores = np.fromiter(self._encoder.rerank(query, passages, batch_size=1), np.float64)
        if not np.isfinite(scores).all():
            raise failed("it gave no number")
        return scores


def no_reranker() -> Reranker:
    """For whom no model is set. Raises ModelUnavailableError: always."""
    raise ModelUnavailableError("no model to rerank with: models.rerank.model is not set", _HINT)


def load_reranker(*, model: str | None, model_path: Path | None, depth: int) -> Reranker:
    """The model that `models.rerank` describes.

    Args:
        model: a name from fastembed's list, whose files are in kebab's cache; with `model_path` any name, or none.
        model_path: folder with the model's files, instead of those in the cache.
        depth: how many of the best hits it is asked about.

    Raises:
        ModelUnavailableError: none is set, the name is unknown, or the files are missing or damaged.
    """
    if model is None and model_path is None:
        return no_reranker()
    name = model or str(model_path)

    def unavailable(problem: str) -> KebabError:
        return ModelUnavailableError(f"the reranking model {name} cannot be used: {problem}", _HINT, {"model": name})

    with translated(unavailable):
        if model_path is None:
            encoder, state = _from_cache(name), ""
        else:
            encoder, state = _from_folder(model_path, model)
        _require_cross_encoder(encoder)
    identity = f"{name}\0{state}\0{depth}".encode()
    return Reranker(encoder, name, hashlib.blake2b(identity, digest_size=8).hexdigest(), depth)


def _from_cache(model: str) -> Any:
    if model.lower() not in _listed():
        raise ValueError("the name is not in fastembed's list of cross-encoders")
    cache_dir = default_cache_dir()
    if not cache_dir.is_dir():  # fastembed would make it
        raise ValueError(f"it is not in {cache_dir}")
    return _opened(model, cache_dir, None)


def _from_folder(folder: Path, model: str | None) -> tuple[Any, str]:
    """The model in a folder, and what changes when its file is replaced."""
    listed = _listed().get((model or "").lower())
    file = model_file_in(folder, [*([listed] if listed else []), *MODEL_FILES])
    name = f"{folder}:{file}"
    add_to_list(_cross_encoders(), name, model_file=file)
    state = (folder / file).stat()
    return _opened(name, folder, folder), f"{state.st_size} {state.st_mtime_ns}"


def _listed() -> dict[str, str]:
    """Each model that fastembed knows, in lower case, and where its folder has the model itself."""
    return {each["model"].lower(): each["model_file"] for each in _cross_encoders().list_supported_models()}


def _opened(name: str, cache_dir: Path, folder: Path | None) -> Any:
    return _cross_encoders()(
        name,
        cache_dir=str(cache_dir),
        providers=["CPUExecutionProvider"],  # the same scores whether there is a graphics card or not
        local_files_only=True,
        specific_model_path=None if folder is None else str(folder),
    )


def _require_cross_encoder(encoder: Any) -> None:
    """Raises ValueError: it gives no single score a pair. (fastembed takes the first number of whatever it gives.)"""
    shape = encoder.model.model.get_outputs()[0].shape  # a dimension that varies has a name
    if len(shape) != 2 or (isinstance(shape[1], int) and shape[1] != 1):
        raise ValueError("it is not a cross-encoder, which gives one score for a query and a passage")


def _cross_encoders() -> Any:
    """The class `fastembed.rerank.cross_encoder.TextCrossEncoder`, loaded when first needed: it takes half a second."""
    keep_to_themselves()
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextCrossEncoder
