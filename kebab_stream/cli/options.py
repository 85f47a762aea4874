"""The options that every command has, before and after its name."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import asyncclick as click

from kebab_stream.config import Config, load_config
from kebab_stream.errors import ConfigInvalidError, ConfigNotFoundError, ReadonlyModeError

Command = TypeVar("Command", bound=Callable[..., object] | click.Command)

_META = "kebab_stream.common"


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What the common options say."""

    config: Path | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    readonly: bool = False


def common_options(command: Command) -> Command:
    """Add the common options. Where one stands, before or after the command's name, makes no difference."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def common() -> Common:
    """What the common options of the running command say."""
    given: dict[str, object] = click.get_current_context().meta.get(_META, {})
    return Common(**given)  # type: ignore[arg-type]  # filled by `_remember` from the options below


def settings() -> Config:
    """The configuration of the running command: file, environment and common options.

    Raises:
        ConfigNotFoundError, ConfigInvalidError: see `load_config`.
    """
    told = common()
    return load_config(told.config, environ=os.environ, overrides={"readonly": True if told.readonly else None})


def is_readonly() -> bool:
    """What option, environment and config file, if that can be used, say: for commands that write the file."""
    if common().readonly:
        return True
    try:
        return settings().readonly
    except (ConfigInvalidError, ConfigNotFoundError):
        return load_config(Path(os.devnull), environ=os.environ).readonly


def refuse_if_readonly(readonly: bool, command: str) -> None:
    """Stop a writing command under --readonly.

    Raises:
        ReadonlyModeError: always, if `readonly`.
    """
    if readonly:
        raise ReadonlyModeError(f"`kebab {command}` writes, and --readonly forbids it", "run it without --readonly")


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> None:
    # The contexts of the group and of the command share `meta`; an option that is absent says nothing.
    if value not in (None, False):
        context.meta.setdefault(_META, {})[parameter.name] = value


def _config_path(text: str) -> Path:
    """The path given by --config. (`Path("")` would be the current folder.)"""
    if not text:
        raise click.BadParameter("expected the path of a file, got an empty text; leave --config out for the default")
    return Path(text)


def _show_version(context: click.Context, _parameter: click.Parameter, value: object) -> None:
    if value:
        from importlib.metadata import version  # late: slow, and seldom asked for

        click.echo(f"kebab {version('kebab-stream')}")
        raise click.exceptions.Exit(0)


_OPTIONS = (
    click.option(
        "--config",
        metavar="FILE",
        type=_config_path,
        expose_value=False,
        callback=_remember,
        help="Use this config file instead of the default one.",
    ),
    click.option(
        "--json", is_flag=True, expose_value=False, callback=_remember, help="Answer and report errors in JSON."
    ),
    click.option(
        "--quiet", is_flag=True, expose_value=False, callback=_remember, help="No warnings, hints or progress."
    ),
    click.option("--verbose", is_flag=True, expose_value=False, callback=_remember, help="Say more on stderr."),
    click.option(
        "--readonly",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="Refuse every command that writes (also KEBAB_READONLY=1).",
    ),
    click.option(
        "--version",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_show_version,
        help="Show the version and leave.",
    ),
)
