"""`kebab compare`: what changed between two runs of the same queries?"""

from collections.abc import Callable
from pathlib import Path

import asyncclick as click

from kebab_stream.cli.options import common, common_options
from kebab_stream.cli.output import write_line, write_text
from kebab_stream.cli.table import table
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.render import printable
from kebab_stream.reports.offline import ComparedHit, ComparedQuery, ComparedRun, CompareReport

_BY = ("chunk", "document")
_K = (1, 1000)
_SHOWN = 10
_QUERY_CHARS = 60
_EPILOG = """\b
Examples:
  kebab compare before.ndjson after.ndjson
  kebab compare lexical.ndjson hybrid.ndjson --by document --html changes.html
  kebab compare before.ndjson after.ndjson --json | jq .rbo"""


@click.command(name="compare", epilog=_EPILOG, short_help="Tell what changed between two runs.")
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@click.option("--by", type=click.Choice(_BY), default="chunk", show_default=True, help="What counts as the same hit.")
@click.option("--k", metavar="N", type=int, default=10, show_default=True, help="Depth of the overlap, 1 to 1000.")
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write a page with plots to look at.")
@common_options
def command(a: Path, b: Path, by: str, k: int, html: Path | None) -> None:
    """Compare B with A: two files of answers to the same queries, by `kebab replay` or `kebab search --bulk --json`.

    Overlap is the share of the first hits that both have; rank-biased overlap (RBO, p = 0.9) counts the top most.
    """
    told = common()
    if not _K[0] <= k <= _K[1]:
        raise InvalidInputError(f"--k: expected a whole number from {_K[0]} to {_K[1]}, got {k}")
    if html is not None and any(_is_same_file(html, path) for path in (a, b)):
        raise InvalidInputError(f"--html: {html} is one of the two that are compared", "write the page elsewhere")
    from kebab_stream.compare import compare  # late: a wrong argument is told sooner

    report = compare(a, b, by="document" if by == "document" else "chunk", k=k)
    if html is not None:
        from kebab_stream.compare.page import page  # late: with it come the plots of `kebab eval`

        try:
            html.write_text(page(report), encoding="utf-8")
        except OSError as error:
            raise StorageError(f"cannot write {html}: {error.strerror or error}", None, {"path": str(html)}) from error
    if told.json:
        write_line(report)
    else:
        write_text(_text(report))


def _is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file; not if one of them leads nowhere."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def _text(report: CompareReport) -> str:
    from kebab_stream.compare.shown import namer, unequal_lengths

    top, errors = report.top, report.errors
    rows = [
        ("queries", report.queries),
        ("answered by both", report.compared),
        ("identical", report.identical),
        (f"mean overlap@{report.k}", _number(report.overlap)),
        (f"mean RBO (p = {report.p:g})", _number(report.rbo)),
        ("first hit of A same", top.same),
        ("first hit of A moved", top.moved),
        ("first hit of A lost", top.lost),
        ("first hit in B only", top.gained),
        ("failed in both", errors.both),
        ("failed in A only", errors.only_a),
        ("failed in B only", errors.only_b),
        ("failed otherwise", errors.other_code),
    ]
    text = table([(f"by {report.by}", ""), *rows], right=[1])
    if note := unequal_lengths(report):
        text += f"\n{note}\n"
    if report.a.latency or report.b.latency:
        heads = ("run", "p50 ms", "p90 ms", "p99 ms")
        text += "\n" + table([heads, _times("A", report.a), _times("B", report.b)], right=[1, 2, 3])
    if report.worst:
        name_of = namer(report)
        names = ("RBO", "overlap", "line", "query", "first hit of A", "first hit of B")
        rows_of_worst = [_worst_row(one, name_of) for one in report.worst[:_SHOWN]]
        text += "\n" + table([names, *rows_of_worst], right=[0, 1, 2], fit=True)
    return text


def _times(name: str, run: ComparedRun) -> tuple[str, ...]:
    times = run.latency
    if times is None:
        return (name, "-", "-", "-")
    return (name, f"{times.p50_ms:.1f}", f"{times.p90_ms:.1f}", f"{times.p99_ms:.1f}")


def _worst_row(one: ComparedQuery, name_of: Callable[[ComparedHit], str]) -> tuple[object, ...]:
    query = printable(one.query)
    query = query if len(query) <= _QUERY_CHARS else f"{query[: _QUERY_CHARS - 1]}…"
    first, second = (name_of(hits[0]) if hits else "-" for hits in (one.a, one.b))
    return (f"{one.rbo:.3f}", f"{one.overlap:.3f}", one.line, query, first, second)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
