"""A folder with an ONNX model and its tokenizer: what it must hold, and how fastembed is made to open it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import orjson

MODEL_FILES: Final = (
    "model.onnx",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
"""Where a folder may have the model itself; the first that is there is taken."""
TOKENIZER_FILE: Final = "tokenizer.json"
SETTINGS_FILES: Final = (
    "config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "preprocessor_config.json",
)
"""Read where they are there; each is a JSON object."""


def model_file_in(folder: Path, candidates: Sequence[str] = MODEL_FILES) -> str:
    """Where the folder has the model itself. What stands beside it is looked at, too.

    Raises:
        OSError, ValueError: a file is missing, is none, or is not of its kind: fastembed would wait for a pipe, and
            raise anything for the rest.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} is missing")
    file = next((file for file in candidates if (folder / file).is_file()), None)
    if file is None:
        raise FileNotFoundError(f"there is none of {', '.join(candidates)} in {folder}")
    from tokenizers import Tokenizer

    Tokenizer.from_buffer(_content(folder / TOKENIZER_FILE))
    for name in SETTINGS_FILES:
        if (folder / name).exists():
            json_object(folder / name)
    return file


def json_object(path: Path) -> dict[str, Any]:
    """What a file holds. Raises OSError, ValueError: it is no file, or holds no JSON object."""
    try:
        value = orjson.loads(_content(path))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"{path.name} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} holds no JSON object")  # noqa: TRY004  # of a file, not of an argument
    return value


def add_to_list(models: Any, name: str, **description: Any) -> None:
    """Describe a model to fastembed, once in a process.

    Args:
        models: the class of fastembed for this kind of model.
        name: of its own among all in the process, whatever the folder is called: of all that is described.
        description: what `models.add_custom_model` wants to know of this kind, without the model's source.
    """
    if any(each["model"].lower() == name.lower() for each in models.list_supported_models()):
        return
    from fastembed.common.model_description import ModelSource

    models.add_custom_model(name, sources=ModelSource(hf=name), **description)  # never asked: the folder is given


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise ValueError(f"{path.name} is no file")
    return path.read_bytes()
