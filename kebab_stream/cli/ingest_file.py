"""`kebab ingest-file`: index single files."""

from pathlib import Path

import asyncclick as click

from kebab_stream.cli.options import common, common_options, refuse_if_readonly, settings
from kebab_stream.cli.output import say, write_line, write_text
from kebab_stream.errors import InvalidInputError
from kebab_stream.render import printable
from kebab_stream.reports.ingest import DocumentReport

_EPILOG = """\b
Examples:
  kebab ingest-file ~/notes/today.md
  kebab ingest-file report.md minutes.md --json | jq -r .doc_id"""


@click.command(name="ingest-file", epilog=_EPILOG, short_help="Index single files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@common_options
def command(files: tuple[str, ...]) -> None:
    """Index each FILE, in one commit: all of them or, after an error, none.

    A file in the folder of a source becomes a document of it, even one that a scan would ignore. Any other file becomes
    a stored copy, which stays as it is until it is ingested or removed again.
    """
    config = settings()
    refuse_if_readonly(config.readonly, "ingest-file")
    if "" in files:
        raise InvalidInputError("FILE is empty", "give the path of a file")
    from kebab_stream.ingest import ingest_files  # late: parsers and models

    for report in ingest_files(config, [Path(file) for file in files]):
        tell(report)


def tell(report: DocumentReport) -> None:
    """Say what became of a document."""
    told = common()
    if told.json:
        write_line(report)
        return
    write_text(printable(f"{report.status}  {report.doc_id}  {report.source_id}/{report.doc_path}") + "\n")
    if not told.quiet:
        for warning in report.warnings:
            say(f"warning: {printable(warning)}")
