"""fastembed and what it stands on, made to keep to itself, and the errors that they raise."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from kebab_stream.errors import KebabError

_FATAL: Final = 4
"""Of the levels of onnxruntime's log, the one that means the end of the process."""


def keep_to_themselves() -> None:
    """To be called before fastembed or onnxruntime is imported: they write nothing to stderr, and tell nobody then.

    Official builds of onnxruntime send events about their use to their maker, and keep a number of this machine in the
    user's cache, unless this variable stops them before they begin; huggingface_hub has one of the same kind.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    from loguru import logger
    from onnxruntime import set_default_logger_severity

    logger.disable("fastembed")
    set_default_logger_severity(_FATAL)  # what is an error, it raises, too


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
    # It is not imported for that: whether it tells its maker of its use is settled when it is.
    state = sys.modules.get("onnxruntime.capi.onnxruntime_pybind11_state")
    own = [
        each
        for each in (vars(state).values() if state else ())
        if isinstance(each, type) and issubclass(each, Exception)
    ]
    return (ValueError, TypeError, AttributeError, LookupError, RuntimeError, OSError, *own)


@contextmanager
def translated(error_of: Callable[[str], KebabError]) -> Iterator[None]:
    """Turn what the libraries raise into the error of ours that `error_of` makes of a problem."""
    try:
        yield
    except OSError as error:
        known = error.filename and error.strerror
        raise error_of(f"{error.filename}: {error.strerror}" if known else in_one_line(error)) from error
    except library_errors() as error:
        raise error_of(in_one_line(error)) from error


def download_errors() -> tuple[type[Exception], ...]:
    """What huggingface_hub raises where it cannot download something, or finds it not downloaded."""
    try:
        from httpx import HTTPError, InvalidURL
    except ImportError:  # huggingface_hub before 1 asks with requests, whose errors are OSErrors and ValueErrors
        return (OSError, ValueError)
    return (OSError, ValueError, HTTPError, InvalidURL)


def default_cache_dir() -> Path:
    """`kebab/models` in the XDG folder for caches."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "kebab" / "models"


def in_one_line(error: BaseException) -> str:
    """What an error says, without the lines that follow."""
    first = str(error).strip().partition("\n")[0].strip()
    return first[:300] or type(error).__name__
