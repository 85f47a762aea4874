"""A transformer through fastembed and onnxruntime: a model of fastembed's list, or an ONNX model in a folder.

Each text is run by itself. In a batch, texts are padded to the longest of them: that took longer on a processor, and
with some models (those whose activations are quantised on the way) a text's vector depends on its neighbours then.
So a text gives the same bits in whatever batch (and, with the models tried, whatever number of threads). With another
version of onnxruntime, or on a processor with other instructions, the last digits may differ.

Only an ingest downloads a model, once; a search never waits for the network.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kebab_stream.embed.libraries import default_cache_dir, download_errors, fastembed_models, in_one_line, translated
from kebab_stream.embed.onnx_folder import (
    MODEL_FILES,
    SETTINGS_FILES,
    TOKENIZER_FILE,
    add_to_list,
    json_object,
    model_file_in,
)
from kebab_stream.embed.profile import Profile
from kebab_stream.embed.settings import EmbeddingSettings, model_id_of
from kebab_stream.embed.vectors import encodable, unit_rows
from kebab_stream.errors import ConfigInvalidError, EmbeddingFailedError, KebabError, ModelUnavailableError
from kebab_stream.model import Pooling

ALGORITHM: Final = "fastembed.1"
"""Part of the fingerprint: goes up when the same files would give other vectors."""

POOLING_FILE: Final = "1_Pooling/config.json"
"""Where models of sentence-transformers say how they are pooled."""
_PATTERNS: Final = (TOKENIZER_FILE, *SETTINGS_FILES)
_FOLDER: Final = (
    f"{MODEL_FILES[0]} (or {MODEL_FILES[1]}), {TOKENIZER_FILE}, tokenizer_config.json and, if the model has one,"
    " config.json"
)
"""What a folder must hold, for messages."""
_WAY_OUT: Final = "`kebab doctor` tries the model; set another one in models.embedding, and ingest again"
_PROBE: Final = "probe"
_POOLED: Final = "pooled"


@dataclass(frozen=True, slots=True, eq=False)
class FastembedEmbedder:
    """An `Embedder` over a fastembed model; safe to use from several threads."""

    model_id: str
    fingerprint: str
    dim: int
    profile: Profile
    model: Any

    @property
    def score_floor(self) -> float:
        return self.profile.score_floor

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts: shape (len(texts), dim), rows of L2 norm 1. Of a long text the model sees the beginning."""
        rows = [_vector(self.model.passage_embed, self.profile.passage_prefix + text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dim), dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a query: shape (dim,), L2 norm 1."""
        return _vector(self.model.query_embed, self.profile.query_prefix + text)


def load_fastembed(wanted: EmbeddingSettings, profile: Profile, *, may_download: bool) -> FastembedEmbedder:
    """Load the model that the settings name.

    Args:
        may_download: whether a model of fastembed's list that is not in the cache may be downloaded into it.

    Raises:
        ConfigInvalidError: the name is not in fastembed's list.
        ModelUnavailableError: the model is not there, cannot be downloaded, or is damaged.
    """
    folder, threads = wanted.model_path, wanted.threads or None
    if folder is None:
        model_id, state, open_model = _listed(wanted.model, may_download=may_download)
    else:
        folder = folder.resolve()
        model_id = model_id_of(wanted)
        state, open_model = _in_folder(folder, wanted.pooling)
    with translated(partial(_unusable, model_id, folder)):
        model = open_model(threads=threads, providers=["CPUExecutionProvider"], local_files_only=True)
    dim = len(_vector(model.passage_embed, _PROBE))
    identity = (ALGORITHM, model_id, type(model.model).__name__, state, profile.query_prefix, profile.passage_prefix)
    fingerprint = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
    return FastembedEmbedder(model_id, fingerprint, dim, profile, model)


def _vector(embed: Callable[..., Any], text: str) -> NDArray[np.float32]:
    """The vector of one text. Raises EmbeddingFailedError; no message repeats the text."""

    def failed(problem: str) -> KebabError:
        return EmbeddingFailedError(f"the embedding model failed: {problem}", _WAY_OUT)

    with translated(failed):
        (vector,) = embed([encodable(text)], batch_size=1)
    if vector.ndim != 1:
        raise failed("it does not give one vector a text")
    row: NDArray[np.float32] = unit_rows(vector[np.newaxis])[0]
    return row


# --- a model of fastembed's list -------------------------------------------------------------------------


def _listed(name: str, *, may_download: bool) -> tuple[str, str, Callable[..., Any]]:
    """Its name as the list has it, what tells its version, and what opens it."""
    models = fastembed_models()
    known = {each["model"].lower(): each for each in models.list_supported_models()}
    if name.lower() not in known:
        import difflib

        closest = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0)[0]
        raise ConfigInvalidError(
            f"models.embedding.model = {name[:80]!r}: fastembed has no such model",
            f"the closest one is {known[closest]['model']!r}; other models work from a folder with"
            f" {_FOLDER}: models.embedding.model_path",
            {"key": "models.embedding.model", "value": name[:80]},
        )
    model = known[name.lower()]
    snapshot = _snapshot(model, may_download=may_download)
    opened = partial(models, model["model"], cache_dir=str(default_cache_dir()), specific_model_path=str(snapshot))
    return model["model"], snapshot.name, opened


def _snapshot(model: Mapping[str, Any], *, may_download: bool) -> Path:
    """The folder of a model in the cache, named after its version; it is downloaded if need be and allowed."""
    from huggingface_hub import snapshot_download

    wanted = [model["model_file"], *model["additional_files"]]
    fetch = partial(
        snapshot_download,
        model["sources"]["hf"],
        cache_dir=default_cache_dir(),
        allow_patterns=[*_PATTERNS, *wanted],
    )
    errors = download_errors()
    try:
        folder = Path(fetch(local_files_only=True))
        if all((folder / file).is_file() for file in (*wanted, TOKENIZER_FILE)):
            return folder
    except errors:
        pass  # it is not there
    if not may_download:
        raise ModelUnavailableError(
            f"the embedding model {model['model']} is not on this machine",
            f"run `kebab ingest`, which downloads it ({model['size_in_GB']:g} GB), or set models.embedding back",
            {"model": model["model"], "cache_dir": str(default_cache_dir())},
        )
    try:
        return Path(fetch())
    except errors as error:
        raise ModelUnavailableError(
            f"the embedding model {model['model']} cannot be downloaded: {in_one_line(error)}",
            "without a network, copy the model to this machine and name its folder in models.embedding.model_path,"
            ' or set models.embedding.provider = "static"',
            {"model": model["model"], "cache_dir": str(default_cache_dir())},
        ) from error


# --- a model in a folder ---------------------------------------------------------------------------------


def _in_folder(folder: Path, pooling: Pooling) -> tuple[str, Callable[..., Any]]:
    """What tells its version, and what opens it."""
    with translated(partial(_unusable, folder.name, folder)):
        model_file = model_file_in(folder)
        pooled = _pooling_of(folder) if pooling == "auto" else pooling
        state = f"{pooled} {_checksum(folder, model_file)}"
    return state, partial(_opened, folder, model_file, pooled)


def _opened(folder: Path, model_file: str, pooled: str, **options: Any) -> Any:
    """The model in a folder. One whose first output is a vector a text, and not one a token, needs no pooling."""
    models = fastembed_models()
    from fastembed.common.model_description import PoolingType

    kinds = {"mean": PoolingType.MEAN, "cls": PoolingType.CLS, "last": PoolingType.LAST_TOKEN}
    name = f"{folder}:{model_file}:{pooled}"
    pooling = kinds.get(pooled, PoolingType.DISABLED)
    # The probe tells the dimensions.
    add_to_list(models, name, model_file=model_file, pooling=pooling, normalization=True, dim=1)
    model = models(name, cache_dir=str(folder), specific_model_path=str(folder), **options)
    if pooled != _POOLED and len(model.model.model.get_outputs()[0].shape) == 2:
        return _opened(folder, model_file, _POOLED, **options)
    return model


def _pooling_of(folder: Path) -> str:
    """As the folder says; the mean where it says nothing, which most models want. Raises OSError, ValueError."""
    path = folder / POOLING_FILE
    if not path.exists():
        return "mean"
    value = json_object(path)
    modes = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean", "pooling_mode_lasttoken": "last"}
    chosen = [short for mode, short in modes.items() if value.get(mode) is True]
    if len(chosen) != 1:
        raise ValueError(f"{POOLING_FILE} names no pooling known here: set models.embedding.pooling")
    return chosen[0]


def _checksum(folder: Path, model_file: str) -> str:
    """Of all that the vectors depend on: the weights, in one or more files, and the tokenizer."""
    digest = hashlib.sha256()
    beside = sorted(path for path in (folder / model_file).parent.glob("*.onnx*") if path.suffix != ".onnx")
    for path in (folder / model_file, *beside, *(folder / name for name in _PATTERNS)):
        if path.is_file():
            with path.open("rb") as file:
                digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


# --- what can be wrong -----------------------------------------------------------------------------------


def _unusable(model: str, folder: Path | None, problem: str) -> KebabError:
    where = {} if folder is None else {"folder": str(folder)}
    hint = f"a folder of a model must hold {_FOLDER}" if folder else "remove it from the cache and ingest again"
    return ModelUnavailableError(
        f"the embedding model {model} cannot be used: {problem}", hint, {"model": model, **where}
    )
