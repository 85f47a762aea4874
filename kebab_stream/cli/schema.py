"""`kebab schema`: what the program and its index are, or the JSON Schema of one wire object."""

import difflib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict

import asyncclick as click

from kebab_stream.cli.options import common, common_options, settings
from kebab_stream.cli.output import write_line, write_text
from kebab_stream.errors import InvalidInputError, NotIndexedError
from kebab_stream.render import printable
from kebab_stream.reports.housekeeping import Count, SchemaReport, Statistics

_EPILOG = """\b
Examples:
  kebab schema --json | jq .statistics
  kebab schema search_response.v1 > search_response.schema.json"""


@click.command(name="schema", epilog=_EPILOG, short_help="Describe the program and its index.")
@click.argument("name", required=False)
@common_options
def command(name: str | None) -> None:
    """Describe the program and its index; with NAME, print the JSON Schema of that object, such as search_hit.v1."""
    if name is not None:
        _print_schema(name)
        return
    report = _report()
    if common().json:
        write_line(report)
    else:
        write_text(_text(report))


def _report() -> SchemaReport:
    config = settings()
    from kebab_stream.bulk.validate import LIMITS  # late: `--help` and a wrong argument need none of this
    from kebab_stream.cli.app import COMMANDS
    from kebab_stream.description import describe
    from kebab_stream.index.snapshot import Snapshot

    try:
        snapshot = Snapshot.open(config.storage.data_dir)
    except NotIndexedError:
        return describe(config, None, commands=COMMANDS, batch=asdict(LIMITS))
    with closing(snapshot):
        return describe(config, snapshot, commands=COMMANDS, batch=asdict(LIMITS))


def _print_schema(name: str) -> None:
    from kebab_stream.schemas import schema_files  # late: it needs pydantic

    known = {file.removesuffix(".schema.json"): schema for file, schema in schema_files()}
    if name not in known:
        closest = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
        raise InvalidInputError(
            f"there is no object {printable(name)[:80]}",
            f"the closest one is {closest}; `kebab schema` lists all",
            {"key": "name", "accepted": sorted(known)},
        )
    if common().json:
        write_line(known[name])
    else:
        import json

        write_text(json.dumps(known[name], indent=2, ensure_ascii=False) + "\n")


def _text(report: SchemaReport) -> str:
    """A line for each fact."""
    embedding, llm = report.models.embedding, report.models.llm
    rows = [
        ("program", f"{report.program.name} {report.program.version}"),
        ("commands", ", ".join(report.commands)),
        ("objects", ", ".join(report.wire)),
        ("filters", ", ".join(report.filters)),
        ("limits", ", ".join(f"{name} {number}" for name, number in report.limits.items())),
        ("extras", ", ".join(name for name, there in report.extras.items() if there) or "none installed"),
        ("embedding", f"{embedding.model} ({embedding.provider})" if embedding.provider != "none" else "none"),
        ("llm", f"{llm.model} ({llm.provider})" if llm.provider != "none" else "none"),
        *(_statistics(report.statistics) if report.statistics else [("index", "nothing was ingested yet")]),
    ]
    return "".join(f"{name:10}  {printable(text)}\n" for name, text in rows)


def _statistics(found: Statistics) -> list[tuple[str, str]]:
    index = f"{found.documents} documents, {found.chunks} chunks, {found.windows} vectors, {found.sources} sources"
    breakdowns = {
        "media": found.by_media,
        "language": found.by_lang,
        "code": found.by_code_lang,
        "source": found.by_source,
        "trust": found.by_trust_level,
    }
    return [
        ("index", f"{index}, last changed {found.indexed_at or 'never'}"),
        *((name, _counts(counts)) for name, counts in breakdowns.items() if counts),
    ]


def _counts(counts: Mapping[str, Count]) -> str:
    """Values with their documents and chunks, most documents first."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1].documents, pair[0]))
    return ", ".join(f"{name} {count.documents} ({count.chunks} chunks)" for name, count in ordered)
