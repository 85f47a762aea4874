"""From arguments to exit status: runs the command, with an event loop only where it needs one, and reports failures."""

import contextlib
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, NoReturn

import asyncclick as click

from kebab_stream.cli.app import app
from kebab_stream.cli.output import report
from kebab_stream.cli.work import EXIT_INTERRUPTED, AsyncWork, run_async
from kebab_stream.concurrency import leaf_of
from kebab_stream.errors import InvalidInputError, KebabError, StorageError
from kebab_stream.render import error_record, generic_record, printable

EXIT_CLOSED_PIPE = 141
EXIT_ERROR = 2


def main() -> NoReturn:
    """Run the command line of this process and leave."""
    _require_utf8_names()
    _open_missing_descriptors()
    for stream in (sys.stdout, sys.stderr):
        # UTF-8 whatever the locale; what cannot be written never stops a message.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    _leave(_run_interruptible(sys.argv[1:]))


def _run_interruptible(arguments: Sequence[str]) -> int:
    """Run the command line so that Ctrl-C is an exception in it, by which it ends in order.

    Before and after there is nothing to put in order, and Ctrl-C ends the process at once: see `__main__`.
    """
    at_once = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = run(arguments)
        signal.signal(signal.SIGINT, at_once)
    except KeyboardInterrupt:  # where `run` does not catch it: just before or after
        return EXIT_INTERRUPTED
    return status


def run(arguments: Sequence[str]) -> int:
    """Run one command line; its exit status. Failures are reported on stderr, in JSON where --json is given."""
    try:
        status = _run(arguments)
        sys.stdout.flush()  # the help texts; results are written at once
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the edge of the command line: nothing may end in a traceback
        return _report(leaf_of(error), as_json=is_given("--json", arguments), quiet=is_given("--quiet", arguments))
    return status


def _report(error: Exception, *, as_json: bool, quiet: bool) -> int:
    """Tell what went wrong; the exit status that goes with it."""
    if isinstance(error, BrokenPipeError):
        return EXIT_CLOSED_PIPE
    if isinstance(error, click.ClickException):
        error = _usage_error(error)
    elif isinstance(error, OSError):
        error = _storage_error(error)
    record = error_record(error) if isinstance(error, KebabError) else generic_record(error)
    report(record, as_json=as_json, with_hint=not quiet)
    return error.exit_status if isinstance(error, KebabError) else EXIT_ERROR


def _storage_error(error: OSError) -> StorageError:
    """What the operating system says: of a help text that cannot be written, of a current folder that is gone."""
    try:
        Path.cwd()
    except OSError as cause:
        hint = "go to a folder that is there, and run the command again"
        return StorageError(f"the current folder is not there any more: {cause.strerror}", hint)
    return StorageError(str(error))


def is_given(option: str, arguments: Sequence[str]) -> bool:
    """Whether a common option is among the arguments, known even where they cannot be parsed."""
    return option in (arguments[: arguments.index("--")] if "--" in arguments else arguments)


def drive(coroutine: Coroutine[Any, Any, object]) -> object:
    """Run a coroutine that never suspends, and return its result. An event loop would cost more than a search."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    coroutine.close()
    raise RuntimeError("a command without an event loop tried to wait; it must return AsyncWork instead")


def _run(arguments: Sequence[str]) -> int:
    for argument in arguments:
        _require_unicode(argument)
    if not arguments and (instruction := os.environ.get("_KEBAB_COMPLETE")):
        from kebab_stream.cli.completion import answer  # late: a shell asks for completions

        outcome = drive(answer(app, instruction))
    else:
        outcome = drive(_command(arguments))
    if isinstance(outcome, AsyncWork):
        outcome = run_async(outcome)
    return outcome if isinstance(outcome, int) else 0


async def _command(arguments: Sequence[str]) -> object:
    """Parse the arguments and run the command. (click's own `main` would answer a closed pipe with exit status 1.)"""
    try:
        async with await app.make_context("kebab", list(arguments)) as context:
            return await app.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code


def _usage_error(error: click.ClickException) -> InvalidInputError:
    """What click says of an argument, as an error of ours."""
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "kebab"
    message = printable(error.format_message())
    advice = f"see `{command} --help`"
    if isinstance(error, click.NoSuchOption):
        advice += "; `--` goes before an argument that begins with a dash"
    elif "unexpected extra argument" in message:
        advice += "; an argument of several words needs quotes"
    parameter = error.param.name if isinstance(error, click.BadParameter) and error.param else None
    return InvalidInputError(message, advice, {"key": parameter} if parameter else {})


def _require_unicode(argument: str) -> None:
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(argument).decode("utf-8", "backslashreplace")
        raise InvalidInputError(f"argument {printable(shown)[:80]} is not valid UTF-8", "pass it as UTF-8") from None


def _require_utf8_names() -> None:
    """Start again in UTF-8 mode where the locale makes Python read arguments and file names as something else."""
    if sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", "-m", "kebab_stream", *sys.argv[1:]])


def _open_missing_descriptors() -> None:
    """Open the null device for standard streams that the caller closed, so that no index file gets their number."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
            setattr(sys, name, os.fdopen(descriptor, "r" if descriptor == 0 else "w", closefd=False))


def _leave(status: int) -> NoReturn:
    """End the process at once: no thread that still waits for input may hold it back."""
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(status)
