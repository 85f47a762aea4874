"""`kebab config`: the settings in effect, and an older config file brought up to date."""

import json
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import asyncclick as click

from kebab_stream.cli.options import common, common_options, is_readonly, refuse_if_readonly
from kebab_stream.cli.output import say, write_line, write_text
from kebab_stream.config import default_config_path
from kebab_stream.config.keys import Key
from kebab_stream.config.load import load_with_origins
from kebab_stream.config.migrate import migrate_file
from kebab_stream.config.settings import KEYS, SOURCE_KEYS, SOURCES, Config, variable_of
from kebab_stream.errors import ConfigNotFoundError, InvalidInputError
from kebab_stream.render import printable
from kebab_stream.reports.housekeeping import ConfigReport, MigrationReport, Setting

_EPILOG = """\b
Examples:
  kebab config show
  kebab config show --json | jq -r '.values["storage.data_dir"].value'
  kebab config migrate --dry-run"""


@click.group(name="config", epilog=_EPILOG, short_help="Show or migrate the settings.", invoke_without_command=True)
@common_options
@click.pass_context
def command(context: click.Context, /) -> None:
    """Show the settings in effect, or bring an older config file up to date."""
    if context.invoked_subcommand is None:
        raise InvalidInputError("config needs to know what to do", "`kebab config show` or `kebab config migrate`")


@command.command(name="show", epilog="Example:  kebab config show > my.toml")
@common_options
def show() -> None:
    """Print the settings in effect, from defaults, file, environment and options, as a config file.

    Paths are absolute. A comment tells where a value is from, unless it is a default.
    """
    told = common()
    config, origins = load_with_origins(
        told.config, environ=os.environ, overrides={"readonly": True if told.readonly else None}
    )
    values = {name: Setting(value=_value(config, name), origin=origins[name]) for name in (*KEYS, SOURCES)}
    report = ConfigReport(path=None if config.path is None else str(config.path), values=values)
    if told.json:
        write_line(report)
    else:
        write_text("\n".join(_lines(report)) + "\n")


@command.command(name="migrate", epilog="Example:  kebab config migrate --dry-run")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@common_options
def migrate(dry_run: bool) -> None:
    """Give settings the names they have now, in the config file itself; a copy of it as it was stays beside it.

    Everything else in the file stays as it is. Settings that no version knows are listed, never removed.
    """
    told = common()
    path = told.config or default_config_path(os.environ)
    if not dry_run:
        refuse_if_readonly(is_readonly(), "config migrate")
    try:
        report = migrate_file(path, dry_run=dry_run)
    except ConfigNotFoundError:
        if told.config is not None:
            raise
        report = MigrationReport(path=str(path), written=False, backup=None, renames=(), unknown=(), diff="")
    if told.json:
        write_line(report)
    else:
        _tell(report, dry_run=dry_run)


def _value(config: Config, name: str) -> Any:
    """A setting as JSON and TOML have it: paths as text, sources as tables, None where it is unset."""
    value: Any = config
    for part in name.split("."):
        value = getattr(value, part)
    if name == SOURCES:
        return [{key: _plain(getattr(source, key)) for key in SOURCE_KEYS} for source in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value


def _lines(report: ConfigReport) -> Iterator[str]:
    """The settings as a config file, line by line."""
    sources: Any = report.values[SOURCES].value
    yield f"# {printable(report.path)}" if report.path else "# no config file"
    for section, keys in groupby(KEYS.values(), key=lambda key: key.name.rpartition(".")[0]):
        if section:
            yield f"\n[{section}]"
        for key in keys:
            yield _line(key, report.values[key.name])
        if section == SOURCES.partition(".")[0]:
            for source in sources:
                yield f"\n[[{SOURCES}]]"
                yield from (f"{name} = {_as_toml(value)}" for name, value in source.items())


def _line(key: Key, setting: Setting) -> str:
    line = f"{key.name.rpartition('.')[2]} = {_as_toml(setting.value)}"
    match setting.origin:
        case "default":
            return line
        case "file":
            return f"{line}  # from the file"
        case "environment":
            return f"{line}  # from {variable_of(key.name)}"
        case "flag":
            return f"{line}  # from the command line"


def _as_toml(value: Any) -> str:
    """A value as TOML; what is unset is the empty text. Texts hold no control characters, so those of JSON are TOML."""
    return json.dumps("" if value is None else value, ensure_ascii=False)


def _tell(report: MigrationReport, *, dry_run: bool) -> None:
    if dry_run and report.diff:
        write_text("".join(f"{printable(line)}\n" for line in report.diff.split("\n")))
    elif report.written:
        for rename in report.renames:
            write_text(f"{rename.old} is {rename.new} now\n")
    else:
        write_text(printable(f"nothing to migrate in {report.path}") + "\n")
    if report.unknown:
        say(printable(f"not known, and left as they are: {', '.join(report.unknown)}"))
    if report.backup and not common().quiet:
        say(printable(f"the file as it was is {report.backup}"))
