"""A comparison as one HTML file to look at, in the style of `kebab eval`. It loads nothing and runs no script."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from kebab_stream.compare.shown import namer, unequal_lengths
from kebab_stream.evaluate.plots import WIDTH, shown
from kebab_stream.evaluate.style import STYLE
from kebab_stream.reports.offline import ComparedHit, ComparedQuery, ComparedRun, CompareReport

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_LAYOUT: Final = """
.plots figure:first-child { grid-row: span 2; }
@media (max-width: 720px) {
  .plots figure:first-child { grid-row: auto; }
  .texts thead { display: none; }
  .texts tr, .texts td, .texts td:first-child { display: block; width: auto; }
  .texts td { border-bottom: none; }
  .texts td:nth-child(2)::before { content: "A"; font-weight: 600; }
  .texts td:nth-child(3)::before { content: "B"; font-weight: 600; }
  .texts tr { border-bottom: 1px solid var(--line); }
}
"""
_NO_LATENCY: Final = 'Latencies are told where the queries asked for a trace: <code>"trace": true</code>.'
_ROW: Final = 24
_LEFT: Final = 110
_RIGHT: Final = 70


def page(report: CompareReport) -> str:
    """The report as an HTML document."""
    names = f"{shown(report.a.path)} → {shown(report.b.path)}"
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        f"<title>Changed answers: {names}</title>\n<style>{STYLE}{_LAYOUT}</style>\n</head>\n<body>\n",
        f"<header><h1>Changed answers</h1><p>{names}</p></header>\n<main>\n",
        *_overview(report),
        *_worst(report),
        "</main>\n</body>\n</html>\n",
    ]
    return "".join(parts)


def _overview(report: CompareReport) -> Iterator[str]:
    steps = len(report.rbo_histogram)
    alike = [(f"{place / steps:.1f}–{(place + 1) / steps:.1f}", n) for place, n in enumerate(report.rbo_histogram)]
    top, errors = report.top, report.errors
    yield '<section><div class="plots">'
    yield _bars("queries by rank-biased overlap", alike, "hybrid")
    first = [("same", top.same), ("moved", top.moved), ("lost", top.lost), ("in B only", top.gained)]
    yield _bars("first hit of A, in B", first, "lexical")
    failures = [("both", errors.both), ("A only", errors.only_a), ("B only", errors.only_b)]
    failures.append(("other code", errors.other_code))
    if any(count for _, count in failures):
        yield _bars("failed queries", failures, "worse")
    yield "</div>\n"
    yield f"<p>{_facts(report)}</p>\n"
    if note := unequal_lengths(report):
        yield f"<p>{note}.</p>\n"
    if report.a.latency is None and report.b.latency is None:
        yield f'<p class="note">{_NO_LATENCY}</p>\n'
    heads = ("run", "failed", "p50 ms", "p90 ms", "p99 ms")
    yield _table(heads, [_run_row("A", report.a), _run_row("B", report.b)], "numbers")
    yield "</section>\n"


def _facts(report: CompareReport) -> str:
    facts = [f"{report.queries} queries, {report.compared} answered by both, {report.identical} of these identical"]
    if report.overlap is not None and report.rbo is not None:
        facts.append(f"mean overlap of the first {report.k}: {report.overlap:.3f}")
        facts.append(f"mean rank-biased overlap (p = {report.p:g}): {report.rbo:.3f}")
    return "; ".join([*facts, f"hits are the same if their {report.by} is"]) + "."


def _run_row(name: str, run: ComparedRun) -> Sequence[str]:
    times = run.latency
    shares = ("–",) * 3 if times is None else [f"{time:.1f}" for time in (times.p50_ms, times.p90_ms, times.p99_ms)]
    return (f"{name}: {shown(run.path)}", str(run.failed), *shares)


def _worst(report: CompareReport) -> Iterator[str]:
    if report.worst:
        name_of = namer(report)
        yield "<section><details open><summary>The queries that changed most</summary>\n"
        rows = (_worst_row(one, name_of) for one in report.worst)
        yield _table(("query", "first hits of A", "first hits of B"), rows, "texts")
        yield "</details></section>\n"


def _worst_row(one: ComparedQuery, name_of: Callable[[ComparedHit], str]) -> Sequence[str]:
    note = f"line {one.line}; rank-biased overlap {one.rbo:.3f}, overlap {one.overlap:.3f}"
    query = f'{shown(one.query)}<p class="note">{note}</p>'
    return (query, _hits(one.a, one.b, "B", name_of), _hits(one.b, one.a, "A", name_of))


def _hits(
    hits: Sequence[ComparedHit], others: Sequence[ComparedHit], run: str, name_of: Callable[[ComparedHit], str]
) -> str:
    """Hits of one run; the others are the first ones of `run`, beyond which nobody looks here."""
    places = {hit.id: place for place, hit in enumerate(others, start=1)}
    items = []
    for hit in hits:
        where = f"at {places[hit.id]} in {run}" if hit.id in places else f"not among the first of {run}"
        name = " › ".join(shown(part) for part in (name_of(hit), *hit.heading_path))
        items.append(
            f'<p><code>{name}</code> <span class="note">{hit.score:.3f}, {where}</span></p>'
            f'<p class="excerpt">{shown(hit.snippet)}</p>'
        )
    return "".join(items) or '<p class="note">nothing</p>'


def _bars(name: str, rows: Sequence[tuple[str, int]], kind: str) -> str:
    """A horizontal bar for each (label, count)."""
    most = max(1, *(count for _, count in rows))
    height = _ROW * len(rows) + 8
    parts = []
    for place, (label, count) in enumerate(rows):
        y = 4 + _ROW * place
        wide = (WIDTH - _LEFT - _RIGHT) * count / most
        parts.append(f'<text x="{_LEFT - 10}" y="{y + 15}" text-anchor="end">{shown(label)}</text>')
        parts.append(f'<rect class="{kind}" x="{_LEFT}" y="{y + 2}" width="{wide:.1f}" height="{_ROW - 6}"/>')
        parts.append(f'<text class="tick" x="{_LEFT + wide + 6:.1f}" y="{y + 15}">{count}</text>')
    return (
        f'<figure><figcaption>{name}</figcaption><svg class="plot" role="img" aria-label="{name}"'
        f' viewBox="0 0 {WIDTH} {height}">{"".join(parts)}</svg></figure>\n'
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>\n"
    )
