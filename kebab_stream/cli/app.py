"""The command `kebab`: its subcommands are imported when they are run, not when they are listed."""

import importlib
from typing import TYPE_CHECKING, Any

import asyncclick as click

from kebab_stream.cli.options import common, common_options
from kebab_stream.errors import InvalidInputError

if TYPE_CHECKING:
    from asyncclick.shell_completion import CompletionItem

COMMANDS = {
    "search": "Search the index, or answer a batch of queries from stdin.",
    "ask": "Answer a question from the index with a language model, and cite the sources.",
    "ingest": "Index folders; what did not change is skipped.",
    "fetch": "Read a chunk, a document or some lines of it, as in the source.",
    "list": "List the documents, tags or sources in the index.",
    "inspect": "Tell how a document or a chunk is indexed.",
    "ingest-file": "Index single files; those outside all sources are stored as copies.",
    "ingest-stdin": "Index a text from stdin as a stored copy.",
    "remove": "Remove documents or whole sources from the index.",
    "init": "Write a commented config file.",
    "config": "Show the settings in effect, or bring an older config file up to date.",
    "replay": "Answer any number of queries from a file, resumably, on several processes.",
    "compare": "Tell what changed between two runs of the same queries.",
    "eval": "Measure how good the search is on queries whose answers are known.",
    "doctor": "Check the settings, the index and the model.",
    "schema": "Describe the program and its index, or print the JSON Schema of an object.",
    "mcp": "Serve an agent: the tools of the Model Context Protocol on stdin and stdout.",
    "reset": "Remove the index.",
    "completion": "Print the script that makes a shell complete command lines.",
}
"""Name to the line that `kebab --help` shows; the command is `command` in the module of that name."""


class LazyGroup(click.Group):
    """A group that knows the names of its commands and imports one when it is needed."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Placeholders, from which click suggests names; `get_command` gives the real ones.
        self.commands = {name: click.Command(name) for name in COMMANDS}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"kebab_stream.cli.{cmd_name.replace('-', '_')}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """The names that begin so, without importing a command; then the options."""
        from asyncclick.shell_completion import CompletionItem  # late: only a shell asks

        names = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="First steps:  kebab ingest ~/notes  and then  kebab search 'what was that again'",
)
@common_options
@click.pass_context
def app(context: click.Context, /) -> None:
    """Search your notes, documentation and code: BM25 and vectors, Korean and English, all on this machine."""
    if context.invoked_subcommand is None:
        if common().json:
            raise InvalidInputError("no command given", f"commands are {', '.join(COMMANDS)}; see `kebab --help`")
        click.echo(context.get_help())
