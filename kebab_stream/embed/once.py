"""A model that is loaded when it is first needed, and then stays."""

import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from kebab_stream.errors import KebabError

Model = TypeVar("Model")

RETRY_S: Final = 10.0
"""A hundred queries at once wait for a server that hangs once, not a hundred times; who has started it, a little."""


class Once(Generic[Model]):
    """Calls a loader, and remembers what came of it: a model for good, a refusal for some seconds."""

    def __init__(self, load: Callable[[], Model], *, retry_s: float = RETRY_S) -> None:
        self._load = load
        self._retry_s = retry_s
        self._models: list[Model] = []
        self._refusal: KebabError | None = None
        self._refused_until = 0.0

    def __call__(self) -> Model:
        """The model. Raises KebabError: it cannot be loaded, or could not be just now."""
        if self._models:
            return self._models[0]
        if self._refusal is not None and time.monotonic() < self._refused_until:
            raise self._refusal.with_traceback(None)
        try:
            self._models.append(self._load())
        except KebabError as error:
            self._refusal = error
            self._refused_until = time.monotonic() + self._retry_s
            raise
        return self._models[0]
