"""fastembed and what it stands on, made to keep to itself, and the errors that they raise."""

import os
import sys
from pathlib import Path
from typing import Any


def keep_to_themselves() -> None:
    """To be called before fastembed is imported: nothing of it is to write to stderr or to tell anybody what is done.

    Official builds of onnxruntime send events about their use to their maker, and keep a number of this machine in the
    user's cache, unless this variable stops them before they begin; huggingface_hub has one of the same kind.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    from loguru import logger

    logger.disable("fastembed")


def fastembed_models() -> Any:
    """The class `fastembed.TextEmbedding`."""
    keep_to_themselves()
    from fastembed import TextEmbedding  # heavy: half a second
    from huggingface_hub.utils.logging import set_verbosity_error
    from huggingface_hub.utils.tqdm import disable_progress_bars

    set_verbosity_error()  # type: ignore[no-untyped-call]  # of a library that types most of itself
    if not sys.stderr.isatty():
        disable_progress_bars()
    return TextEmbedding


def library_errors() -> tuple[type[Exception], ...]:
    """What fastembed, tokenizers and onnxruntime raise: the classes of the last have no base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = [each for each in vars(state).values() if isinstance(each, type) and issubclass(each, Exception)]
    return (ValueError, TypeError, LookupError, RuntimeError, OSError, *own)


def default_cache_dir() -> Path:
    """`kebab/models` in the XDG folder for caches."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "kebab" / "models"


def in_one_line(error: BaseException) -> str:
    """What an error says, without the lines that follow."""
    first = str(error).strip().partition("\n")[0].strip()
    return first[:300] or type(error).__name__
