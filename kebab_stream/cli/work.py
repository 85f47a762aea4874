"""What a command returns when it needs an event loop."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AsyncWork:
    """Work to be run on an event loop once the arguments are parsed; its result is the exit status."""

    run: Callable[[], Awaitable[int]]
