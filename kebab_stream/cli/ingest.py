"""`kebab ingest`: bring the index up to date."""

import functools
from pathlib import Path

import asyncclick as click

from kebab_stream.cli.options import Common, common, common_options, refuse_if_readonly, settings
from kebab_stream.cli.output import say, write_line, write_text
from kebab_stream.cli.work import AsyncWork
from kebab_stream.config import Config
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import IngestReport
from kebab_stream.render import printable

_EPILOG = """\b
Examples:
  kebab ingest ~/notes
  kebab ingest docs src --json | jq .documents
  kebab ingest                                   # every known folder again"""


@click.command(name="ingest", epilog=_EPILOG, short_help="Index folders.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--source-id", metavar="ID", help="Name of the source, instead of the folder's name (one PATH only).")
@click.option("--rebuild-index", is_flag=True, help="Make the index files anew from the stored documents.")
@common_options
def command(paths: tuple[str, ...], source_id: str | None, rebuild_index: bool) -> AsyncWork:
    """Index the folders PATH, or all known ones. What did not change is skipped, what is gone is removed."""
    told = common()
    config = settings()
    refuse_if_readonly(config.readonly, "ingest")
    if "" in paths:  # an unset variable in a script, and not the current folder
        raise InvalidInputError("PATH is empty", "give a folder, or `.` for the current one")
    if source_id is not None and len(paths) != 1:
        raise InvalidInputError("--source-id names one source", "give exactly one PATH with it")
    return AsyncWork(functools.partial(_ingest, told, config, paths, source_id, rebuild_index))


async def _ingest(
    told: Common, config: Config, paths: tuple[str, ...], source_id: str | None, rebuild_index: bool
) -> int:
    from kebab_stream.cli.progress import progress_on_stderr
    from kebab_stream.ingest import IngestRequest, ingest  # late: parsers and models, needed by no other command

    request = IngestRequest(paths=[Path(path) for path in paths], source_id=source_id, rebuild_index=rebuild_index)
    with progress_on_stderr(wanted=not (told.json or told.quiet)) as progress:
        report = await ingest(config, request, progress)
    if told.json:
        write_line(report)
        return 0
    write_text(_summary(report))
    for problem in report.errors:
        say(printable(f"error: {problem.source_id}/{problem.path}: {problem.message}"))
    if not told.quiet:
        _say_skipped(report, verbose=told.verbose)
    return 0


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
