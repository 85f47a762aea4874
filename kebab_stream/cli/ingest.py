"""`kebab ingest`: bring the index up to date."""

import functools
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import asyncclick as click

from kebab_stream.cli.options import Common, common, common_options, refuse_if_readonly, settings
from kebab_stream.cli.output import say, warn, write_line, write_text
from kebab_stream.cli.work import EXIT_INTERRUPTED, AsyncWork
from kebab_stream.config import Config
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import WarningRecord
from kebab_stream.render import printable
from kebab_stream.reports.ingest import IngestReport

if TYPE_CHECKING:
    from kebab_stream.cli.bar import Form
    from kebab_stream.ingest import IngestRequest

_NOTHING_CHANGED = (
    "nothing was changed: an index is made anew as a whole or not at all. What was computed is kept for the next time"
)
_EPILOG = """\b
Examples:
  kebab ingest ~/notes
  kebab ingest docs src --json | jq .documents
  kebab ingest                                   # every known folder again"""


@click.command(name="ingest", epilog=_EPILOG, short_help="Index folders.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--source-id", metavar="ID", help="Name of the source, instead of the folder's name (one PATH only).")
@click.option("--progress", is_flag=True, help="With --json: lines of ingest_progress.v1 on stderr.")
@click.option("--rebuild-index", is_flag=True, help="Make the index files anew from the stored documents.")
@common_options
def command(paths: tuple[str, ...], source_id: str | None, progress: bool, rebuild_index: bool) -> AsyncWork:
    """Index the folders PATH, or all known ones. What did not change is skipped, what is gone is removed.

    Ctrl-C ends it early, and keeps what is complete; a second one leaves at once, and the index as it was.
    """
    told = common()
    config = settings()
    refuse_if_readonly(config.readonly, "ingest")
    if "" in paths:  # an unset variable in a script, and not the current folder
        raise InvalidInputError("PATH is empty", "give a folder, or `.` for the current one")
    if source_id is not None and len(paths) != 1:
        raise InvalidInputError("--source-id names one source", "give exactly one PATH with it")
    from kebab_stream.ingest import IngestRequest  # late: parsers and models, needed by no other command

    request = IngestRequest(paths=[Path(path) for path in paths], source_id=source_id, rebuild_index=rebuild_index)
    form: Form = "none"
    if not told.quiet:
        form = "bar" if not told.json else "json" if progress else "none"
    stop = Event()
    return AsyncWork(functools.partial(_ingest, told, config, request, form, stop), on_interrupt=stop.set)


async def _ingest(told: Common, config: Config, request: "IngestRequest", form: "Form", stop: Event) -> int:
    from kebab_stream.cli.progress import progress_on_stderr
    from kebab_stream.ingest import ingest

    with progress_on_stderr(form) as progress:
        report = await ingest(config, request, progress, stop=stop)
    if report is None:
        warn(WarningRecord(code="interrupted", message=_NOTHING_CHANGED), as_json=told.json)
        return EXIT_INTERRUPTED
    _tell(report, told)
    return EXIT_INTERRUPTED if report.interrupted else 0


def _tell(report: IngestReport, told: Common) -> None:
    if told.json:
        write_line(report)
        return
    write_text(_summary(report))
    for problem in report.errors:
        say(printable(f"error: {problem.source_id}/{problem.path}: {problem.message}"))
    if not told.quiet:
        _say_skipped(report, verbose=told.verbose)
    if report.replaced_copies and not told.quiet:
        say(f"stored copies replaced by documents of the folders of their files: {len(report.replaced_copies)}")
    if report.interrupted:
        say(f"interrupted: {report.not_reached} files were not read; what was read is indexed")


def _summary(report: IngestReport) -> str:
    seconds = report.elapsed_ms / 1000
    return (
        f"{report.new} new, {report.updated} updated, {report.unchanged} unchanged, {report.deleted} deleted"
        f"{f', {len(report.errors)} errors' if report.errors else ''} in {seconds:.1f} s\n"
        f"{report.documents} documents, {report.chunks} chunks, {report.windows} vectors"
        f" ({report.embedding_model or 'no embedding model'})\n"
    )


def _say_skipped(report: IngestReport, *, verbose: bool) -> None:
    if report.skipped:
        say("skipped: " + ", ".join(f"{count} {reason}" for reason, count in report.skipped.items()))
    if verbose:
        for reason, examples in report.skipped_examples.items():
            say(printable(f"  {reason}: {', '.join(examples)}"))
