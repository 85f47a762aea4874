"""`kebab doctor`: is everything in order?"""

import asyncclick as click

from kebab_stream.cli.human import Style
from kebab_stream.cli.options import common, common_options, settings
from kebab_stream.cli.output import write_line, write_text
from kebab_stream.render import printable
from kebab_stream.reports.housekeeping import CheckStatus, DoctorReport

EXIT_UNHEALTHY = 3

_COLOURS: dict[CheckStatus, str] = {"ok": "32", "warn": "33", "fail": "31", "skipped": "2"}

_EPILOG = """\b
Examples:
  kebab doctor
  kebab doctor --json | jq -r '.checks[] | select(.status == "fail") | .message'"""


@click.command(name="doctor", epilog=_EPILOG, short_help="Check that everything is in order.")
@common_options
def command() -> int:
    """Check the settings, the data folder, the index and the model; exit status 3 if a check fails.

    Compares all checksums, so it takes longer than a search on a large index. Writes nothing.
    """
    from kebab_stream.doctor import diagnose  # late: `--help` needs none of its libraries

    report = diagnose(settings)
    if common().json:
        write_line(report)
    else:
        write_text(_text(report, colours=Style.for_stdout().emphasis))
    return 0 if report.healthy else EXIT_UNHEALTHY


def _text(report: DoctorReport, *, colours: bool) -> str:
    """A line for each check, and one for each hint."""
    width = max(len(check.name) for check in report.checks)
    lines = []
    for check in report.checks:
        status = f"{check.status:7}"
        if colours:
            status = f"\x1b[{_COLOURS[check.status]}m{status}\x1b[0m"
        lines.append(f"{status}  {check.name:{width}}  {printable(check.message)}\n")
        if check.hint:
            lines.append(f"{'':7}  {'':{width}}  hint: {printable(check.hint)}\n")
    return "".join(lines)
