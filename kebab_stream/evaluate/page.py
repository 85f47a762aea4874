"""A report as one HTML file to look at: tables, plots, and what went wrong. It loads nothing and runs no script."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kebab_stream.evaluate.plots import differences, distributions, dots, mark, shown, signed
from kebab_stream.evaluate.report import mean_of, metrics_in, values_of
from kebab_stream.evaluate.run import WORST, worst_queries
from kebab_stream.evaluate.style import STYLE
from kebab_stream.model import MODES, Mode
from kebab_stream.reports.quality import EvalAnswer, EvalComparison, EvalHit, EvalQuery, EvalReport, EvalSet

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_TERMS: Final = (
    "Colours and shapes tell the modes; below, green is better or right and orange worse or wrong."
    " The first right hit of a query is the rank of its first relevant one, – where there is none."
    " p is the chance of a difference at least as large if both were equally good: below 0.05 it is hardly chance."
)
_INSTEAD: Final = 3
"""First hits shown of a query that went wrong."""


def page(report: EvalReport) -> str:
    """The report as an HTML document."""
    names = ", ".join(shown(one.name) for one in report.sets)
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        f"<title>Search quality: {names}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        f"<header><h1>Search quality</h1>{_legend(report)}</header>\n<main>\n",
        *_overview(report),
        *_compared(report),
        *(part for one in report.sets for part in _set(one, is_only=len(report.sets) == 1)),
        "</main>\n</body>\n</html>\n",
    ]
    return "".join(parts)


def _legend(report: EvalReport) -> str:
    used = {mode.mode for one in report.sets for mode in one.modes}
    entries = [
        f'<span><svg class="key" viewBox="0 0 16 16" aria-hidden="true">{mark(mode, 8, 8)}</svg>{mode}</span>'
        for mode in MODES
        if mode in used
    ]
    return f'<p class="legend">{"".join(entries)}</p>'


def _overview(report: EvalReport) -> Iterator[str]:
    """The measures of every set and mode, as plots and as a table."""
    metrics = metrics_in(report.sets)
    yield '<section><div class="plots">'
    for metric in metrics:
        rows = [
            (one.name, [(each.mode, each.metrics[metric]) for each in one.modes if metric in each.metrics])
            for one in report.sets
        ]
        yield dots(metric, rows)
    yield "</div>\n"
    heads = ("set", "queries", "mode", *map(shown, metrics), "p50 ms", "p90 ms", "p99 ms")
    yield _table(heads, _overview_rows(report, metrics), "numbers")
    yield f'<p class="note">{_TERMS}</p>\n'
    yield "</section>\n"


def _overview_rows(report: EvalReport, metrics: Sequence[str]) -> Iterator[Sequence[str]]:
    for one in report.sets:
        best = {metric: max(each.metrics.get(metric, 0) for each in one.modes) for metric in metrics}
        for each in one.modes:
            values = [_value(each.metrics.get(metric), best[metric]) for metric in metrics]
            times = (each.latency.p50_ms, each.latency.p90_ms, each.latency.p99_ms)
            yield (shown(one.name), str(one.queries), each.mode, *values, *(f"{time:.1f}" for time in times))
    if len(report.sets) > 1:
        for mode in MODES:
            means = [mean_of(report.sets, mode, metric) for metric in metrics]
            if any(mean is not None for mean in means):
                yield ("mean of the sets", "", mode, *(_value(mean, None) for mean in means), "", "", "")


def _value(value: float | None, best: float | None) -> str:
    if value is None:
        return "–"
    return f"<b>{value:.3f}</b>" if value == best else f"{value:.3f}"


def _compared(report: EvalReport) -> Iterator[str]:
    """Differences of the first measure, with their intervals."""
    metric = metrics_in(report.sets)[0]
    runs = dict.fromkeys(comparison.other_run for comparison in report.comparisons)
    for run in runs:
        chosen = [each for each in report.comparisons if each.other_run == run and each.metric == metric]
        if chosen:
            title = f"Compared with {shown(run)}" if run else "Modes compared"
            yield f"<section><h2>{title}</h2>\n"
            yield f"<p>Mean difference of {shown(metric)}, same queries; paired randomisation test.</p>\n"
            yield _table(
                ("set", "difference of", "queries", "mean", "95 % interval", "p", "better", "same", "worse"),
                map(_comparison_row, chosen),
                "numbers",
            )
            yield "</section>\n"


def _comparison_row(each: EvalComparison) -> Sequence[str]:
    what = f"{each.mode} − {each.other_mode}" if each.other_run is None else each.mode
    mean = signed(each.difference)
    if each.low > 0 or each.high < 0:
        mean = f'<b class="{"up" if each.difference > 0 else "down"}">{mean}</b>'
    interval = f"{signed(each.low)} … {signed(each.high)}"
    counts = map(str, (each.wins, each.ties, each.losses))
    return (shown(each.set), what, str(each.queries), mean, interval, f"{each.p_value:.4f}", *counts)


def _set(one: EvalSet, *, is_only: bool) -> Iterator[str]:
    yield f"<section><h2>{shown(one.name)}</h2>\n<p>{_facts(one)}</p>\n"
    *others, last = [each.mode for each in one.modes]
    metric = next(iter(one.modes[-1].metrics))
    texts = {result.id: result.query for result in one.results}
    yield '<div class="plots">'
    for other in reversed(others):
        ours, theirs = values_of(one.results, last, metric), values_of(one.results, other, metric)
        each = [(texts[query], ours[query] - theirs[query]) for query in ours]
        yield differences(f"{metric} by query: {last} − {other}", each)
    for mode in (*others, last):
        right, wrong = _first_scores(one.results, mode)
        yield distributions(f"score of the first hit: {mode}", right, wrong)
    yield "</div>\n"
    worst = [one.results[place] for place in worst_queries(one.results, WORST)]
    if worst:
        yield "<details open>" if is_only else "<details>"
        yield f"<summary>The {len(worst)} queries that {last} answers worst</summary>\n"
        yield _table(("query", "expected", f"first hits of {last}"), map(_worst_row, worst), "texts")
        yield "</details>\n"
    yield "</section>\n"


def _facts(one: EvalSet) -> str:
    facts = [
        f"{one.queries} queries, {one.documents} documents in {one.chunks} chunks",
        f"vectors of {shown(one.embedding_model)}" if one.embedding_model else "no vectors",
        f"kebab-stream {shown(one.version)}",
    ]
    if one.unjudged:
        facts.append(f"{one.unjudged} queries left out, because nothing is judged relevant to them")
    if one.unknown_queries:
        facts.append(f"{one.unknown_queries} judged queries that the set does not have")
    if one.absent_targets:
        facts.append(f"{one.absent_targets} expected, but not in the index")
    return "; ".join(facts) + "."


def _first_scores(results: Sequence[EvalQuery], mode: Mode) -> tuple[list[float], list[float]]:
    """Scores of first hits that are relevant, and of those that are not."""
    first = [answer.top[0] for one in results for answer in one.answers if answer.mode == mode and answer.top]
    right = [hit.score for hit in first if (hit.grade or 0) > 0]
    return right, [hit.score for hit in first if (hit.grade or 0) <= 0]


def _worst_row(result: EvalQuery) -> Sequence[str]:
    ranks = " · ".join(f"{answer.mode} {_rank(answer)}" for answer in result.answers)
    query = f'{shown(result.query)}<p class="note">first right hit: {ranks}</p>'
    expected = "".join(
        _item(one.id, "" if one.in_index else "not in the index", one.excerpt) for one in result.expected[:_INSTEAD]
    )
    if more := len(result.expected) - _INSTEAD:
        expected += f'<p class="note">and {more} more</p>' if more > 0 else ""
    instead = "".join(_hit(hit) for hit in result.answers[-1].top[:_INSTEAD])
    return (query, expected, instead or '<p class="note">nothing</p>')


def _rank(answer: EvalAnswer) -> str:
    return "–" if answer.first_rank is None else str(answer.first_rank)


def _hit(hit: EvalHit) -> str:
    return _item(hit.id, f"{hit.score:.3f}{', right' if (hit.grade or 0) > 0 else ''}", hit.excerpt)


def _item(name: str, note: str, excerpt: str | None) -> str:
    text = f'<p class="excerpt">{shown(excerpt)}</p>' if excerpt else ""
    return f'<p><code>{shown(name)}</code> <span class="note">{note}</span></p>{text}'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    parts = ("<thead><tr>", head, "</tr></thead>\n<tbody>\n", body, "</tbody>")
    return f'<div class="wide"><table class="{kind}">{"".join(parts)}</table></div>\n'
