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
from kebab_stream.errors import KebabError, ModelUnavailableError, RetrievalError

_HINT: Final = "docs/search.md says under Reranking how to get a model; or search without rerank"


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
    from kebab_stream.embed.fastembed_model import MODEL_FILES  # late: a search without does not need it

    listed = _listed().get((model or "").lower())
    candidates = [*([listed] if listed else []), *MODEL_FILES]
    file = next((file for file in candidates if (folder / file).is_file()), None)
    if file is None:
        raise ValueError(f"there is no {candidates[0]} in {folder}")
    from tokenizers import Tokenizer

    # What fastembed would raise for a damaged one is no more than an Exception.
    Tokenizer.from_buffer((folder / "tokenizer.json").read_bytes())
    state = (folder / file).stat()
    # A name of its own in the list of this process: a folder may hold anything, whatever it is called.
    own_name = f"{folder}:{file}"
    if own_name.lower() not in _listed():
        from fastembed.common.model_description import ModelSource

        _cross_encoders().add_custom_model(own_name, ModelSource(hf=own_name), model_file=file)
    return _opened(own_name, folder, folder), f"{state.st_size} {state.st_mtime_ns}"


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


def _cross_encoders() -> Any:
    """The class `fastembed.rerank.cross_encoder.TextCrossEncoder`, loaded when first needed: it takes half a second."""
    keep_to_themselves()
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextCrossEncoder
