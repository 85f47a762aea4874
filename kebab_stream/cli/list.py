"""`kebab list`: what is in the index."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import asyncclick as click

from kebab_stream.cli.filters import filter_options, filters_of
from kebab_stream.cli.options import common, common_options, settings
from kebab_stream.cli.output import say, warn, write_line, write_text
from kebab_stream.cli.table import table
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import Filters, WarningRecord
from kebab_stream.render import printable
from kebab_stream.reports.lookup import DocSummary, SourceSummary, TagSummary
from kebab_stream.single.filters import DOCUMENT_FILTERS
from kebab_stream.single.validate import refused

Row = tuple[object, ...]

_KINDS = ("documents", "tags", "sources")

_EPILOG = """\b
Examples:
  kebab list
  kebab list --tag recipe --lang ko
  kebab list tags
  kebab list --json --media code | jq -r .doc_path"""


@click.command(name="list", epilog=_EPILOG, short_help="List what is in the index.")
@click.argument("kind", metavar="[" + "|".join(_KINDS) + "]", default="documents")
@filter_options(DOCUMENT_FILTERS)
@common_options
def command(kind: str, **options: Any) -> None:
    """List the documents in the index, their tags, or the sources they came from. The filters are those of a search."""
    if kind not in _KINDS:
        raise refused("kind", kind, ", ".join(_KINDS[:-1]) + f" or {_KINDS[-1]}")
    filters = filters_of(DOCUMENT_FILTERS, options)
    if kind == "sources" and filters != Filters():
        raise InvalidInputError("filters are for documents and tags", "list the sources without them")
    from kebab_stream.engine import Engine  # late: a wrong argument is told sooner

    with Engine.open(settings()) as engine:
        if kind == "documents":
            listed = _write(engine.documents(filters), _DOCUMENT_HEADS, _document_row, right=(2,))
        elif kind == "tags":
            listed = _write(engine.tags(filters), ("documents", "tag"), _tag_row, right=(0,))
        else:
            listed = _write(engine.sources(), _SOURCE_HEADS, _source_row, right=(1, 2))
        if not listed:
            _say_nothing(kind, engine.nothing_listed_hint(filters))


def _write(items: Iterable[object], heads: Row, row_of: Callable[[Any], Row], right: Sequence[int]) -> bool:
    """A line of JSON for each item as it comes, or a table of all; whether there was one."""
    if common().json:
        count = 0
        for count, item in enumerate(items, 1):  # noqa: B007  # the last count is what is asked
            write_line(item)
        return count > 0
    rows = [row_of(item) for item in items]
    if rows:
        write_text(table([heads, *rows], right, fit=True))
    return bool(rows)


def _say_nothing(kind: str, hint: str | None) -> None:
    told = common()
    if not told.json:
        say(f"no {kind}")
    if hint and not told.quiet:
        if told.json:
            warn(WarningRecord(code="nothing_listed", message=hint), as_json=True)
        else:
            say(printable(f"hint: {hint}"))


_DOCUMENT_HEADS = ("source", "lang", "chunks", "indexed", "path", "title")
_SOURCE_HEADS = ("source", "documents", "chunks", "indexed", "type", "trust", "root")


def _document_row(document: DocSummary) -> Row:
    language = document.code_lang or document.lang or "-"
    day = document.indexed_at.partition("T")[0] + (" stale" if document.stale else "")
    return document.source_id, language, document.chunks, day, document.doc_path, document.title


def _tag_row(tag: TagSummary) -> Row:
    return tag.documents, tag.tag


def _source_row(source: SourceSummary) -> Row:
    day = source.indexed_at.partition("T")[0] if source.indexed_at else "-"
    counts = (source.documents, source.chunks)
    return source.source_id, *counts, day, source.source_type, source.trust_level, source.root
