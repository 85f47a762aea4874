"""`kebab reset`: remove the index."""

import os
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import asyncclick as click

from kebab_stream.cli.options import common, common_options, refuse_if_readonly, settings
from kebab_stream.cli.output import say, write_error_bytes, write_line, write_text
from kebab_stream.errors import InvalidInputError, KebabError, NotIndexedError
from kebab_stream.render import printable
from kebab_stream.reports.housekeeping import ResetReport

EXIT_REFUSED = 1

_EPILOG = """\b
Examples:
  kebab reset
  kebab reset --yes --json | jq .removed"""


@click.command(name="reset", epilog=_EPILOG, short_help="Remove the index.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common_options
def command(yes: bool) -> int:
    """Remove the index from the data folder; your files, the config file and anything else there stay.

    Asks on a terminal; anywhere else, and with --json, it needs --yes.
    """
    told = common()
    config = settings()
    refuse_if_readonly(config.readonly, "reset")
    data_dir = config.storage.data_dir
    from kebab_stream.index.data_folder import own_paths  # late: `--help` and a refusal need none of it
    from kebab_stream.index.lock import LOCK_FILE

    if not own_paths(data_dir) and not (data_dir / LOCK_FILE).exists():
        _tell(_report(data_dir, 0, []))
        return 0
    documents = _documents_in(data_dir)
    if not yes and not _agreed(data_dir, documents, may_ask=not told.json and os.isatty(0) and os.isatty(1)):
        say("nothing was removed")
        return EXIT_REFUSED
    _tell(_reset(data_dir, documents))
    return 0


def _agreed(data_dir: Path, documents: int | None, *, may_ask: bool) -> bool:
    """What the person at the terminal says.

    Raises:
        InvalidInputError: there is none.
    """
    if not may_ask:
        raise InvalidInputError("reset removes the index, and nobody can be asked here", "say so with --yes")
    what = "an index that cannot be read" if documents is None else f"the index of {documents} documents"
    say(printable(f"This removes {what} from {data_dir}. Your own files stay."))
    write_error_bytes(b"Type yes to go on: ")
    return sys.stdin.readline().strip() == "yes"


def _documents_in(data_dir: Path) -> int | None:
    """How many documents are indexed; None where that cannot be told."""
    from kebab_stream.index.store import Store

    try:
        with closing(Store.open(data_dir)) as store:
            return store.count("documents")
    except NotIndexedError:
        return 0
    except KebabError:  # whatever it is, a reset is what helps
        return None


def _reset(data_dir: Path, documents: int | None) -> ResetReport:
    from kebab_stream.index.data_folder import remove_own
    from kebab_stream.index.lock import write_lock

    with write_lock(data_dir):
        removed = remove_own(data_dir)
    with suppress(OSError):  # it is not empty, or it is a link or a mounted disk
        data_dir.rmdir()
    return _report(data_dir, documents, removed)


def _report(data_dir: Path, documents: int | None, removed: Sequence[str]) -> ResetReport:
    try:
        kept, there = len(list(data_dir.iterdir())), True
    except (FileNotFoundError, NotADirectoryError):
        kept, there = 0, False
    return ResetReport(
        data_dir=str(data_dir),
        documents=documents,
        removed=tuple(removed),
        kept=kept,
        folder_removed=bool(removed) and not there,
    )


def _tell(report: ResetReport) -> None:
    if common().json:
        write_line(report)
        return
    if not report.removed:
        write_text(printable(f"nothing to remove in {report.data_dir}") + "\n")
        return
    index = "the index" if report.documents is None else f"the index of {report.documents} documents"
    write_text(printable(f"removed {index} from {report.data_dir}") + "\n")
    if report.kept and not common().quiet:
        say(f"{report.kept} other files and folders in it were left alone")
