"""`kebab remove`: take documents and sources out of the index."""

import asyncclick as click

from kebab_stream.cli.options import common, common_options, refuse_if_readonly, settings
from kebab_stream.cli.output import say, write_line, write_text
from kebab_stream.errors import InvalidInputError
from kebab_stream.render import printable

_EPILOG = """\b
Examples:
  kebab remove '_stdin/Issue 7.md'
  kebab remove 0f3a90e4c1d2b5a6978877665544332f
  kebab remove --source old-notes"""


@click.command(name="remove", epilog=_EPILOG, short_help="Remove documents or sources from the index.")
@click.argument("documents", nargs=-1, metavar="[DOC]...")
@click.option(
    "--source", "sources", multiple=True, metavar="ID", help="Forget a source with all its documents; repeatable."
)
@common_options
def command(documents: tuple[str, ...], sources: tuple[str, ...]) -> None:
    """Remove each DOC (an id, a path, or SOURCE/PATH) from the index. The files themselves are never touched."""
    config = settings()
    refuse_if_readonly(config.readonly, "remove")
    if not documents and not sources:
        raise InvalidInputError("nothing to remove", "name documents, or sources with --source")
    from kebab_stream.ingest import remove  # late: the model of the index

    report = remove(config, documents, sources)
    told = common()
    if told.json:
        write_line(report)
        return
    write_text("".join(printable(f"removed  {name}") + "\n" for name in report.documents))
    if not told.quiet:
        for warning in report.warnings:
            say(f"warning: {printable(warning)}")
