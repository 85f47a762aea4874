"""`kebab fetch`: text as it stands in the source."""

import os
import re
import shlex

import asyncclick as click

from kebab_stream.cli.options import common, common_options, settings
from kebab_stream.cli.output import STDOUT, say, write_line, write_text
from kebab_stream.errors import InvalidInputError
from kebab_stream.render import printable
from kebab_stream.reports.lookup import FetchResult
from kebab_stream.single.validate import whole_number, whole_option

_LINE_END = re.compile(r"\r\n?|\n")
_TAB_COLUMNS = 4
_DIGITS = re.compile("[0-9]+")
_MOST_DIGITS = 18

_EPILOG = """\b
Examples:
  kebab fetch doc ko/notes.md
  kebab fetch span ko/notes.md 10 42
  kebab fetch span 'ko/notes.md#L10-L42' --json | jq -r .text
  kebab fetch chunk 0123456789abcdef0123456789abcdef --context 1"""

_source_option = click.option("--source", metavar="ID", help="The source of DOC, where several have its path.")
_budget_option = click.option(
    "--max-tokens", metavar="N", help="Budget for the answer in JSON, in approximate tokens; cuts after whole lines."
)


@click.group(name="fetch", epilog=_EPILOG, short_help="Read from the source.", invoke_without_command=True)
@common_options
@click.pass_context
def command(context: click.Context, /) -> None:
    """Read a chunk, a document, or some lines of it, as they stand in the source; the files are not needed."""
    if context.invoked_subcommand is None:
        raise InvalidInputError("nothing to fetch was named", "give chunk, doc or span; see `kebab fetch --help`")


@command.command(
    name="chunk",
    short_help="Read a chunk and its neighbours.",
    epilog="Example:  kebab fetch chunk 0123456789abcdef0123456789abcdef --context 2",
)
@click.argument("chunk_id", metavar="CHUNK_ID")
@click.option("--context", metavar="N", default="0", show_default=True, help="Chunks before and after it, up to 50.")
@common_options
def chunk(chunk_id: str, context: str) -> None:
    """Read the chunk CHUNK_ID, which a hit of a search names, and its neighbours."""
    wanted = _number("context", context)
    from kebab_stream.engine import Engine  # late: a wrong argument is told sooner

    with Engine.open(settings()) as engine:
        _write(engine.fetch_chunk(chunk_id, context=wanted))


@command.command(
    name="doc",
    short_help="Read a document.",
    epilog="""\b
Examples:
  kebab fetch doc ko/notes.md > notes.md
  kebab fetch doc ko/notes.md --json --max-tokens 2000""",
)
@click.argument("doc", metavar="DOC")
@_source_option
@_budget_option
@common_options
def doc(doc: str, source: str | None, max_tokens: str | None) -> None:
    """Read the document DOC, a doc_id or doc_path."""
    budget = None if max_tokens is None else _number("max_tokens", max_tokens)
    from kebab_stream.engine import Engine  # late: a wrong argument is told sooner

    with Engine.open(settings()) as engine:
        _write(engine.fetch_document(doc, source=source, max_tokens=budget))


@command.command(
    name="span",
    short_help="Read some lines or a page.",
    epilog="""\b
Examples:
  kebab fetch span src/app.py 10 42
  kebab fetch span 'src/app.py#L10-L42'          # the citation.uri of a hit
  kebab fetch span 'paper.pdf#page=4'""",
)
@click.argument("doc", metavar="DOC")
@click.argument("start", metavar="[START", required=False)
@click.argument("end", metavar="END]", required=False)
@_source_option
@_budget_option
@common_options
def span(doc: str, start: str | None, end: str | None, source: str | None, max_tokens: str | None) -> None:
    """Read the lines START to END of the document DOC, or what DOC names if it is the citation.uri of a hit."""
    first = None if start is None else _line("start", start)
    last = None if end is None else _line("end", end)
    budget = None if max_tokens is None else _number("max_tokens", max_tokens)
    from kebab_stream.engine import Engine  # late: a wrong argument is told sooner

    with Engine.open(settings()) as engine:
        _write(engine.fetch_span(doc, first, last, source=source, max_tokens=budget))


def _line(key: str, text: str) -> int:
    """A line number; one of many digits is beyond every file, as others are that are too large."""
    return _number(key, "9" * _MOST_DIGITS if len(text) > _MOST_DIGITS and _DIGITS.fullmatch(text) else text)


def _number(key: str, text: str) -> int:
    return whole_number(key, whole_option(key, text))


def _write(result: FetchResult) -> None:
    """The answer on stdout: in JSON; as it stands, for programs; or with nothing in it that a terminal would obey."""
    told = common()
    if told.json:
        write_line(result)
        return
    write_text("\n".join(map(_shown if os.isatty(STDOUT) else _verbatim, _texts(result))))
    if note := _note(result):
        say(printable(note))


def _texts(result: FetchResult) -> list[str]:
    """What is printed, one text after the other with a blank line between. A chunk has no line end of its own."""
    if result.kind != "chunk":
        return [result.text]
    before, after = ([each.text for each in neighbours] for neighbours in (result.before, result.after))
    return [f"{text}\n" for text in (*before, result.text, *after)]


def _verbatim(text: str) -> str:
    return text


def _shown(text: str) -> str:
    lines = _LINE_END.split(text)
    if not lines[-1]:
        lines.pop()
    return "".join(f"{printable(line.expandtabs(_TAB_COLUMNS))}\n" for line in lines)


def _note(result: FetchResult) -> str | None:
    """What stderr says of a text that is not all there, or not there at all."""
    if result.hint:
        return f"[truncated; {result.hint}]"
    if result.truncated:
        return f"[truncated; go on with kebab fetch span --source {shlex.quote(result.source_id)} -- {_rest(result)}]"
    if result.citation is None:
        size = f"{result.total_lines} lines" if result.total_pages is None else f"{result.total_pages} pages"
        return f"no text there: {result.doc_path} has {size}"
    return None


def _rest(result: FetchResult) -> str:
    if result.next_page is None or result.citation is None:
        return f"{shlex.quote(result.doc_path)} {result.next_line} {result.total_lines}"
    return shlex.quote(f"{result.citation.uri.rpartition('#')[0]}#page={result.next_page}")
