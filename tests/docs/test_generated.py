"""The tables in the documentation say what the code says."""

import dataclasses
import re
from pathlib import Path

import pytest

from kebab_stream import model
from kebab_stream.reports import ingest
from tests.paths import ROOT
from tools.write_generated import TABLES, tables_in, with_tables

PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "<!-- generated:" in page.read_text()], ids=lambda p: p.name
)
def test_the_tables_of_a_page_are_what_the_code_generates(page: Path) -> None:
    written = page.read_text(encoding="utf-8")

    assert written == with_tables(written), "run `make generated`"


def test_every_table_has_its_place() -> None:
    assert sorted(name for page in PAGES for name in tables_in(page.read_text(encoding="utf-8"))) == sorted(TABLES)


def test_a_table_replaces_what_stood_in_its_place() -> None:
    page = with_tables("a\n<!-- generated: errors -->\nold\n<!-- end -->\nb\n")

    assert page == f"a\n<!-- generated: errors -->\n\n{TABLES['errors']()}\n<!-- end -->\nb\n"


@pytest.mark.parametrize(
    "kind",
    [
        model.SearchResponse,
        model.SearchHit,
        model.Retrieval,
        model.LineCitation,
        model.CodeCitation,
        model.PageCitation,
        model.Trace,
    ],
    ids=lambda kind: kind.__name__,
)
def test_every_field_of_an_answer_is_explained(kind: type) -> None:
    page = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    named = set(re.findall("`([a-z_]+)`", page))

    assert {field.name for field in dataclasses.fields(kind)} <= named


def test_every_field_of_an_ingest_report_is_explained() -> None:
    page = (ROOT / "docs" / "ingest.md").read_text(encoding="utf-8")

    for kind in (ingest.IngestReport, ingest.FileProblem):
        assert {f"`{field.name}`" for field in dataclasses.fields(kind)} <= set(re.findall("`[a-z_]+`", page))
