"""Writing to the two standard streams: results to stdout, everything else to stderr, whole lines only."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from kebab_stream.concurrency import write_all
from kebab_stream.errors import StorageError
from kebab_stream.model import ErrorRecord, WarningRecord
from kebab_stream.render import error_text, printable, to_json

STDIN = 0
STDOUT = 1
STDERR = 2


def write_line(value: object) -> None:
    """One result as one line of JSON on stdout. An interrupt waits until the line is whole."""
    with _interrupts_held():
        write_all(STDOUT, to_json(value) + b"\n")


def write_text(text: str) -> None:
    """Text for people on stdout."""
    with _interrupts_held():
        write_all(STDOUT, text.encode("utf-8", "backslashreplace"))


def say(line: str) -> None:
    """A line for people on stderr."""
    write_error_bytes(line.encode("utf-8", "backslashreplace") + b"\n")


def write_error_bytes(data: bytes) -> None:
    """Bytes on stderr. Nobody listening, or a full disk there, is no failure of the command."""
    with contextlib.suppress(OSError, StorageError):
        write_all(STDERR, data)


def report(record: ErrorRecord, *, as_json: bool, with_hint: bool) -> None:
    """An error on stderr: one line of JSON, or the message with its hint."""
    say(to_json(record).decode("utf-8") if as_json else error_text(record, with_hint=with_hint))


def warn(record: WarningRecord, *, as_json: bool) -> None:
    """A warning on stderr."""
    say(to_json(record).decode("utf-8") if as_json else f"warning: {printable(record.message)}")


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while a line is written, so that what was printed stays valid; a second one goes through."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(signum: int, _frame: FrameType | None) -> None:
        if held:
            raise KeyboardInterrupt
        held.append(signum)

    previous = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if held:
        raise KeyboardInterrupt
