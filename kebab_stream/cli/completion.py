"""`kebab completion`: the script that makes a shell complete command lines, and the answers that it asks for."""

import os
from typing import TYPE_CHECKING, Literal, get_args

import asyncclick as click

from kebab_stream.cli.options import common, common_options
from kebab_stream.cli.output import write_line, write_text
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import MODES, TRUST_LEVELS
from kebab_stream.reports.housekeeping import CompletionScript

if TYPE_CHECKING:
    from asyncclick.shell_completion import CompletionItem

Shell = Literal["bash", "zsh", "fish"]

VARIABLE = "_KEBAB_COMPLETE"
"""Environment variable by which the script asks for completions."""

_EPILOG = """\b
Examples:
  kebab completion bash > ~/.local/share/bash-completion/completions/kebab
  kebab completion zsh > ~/.zfunc/_kebab
  kebab completion fish > ~/.config/fish/completions/kebab.fish"""


@click.command(name="completion", epilog=_EPILOG, short_help="Print a completion script.")
@click.argument("shell", type=click.Choice(get_args(Shell)))
@common_options
def command(shell: Shell) -> None:
    """Print the script that makes SHELL complete commands, options and values of `kebab`."""
    script = _script(shell)
    if common().json:
        write_line(CompletionScript(shell=shell, script=script))
    else:
        write_text(script)


async def answer(app: click.Command, instruction: str) -> None:
    """Print what a shell's script asks for: completions of the words in its variables.

    Args:
        app: the command line.
        instruction: such as `bash_complete`, the value of the variable.

    Raises:
        InvalidInputError: no script asks like this.
    """
    from asyncclick.shell_completion import CompletionItem, get_completion_class  # late: only a shell asks

    from kebab_stream.single.validate import shown

    shell, _, action = instruction.partition("_")
    kind = get_completion_class(shell)
    if kind is None or action != "complete" or not {"COMP_WORDS", "COMP_CWORD"} <= os.environ.keys():
        raise InvalidInputError(f"{VARIABLE} is for completion scripts", "see `kebab completion --help`")
    completer = kind(app, {}, "kebab", VARIABLE)
    try:
        words, incomplete = completer.get_completion_args()
    except ValueError:
        raise InvalidInputError(
            f"COMP_CWORD: expected the number of a word in COMP_WORDS, got {shown(os.environ['COMP_CWORD'])}",
            "it is set by completion scripts; see `kebab completion --help`",
        ) from None
    items = _values(words, incomplete)
    if items is None:
        items = await completer.get_completions(words, incomplete)
        if not items and not incomplete.startswith("-"):
            items = [CompletionItem(incomplete, type="file")]
    write_text("".join(f"{completer.format_completion(item)}\n" for item in items))


def _values(words: list[str], incomplete: str) -> "list[CompletionItem[str]] | None":
    """What completes the value of an option that takes one of a few; None where something else is to be completed."""
    from asyncclick.shell_completion import CompletionItem

    from kebab_stream.single.filters import MEDIA

    if incomplete == "=":  # bash makes three words of `--mode=lexical`
        incomplete = ""
    elif "=" in incomplete:
        option, _, incomplete = incomplete.partition("=")
        words = [*words, option]
    option = next((word for word in reversed(words) if word != "="), "")
    known = {"--mode": MODES, "--trust-min": TRUST_LEVELS, "--media": MEDIA}
    if "--" in words or option not in known:
        return None
    return [CompletionItem(value) for value in known[option] if value.startswith(incomplete)]


def _script(shell: Shell) -> str:
    from asyncclick.shell_completion import ShellComplete, get_completion_class

    from kebab_stream.cli.app import app

    # The plain method: that of bash would start a bash, to warn of an old one.
    return ShellComplete.source(get_completion_class(shell)(app, {}, "kebab", VARIABLE))
