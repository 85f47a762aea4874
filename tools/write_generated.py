"""Write what is generated from the code: `schemas/*.schema.json`, `docs/configuration.md`, and the tables in `docs/`.

A table stands in its page between `<!-- generated: NAME -->` and `<!-- end -->`; the rest is written by hand.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from kebab_stream.bulk.validate import LIMITS
from kebab_stream.config.describe import configuration_markdown
from kebab_stream.errors import ErrorCode, KebabError
from kebab_stream.ingest.walk import SKIP_MEANINGS
from kebab_stream.schemas import schema_files
from kebab_stream.single.filters import FILTERS, FilterDef
from kebab_stream.wire import SearchItem

ROOT = Path(__file__).resolve().parent.parent

_PLACE = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_SPECIAL = re.compile(r"([\\*\[<|])")

_VALUES: Final[Mapping[str, str]] = {"one": "one", "many": "repeatable", "list": "repeatable, list"}
_GENERIC_MEANING: Final = "Nobody foresaw this failure: a bug, please report it."


def filter_table() -> str:
    """The filters of a search, as flags and as keys of an item."""
    return _table(
        ("flag", "key in JSON", "values", "meaning"),
        ([f"`{each.flag} {each.metavar}`", f"`{each.name}`", _VALUES[each.values], _meaning(each)] for each in FILTERS),
    )


def item_table() -> str:
    """The keys of a bulk item."""
    properties = SearchItem.model_json_schema()["properties"]
    return _table(("key", "accepts"), ([f"`{name}`", _escaped(properties[name]["description"])] for name in properties))


def limit_table() -> str:
    """What a batch may hold."""
    return _table(
        ("limit", "value"),
        [
            ("items (lines that are not blank)", f"{LIMITS.items}"),
            ("bytes in a line", f"{LIMITS.line_bytes:,} ({LIMITS.line_bytes >> 20} MiB)"),
            ("bytes in all", f"{LIMITS.total_bytes:,} ({LIMITS.total_bytes >> 20} MiB)"),
        ],
    )


def error_table() -> str:
    """The codes of errors, in the order of the contract."""
    classes = {kind.code: kind for kind in KebabError.__subclasses__()}
    rows = []
    for code in get_args(ErrorCode):
        kind = classes.get(code, KebabError)
        meaning = _first_line(kind) if code in classes else _GENERIC_MEANING
        rows.append((f"`{code}`", f"{kind.exit_status}", _escaped(meaning)))
    return _table(("code", "exit status", "meaning"), rows)


def skip_table() -> str:
    """Why a file or folder is passed over."""
    return _table(("reason", "meaning"), ([f"`{reason}`", _escaped(text)] for reason, text in SKIP_MEANINGS.items()))


TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "errors": error_table,
    "filters": filter_table,
    "items": item_table,
    "limits": limit_table,
    "skip-reasons": skip_table,
}
"""Name of a place in `docs/` → what stands there."""


def with_tables(page: str) -> str:
    """A page with its tables as the code has them now. A name that is not in TABLES raises KeyError."""
    return _PLACE.sub(lambda place: f"{place[1]}\n{TABLES[place[2]]()}\n{place[3]}", page)


def tables_in(page: str) -> list[str]:
    """The names of the tables in a page."""
    return [place[2] for place in _PLACE.finditer(page)]


def main() -> None:
    """Replace the generated files and tables; a schema without a wire object goes."""
    folder = ROOT / "schemas"
    for old in folder.glob("*.schema.json"):
        old.unlink()
    for name, schema in schema_files():
        (folder / name).write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (ROOT / "docs" / "configuration.md").write_text(configuration_markdown(), encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


def _meaning(definition: FilterDef) -> str:
    """The help text, without what the column of values says already."""
    return _escaped(re.sub(r"; repeatable(?=$|, )", "", definition.help))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escaped(text: str) -> str:
    """Plain text as Markdown in a table."""
    return _SPECIAL.sub(r"\\\1", text)


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


if __name__ == "__main__":
    main()
