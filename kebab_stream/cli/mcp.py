"""`kebab mcp`: serve an agent."""

import fcntl
import functools
import os

import asyncclick as click

from kebab_stream.cli.options import common, common_options, settings
from kebab_stream.cli.output import STDERR, STDIN, STDOUT, say
from kebab_stream.cli.work import AsyncWork

_EPILOG = """\b
Examples:
  kebab mcp
  kebab mcp --readonly

A client starts it by itself; docs/mcp.md has what to write into its settings."""


@click.command(name="mcp", epilog=_EPILOG, short_help="Serve an agent (MCP).")
@common_options
def command() -> AsyncWork:
    """Serve the tools of the Model Context Protocol on stdin and stdout, until stdin ends.

    With --readonly nothing can be ingested. The index may appear or change while it runs.
    """
    config = settings()
    if os.isatty(STDIN) and not common().quiet:
        say("waiting for an MCP client on stdin; Ctrl-C ends this")
    stdin, stdout = _private_streams()
    from kebab_stream.cli.app import COMMANDS
    from kebab_stream.mcp_server import serve  # late: the SDK takes a second or two

    return AsyncWork(functools.partial(serve, config, commands=COMMANDS, stdin=stdin, stdout=stdout))


def _private_streams() -> tuple[int, int]:
    """Descriptors for the messages, which nobody else has: whatever prints, prints to stderr from now on."""
    stdin, stdout = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, STDERR + 1) for fd in (STDIN, STDOUT))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, STDIN)
    os.close(nothing)
    os.dup2(STDERR, STDOUT)
    return stdin, stdout
