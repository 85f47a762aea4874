"""`kebab search`: one query from the arguments, or a batch from stdin."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import asyncclick as click

from kebab_stream.cli.filters import filter_options, filters_of
from kebab_stream.cli.options import Common, common, common_options, settings
from kebab_stream.cli.output import STDIN, STDOUT, say, warn, write_error_bytes, write_line, write_text
from kebab_stream.cli.work import AsyncWork
from kebab_stream.concurrency import stdin_chunks, write_all
from kebab_stream.config import Config
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import MODES, SearchOpts, SearchQuery, WarningRecord
from kebab_stream.single import validate
from kebab_stream.single.filters import FILTERS

if TYPE_CHECKING:
    from kebab_stream.bulk import Emitter, Searcher
    from kebab_stream.engine import Engine

"""int() would take underscores, blanks and digits of other scripts, and any length."""

_EPILOG = """\b
Examples:
  kebab search 'how do I rotate the keys'
  kebab search '하이브리드 검색' --mode lexical --k 3
  kebab search --json --max-tokens 2000 'retry policy' | jq -r '.hits[].doc_path'
  kebab search --bulk --json < queries.ndjson"""


@click.command(name="search", epilog=_EPILOG, short_help="Search the index.")
@click.argument("query", required=False)
@click.option("--mode", metavar="|".join(MODES), default="hybrid", show_default=True, help="How to rank.")
@click.option("--k", metavar="N", help="Hits on a page, 1 to 1000; 0 means search.default_k.")
@click.option("--per-doc", metavar="N", help="Most hits of one document, 1 to 1000; 0 means no limit.")
@click.option("--rerank", is_flag=True, help="Let the model of models.rerank order the best hits anew.")
@click.option("--max-tokens", metavar="N", help="Budget for the whole response, in approximate tokens.")
@click.option("--snippet-chars", metavar="N", help="Longest snippet in characters, 1 to 10000.")
@click.option("--cursor", metavar="CURSOR", help="Go on where next_cursor of the last page left off.")
@filter_options(FILTERS)
@click.option("--trace", is_flag=True, help="Tell how the ranking came about.")
@click.option("--bulk", is_flag=True, help="Read up to 100 queries as NDJSON from stdin; other options are ignored.")
@click.option("--fail", is_flag=True, help="With --bulk: exit 1 when any query failed.")
@common_options
@click.pass_context
def command(context: click.Context, /, **options: Any) -> object:
    """Search the index for QUERY: literal text, no operators. A "quoted part" ranks what contains it higher."""
    told = common()
    if options["bulk"]:
        _warn_of_ignored(context, told)
        return AsyncWork(functools.partial(_bulk, told, settings(), options["fail"]))
    if options["fail"]:
        raise InvalidInputError("--fail is for --bulk", "a single search that fails has exit status 2 anyway")
    query, opts = _query_of(options)
    config = settings()
    from kebab_stream.engine import Engine  # late: a wrong argument is told sooner

    with Engine.open(config) as engine:
        response = engine.search_with_opts(query, opts)
        several_sources = not told.json and _has_several_sources(engine)
    if told.json:
        write_line(response)
        return 0
    from kebab_stream.cli.human import Style, notes_text, response_text

    write_text(response_text(response, query.query, Style.for_stdout(), several_sources=several_sources))
    if notes := notes_text(response, quiet=told.quiet):
        say(notes)
    return 0


def _query_of(options: dict[str, Any]) -> tuple[SearchQuery, SearchOpts]:
    """The query that the arguments describe.

    Raises:
        InvalidInputError: one of them is not acceptable; the message names it.
    """
    if options["query"] is None:
        raise InvalidInputError("QUERY is missing", "give the text to search for, or --bulk to read queries from stdin")
    query = SearchQuery(
        query=options["query"],
        mode=options["mode"],
        k=_whole(options, "k"),
        per_doc=_whole(options, "per_doc"),
        rerank=options["rerank"],
        filters=filters_of(FILTERS, options),
    )
    opts = SearchOpts(
        max_tokens=_whole(options, "max_tokens"),
        snippet_chars=_whole(options, "snippet_chars"),
        cursor=options["cursor"],
        trace=options["trace"],
    )
    # The engine checks too; here it is before its libraries are imported.
    return validate.search(query, opts), opts


def _whole(options: dict[str, Any], name: str) -> int | None:
    text = options[name]
    return None if text is None else validate.whole_option(name, text)


def _warn_of_ignored(context: click.Context, told: Common) -> None:
    ignored = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in ("bulk", "fail")
        and parameter.expose_value
        and context.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.COMMANDLINE
    ]
    if ignored and not told.quiet:
        names = ", ".join("QUERY" if name == "query" else name for name in ignored)
        message = f"{names} ignored: with --bulk each query brings its own options"
        warn(WarningRecord(code="ignored_option", message=message), as_json=told.json)


async def _bulk(told: Common, config: Config, fail: bool) -> int:
    from kebab_stream.bulk import run_bulk

    several_sources = False

    def open_engine() -> "Searcher":
        from kebab_stream.engine import Engine

        nonlocal several_sources
        engine = Engine.open(config)
        several_sources = _has_several_sources(engine)
        return engine

    emitter = _emitter(told, lambda: several_sources)
    summary = await run_bulk(open_engine, chunks=stdin_chunks(STDIN), emitter=emitter)
    return 1 if fail and summary.failed else 0


def _has_several_sources(engine: "Engine") -> bool:
    return len(engine.snapshot.store.sources()) > 1


def _emitter(told: Common, has_several_sources: Callable[[], bool]) -> "Emitter":
    """What writes the answers; it asks about the sources when an answer is there, and so the index is open."""
    from kebab_stream.bulk import HumanEmitter, JsonEmitter

    out = functools.partial(write_all, STDOUT)
    if told.json:
        return JsonEmitter(out, write_error_bytes)
    from kebab_stream.cli.human import Style, notes_text, response_text

    style = Style.for_stdout()
    return HumanEmitter(
        out,
        write_error_bytes,
        render=lambda response, query: response_text(response, query, style, several_sources=has_several_sources()),
        notes=functools.partial(notes_text, quiet=told.quiet),
        quiet=told.quiet,
    )
