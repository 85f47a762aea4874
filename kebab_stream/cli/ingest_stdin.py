"""`kebab ingest-stdin`: index a text from stdin."""

import sys

import asyncclick as click

from kebab_stream.cli.ingest_file import tell
from kebab_stream.cli.options import common_options, refuse_if_readonly, settings
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import TRUST_LEVELS, TrustLevel

_EPILOG = """\b
Examples:
  date | kebab ingest-stdin --title 'When it was'
  gh issue view 7 | kebab ingest-stdin --title 'Issue 7' --tag issue --json"""


@click.command(name="ingest-stdin", epilog=_EPILOG, short_help="Index a text from stdin.")
@click.option("--title", required=True, metavar="TITLE", help="What the text is; a new text of that title replaces it.")
@click.option("--name", metavar="FILE", help="File name: its ending tells the kind of text.  [default: TITLE.md]")
@click.option("--tag", "tags", multiple=True, metavar="T", help="A tag, besides those in its front matter; repeatable.")
@click.option("--source-type", metavar="T", help="Label for --source-type filters.  [default: notes]")
@click.option(
    "--trust-level",
    type=click.Choice(TRUST_LEVELS),
    default="secondary",
    show_default=True,
    help="How far it is trusted.",
)
@common_options
def command(
    title: str, name: str | None, tags: tuple[str, ...], source_type: str | None, trust_level: TrustLevel
) -> None:
    """Index the text on stdin as a stored copy, which stays until it is replaced or removed."""
    config = settings()
    refuse_if_readonly(config.readonly, "ingest-stdin")
    for option, value in (("--title", title), *(("--tag", tag) for tag in tags)):
        if not value.strip():
            raise InvalidInputError(f"{option} is blank", "give it a value, or leave it out where it is optional")
    from kebab_stream.ingest import Text, ingest_text  # late: parsers and models

    limit = config.ingest.max_file_bytes
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:  # by how much is not known: the rest is not read
        raise InvalidInputError(
            f"the text has more than the {limit} bytes that ingest.max_file_bytes allows",
            "split it, or raise ingest.max_file_bytes",
            {"max_file_bytes": limit},
        )
    text = Text(data=data, title=title, name=name, tags=tags, source_type=source_type, trust_level=trust_level)
    tell(ingest_text(config, text))
