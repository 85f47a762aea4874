"""`kebab eval`: how good is the search on queries whose answers are known?"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import asyncclick as click

from kebab_stream.cli.options import Common, common, common_options, settings
from kebab_stream.cli.output import warn, write_line, write_text
from kebab_stream.cli.table import table
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.model import MODES, Mode, WarningRecord
from kebab_stream.render import to_json
from kebab_stream.reports.quality import EvalComparison, EvalReport, EvalSet
from kebab_stream.single import validate

if TYPE_CHECKING:
    from kebab_stream.evaluate import Progress

_K = (1, 1000)
_SAVED = ".json"
_NAMED = 3
"""Of what is missing, so many are named."""
_EPILOG = """\b
Examples:
  kebab eval golden.yaml
  kebab eval sets/scifact sets/belebele-ko --html quality.html --save before.json
  kebab eval sets/scifact --modes hybrid --compare before.json
  kebab eval after.json --compare before.json                    # two saved runs, nothing is asked"""


@click.command(name="eval", epilog=_EPILOG, short_help="Measure the quality of the search.")
@click.argument("sets", nargs=-1, metavar="SET...", type=click.Path(path_type=Path))
@click.option("--modes", metavar="MODE,...", default=",".join(MODES), show_default=True, help="Modes to evaluate.")
@click.option("--k", metavar="N", type=int, default=10, show_default=True, help="Cut-off of the measures, 1 to 1000.")
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write a page with plots to look at.")
@click.option(
    "--save", metavar="FILE", type=click.Path(path_type=Path), help="Keep the report, to compare others with."
)
@click.option("--compare", metavar="FILE", type=click.Path(path_type=Path), help="Compare with a report that was kept.")
@common_options
def command(
    sets: tuple[Path, ...], modes: str, k: int, html: Path | None, save: Path | None, compare: Path | None
) -> None:
    """Ask the queries of each SET in each mode, and measure how well the answers rank what is judged relevant.

    A SET is a folder with corpus.jsonl, queries.jsonl and qrels.tsv, which is indexed apart from your own documents; a
    YAML file of queries and what to expect, asked of your index; or a report that --save wrote.
    """
    told = common()
    chosen = _modes_of(modes)
    if not sets:
        raise InvalidInputError("no SET given", "give a folder, a .yaml file or a saved .json file")
    if not _K[0] <= k <= _K[1]:
        raise InvalidInputError(f"--k: expected a whole number from {_K[0]} to {_K[1]}, got {k}")
    for file in filter(None, (html, save)):
        _require_writable(file)
    from kebab_stream.evaluate import page, read_report, report_of  # late: a wrong argument is told sooner

    other = read_report(compare) if compare else None
    _warn_of_ignored(sets, told)
    with _interrupts_told(told):
        done = _evaluated(sets, chosen, k, told)
    report = report_of(done, k=k, other=other, other_run=str(compare or ""))
    if save:
        _write(save, to_json(report) + b"\n")
    if html:
        _write(html, page(report).encode())
    if told.json:
        write_line(report)
    else:
        write_text(_text(report))


@contextmanager
def _interrupts_told(told: Common) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if not told.quiet:
            warn(WarningRecord(code="interrupted", message="interrupted: there is no report"), as_json=told.json)
        raise


def _warn_of_ignored(sets: Sequence[Path], told: Common) -> None:
    """Tell which options say nothing to a report that was made before."""
    context = click.get_current_context()
    given = [
        f"--{name}"
        for name in ("modes", "k")
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given and not told.quiet and any(path.suffix == _SAVED for path in sets):
        message = f"{' and '.join(given)} ignored for saved reports, which have the modes and cut-off of their run"
        warn(WarningRecord(code="ignored_option", message=message), as_json=told.json)


def _evaluated(sets: Sequence[Path], modes: Sequence[Mode], k: int, told: Common) -> list[EvalSet]:
    """The results of each set; those of a saved report are taken from there."""
    from kebab_stream.evaluate import evaluate, read_report, read_set, require_distinct

    # All are read before the first is asked: a mistake in the last one is told at once.
    given = [read_report(path) if path.suffix == _SAVED else read_set(path) for path in sets]
    require_distinct([each.name for one in given for each in (one.sets if isinstance(one, EvalReport) else [one])])
    config = settings()
    done: list[EvalSet] = []
    with _progress(is_wanted=not (told.json or told.quiet)) as progress:
        for one in given:
            if isinstance(one, EvalReport):
                done += one.sets
                continue
            result = evaluate(config, one, modes, k=k, progress=progress)
            if not told.quiet:
                _warn(result, told)
            done.append(result)
    return done


def _modes_of(text: str) -> list[Mode]:
    """The modes named, each once, in the order of `MODES`. Raises InvalidInputError: one is not known, or none is."""
    named = {validate.mode(name.strip()) for name in text.split(",") if name.strip()}
    if not named:
        raise InvalidInputError("--modes: no mode given", f"modes are {', '.join(MODES)}")
    return [mode for mode in MODES if mode in named]


def _warn(result: EvalSet, told: Common) -> None:
    """Tell what was left out, and why a measure cannot reach 1."""
    absent = sorted({one.id for each in result.results for one in each.expected if not one.in_index})
    problems = {
        "unjudged_queries": (result.unjudged, "queries left out, because nothing is judged relevant to them"),
        "unknown_queries": (result.unknown_queries, "judged queries that the set does not have"),
        "absent_targets": (result.absent_targets, f"expected, but not in the index ({_some(absent)})"),
    }
    for code, (count, problem) in problems.items():
        if count:
            warn(WarningRecord(code=code, message=f"{result.name}: {count} {problem}"), as_json=told.json)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _text(report: EvalReport) -> str:
    """The measures of each set and mode, the differences of the first measure, and what each set holds."""
    from kebab_stream.evaluate import metrics_in

    metrics = metrics_in(report.sets)
    heads = ("set", "mode", *metrics, "p50 ms", "p90 ms", "p99 ms")
    facts = "".join(
        f"{one.name}: {one.queries} queries, {one.documents} documents, {one.chunks} chunks"
        f" ({one.embedding_model or 'no embedding model'})\n"
        for one in report.sets
    )
    text = facts + "\n" + table([heads, *_rows(report, metrics)], right=range(2, len(heads)))
    compared = [each for each in report.comparisons if each.metric == metrics[0]]
    if compared:
        heads = ("set", f"difference of {metrics[0]}", "mean", "95 % interval", "p", "better", "same", "worse")
        text += "\n" + table([heads, *map(_difference, compared)], right=range(2, len(heads)))
    return text


def _rows(report: EvalReport, metrics: Sequence[str]) -> Iterator[Sequence[str]]:
    from kebab_stream.evaluate import mean_of

    for one in report.sets:
        for each in one.modes:
            times = (each.latency.p50_ms, each.latency.p90_ms, each.latency.p99_ms)
            values = [_number(each.metrics.get(metric)) for metric in metrics]
            yield (one.name, each.mode, *values, *(f"{time:.1f}" for time in times))
    if len(report.sets) > 1:
        for mode in MODES:
            means = [mean_of(report.sets, mode, metric) for metric in metrics]
            if any(mean is not None for mean in means):
                yield (f"mean of {len(report.sets)} sets", mode, *map(_number, means), "", "", "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _difference(each: EvalComparison) -> Sequence[object]:
    what = f"{each.mode} - {each.other_mode}" if each.other_run is None else f"{each.mode}, here - {each.other_run}"
    interval = f"{each.low:+.4f} to {each.high:+.4f}"
    return (
        each.set,
        what,
        f"{each.difference:+.4f}",
        interval,
        f"{each.p_value:.4f}",
        each.wins,
        each.ties,
        each.losses,
    )


def _require_writable(file: Path) -> None:
    """Notice before a long run that its result could not be kept."""
    if file.is_dir() or not file.absolute().parent.is_dir():
        problem = "is a folder" if file.is_dir() else "is in a folder that does not exist"
        raise InvalidInputError(f"{file} {problem}", "give the name of a file", {"path": str(file)})


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror or error}", None, {"path": str(file)}) from error


@contextmanager
def _progress(*, is_wanted: bool) -> Iterator["Progress"]:
    """Something to tell progress to; a bar where a person is watching."""
    if not is_wanted or not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    from rich.console import Console  # late: only where somebody is watching
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        current = [""]

        def show(what: str, done: int, total: int) -> None:
            if what != current[0]:  # remaining time is of one step
                current[0] = what
                bar.reset(task)
            bar.update(task, description=what, completed=done, total=total)

        yield show
