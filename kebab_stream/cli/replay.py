"""`kebab replay`: any number of queries from a file, on several processes, resumably."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import asyncclick as click

from kebab_stream.cli.options import Common, common, common_options, settings
from kebab_stream.cli.output import say, warn, write_error_bytes, write_line, write_text
from kebab_stream.cli.work import AsyncWork
from kebab_stream.config import Config
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import WarningRecord
from kebab_stream.render import to_json
from kebab_stream.reports.offline import ReplayReport

if TYPE_CHECKING:
    from kebab_stream.cli.bar import Form
    from kebab_stream.replay import ReplayRequest

_STREAM = "-"
_MOST_WORKERS = 1024
_INTERRUPTED = "interrupted: what is written stays"
_GOES_ON = ", and --resume goes on from there"
_EPILOG = """\b
Examples:
  kebab replay queries.ndjson -o results.ndjson
  kebab replay queries.ndjson -o results.ndjson --resume         # after it was cut off
  kebab replay queries.ndjson -o - --workers 1 | jq -r .response.hits[0].doc_path"""


@click.command(name="replay", epilog=_EPILOG, short_help="Answer any number of queries.")
@click.argument("queries")
@click.option("-o", "--output", metavar="FILE", help="Where the answers go; `-` is stdout.  [required]")
@click.option("--workers", metavar="N", type=int, help="Processes that search; as many as processors if absent.")
@click.option("--resume", is_flag=True, help="Go on where a run that was cut off stands; without one, begin.")
@click.option("--force", is_flag=True, help="Replace an output file that has content.")
@click.option("--fail", is_flag=True, help="Exit 1 when any query failed.")
@click.option("--progress", is_flag=True, help="With --json: lines of replay_progress.v1 on stderr.")
@click.option("--ray", metavar="ADDRESS", help="Work on this Ray cluster (needs the extra `ray`).")
@click.option("--ray-ship", is_flag=True, help="Send the index to its nodes, which do not see the data folder.")
@common_options
def command(
    queries: str,
    output: str | None,
    workers: int | None,
    resume: bool,
    force: bool,
    fail: bool,
    progress: bool,
    ray: str | None,
    ray_ship: bool,
) -> AsyncWork:
    """Answer each line of the file QUERIES (`-` is stdin) as `kebab search --bulk --json` does, in order.

    A line that is no JSON becomes an error in the output, and the run goes on. Ctrl-C ends a run at once; what is
    written stays, and --resume goes on from there.
    """
    told = common()
    _check(queries, output, workers, resume=resume, force=force)
    if ray_ship and not ray:
        raise InvalidInputError("--ray-ship sends the index to a cluster", "--ray ADDRESS says to which")
    config = settings()
    from kebab_stream.replay import ReplayRequest  # late: a wrong argument is told sooner

    request = ReplayRequest(
        source=None if queries == _STREAM else Path(queries),
        target=None if output in (None, _STREAM) else Path(str(output)),
        workers=workers,
        resume=resume,
        force=force,
        ray=ray,
        ray_ship=ray_ship,
    )
    form: Form = "none"
    if not told.quiet:
        form = "bar" if not told.json else "json" if progress else "none"
    return AsyncWork(functools.partial(_replay, told, config, request, form, fail=fail))


def _check(queries: str, output: str | None, workers: int | None, *, resume: bool, force: bool) -> None:
    if not queries:
        raise InvalidInputError("QUERIES is empty", "give a file, or `-` for stdin")
    if not output:
        raise InvalidInputError("no output given", "-o FILE says where the answers go; `-o -` is stdout")
    if workers is not None and not 1 <= workers <= _MOST_WORKERS:
        raise InvalidInputError(f"--workers: expected a whole number from 1 to {_MOST_WORKERS}, got {workers}")
    if resume and force:
        raise InvalidInputError("--resume keeps what --force replaces", "give one of them")


async def _replay(told: Common, config: Config, request: "ReplayRequest", form: "Form", *, fail: bool) -> int:
    from anyio import get_cancelled_exc_class

    from kebab_stream.cli.replay_progress import progress_on_stderr
    from kebab_stream.replay import replay

    try:
        with progress_on_stderr(form) as progress:
            report = await replay(config, request, progress)
    except get_cancelled_exc_class():
        if request.target and not told.quiet:
            message = _INTERRUPTED + (_GOES_ON if request.can_be_resumed else "")
            warn(WarningRecord(code="interrupted", message=message), as_json=told.json)
        raise
    _tell(report, told, to_stderr=request.target is None)
    return 1 if fail and report.failed else 0


def _tell(report: ReplayReport, told: Common, *, to_stderr: bool) -> None:
    """Tell the report on stdout, unless the answers are there."""
    if told.json and to_stderr:
        write_error_bytes(to_json(report) + b"\n")
    elif told.json:
        write_line(report)
    elif to_stderr:
        say(_text(report).rstrip("\n"))
    else:
        write_text(_text(report))


def _text(report: ReplayReport) -> str:
    workers = _counted(report.workers, "worker")
    lines = [
        f"{report.total:,} queries: {report.succeeded:,} succeeded, {report.failed:,} failed",
        f"{report.seconds:.1f} s, {report.queries_per_second:,.1f} queries/s, {workers}",
    ]
    if report.total and report.resumed_lines == report.total:
        return f"already finished, nothing to do: {lines[0]}\n"
    if report.bad_lines:
        lines[0] += f", {report.bad_lines:,} of them no JSON"
    if report.resumed_lines:
        lines[0] += f"; {report.resumed_lines:,} were answered before"
    if report.replaced_workers:
        lines[1] += f", {report.replaced_workers} of them replaced"
    if report.latency:
        times = report.latency
        lines.append(f"p50 {times.p50_ms:.1f} ms, p90 {times.p90_ms:.1f} ms, p99 {times.p99_ms:.1f} ms")
    return "".join(f"{line}\n" for line in lines)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
