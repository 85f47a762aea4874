"""`kebab init`: write a commented config file."""

import os
from pathlib import Path

import asyncclick as click

from kebab_stream.cli.options import common, common_options, is_readonly, refuse_if_readonly
from kebab_stream.cli.output import say, write_line, write_text
from kebab_stream.config import default_config_path
from kebab_stream.config.describe import commented_config
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.reports.housekeeping import InitResult


@click.command(name="init", epilog="Example:  kebab init && $EDITOR ~/.config/kebab/config.toml")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@common_options
def command(force: bool) -> None:
    """Write a config file with every setting, its default and what it means, to the default place or to --config."""
    told = common()
    path = told.config or default_config_path(os.environ)
    refuse_if_readonly(is_readonly(), "init")
    _write(path, force=force)
    if told.json:
        write_line(InitResult(path=str(path)))
    else:
        write_text(f"{path}\n")
        if not told.quiet:
            say("every setting in it is commented out; remove the # before those you change")


def _write(path: Path, *, force: bool) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(commented_config())
    except FileExistsError:
        raise InvalidInputError(f"{path} exists already", "edit it, or replace it with --force") from None
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
