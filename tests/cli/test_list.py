"""`kebab list`: a table for people, a line for each item for programs."""

import json
from pathlib import Path

import pytest
import wcwidth

from tests.cli.program import kebab
from tests.cli.test_human import on_a_terminal
from tests.paths import FIXTURES


def test_documents_are_lines_of_json_by_source_and_path(fixture_data: Path) -> None:
    done = kebab("list", "--json", data_dir=fixture_data)
    paths = [each["doc_path"] for each in done.lines]

    assert (done.status, done.err, len(paths)) == (0, b"", 26)
    assert paths == sorted(paths, key=str.encode)
    assert {each["schema_version"] for each in done.lines} == {"doc_summary.v1"}
    assert kebab("list", "documents", "--json", data_dir=fixture_data).out == done.out


def test_people_get_a_table_with_path_and_title(fixture_data: Path) -> None:
    head, *rows = kebab("list", data_dir=fixture_data).out.decode().splitlines()

    assert len(rows) == 26
    column = wcwidth.width(head[: head.index("path")])
    for listed in kebab("list", "--json", data_dir=fixture_data).lines:
        (row,) = [row for row in rows if f" {listed['doc_path']} " in row]
        assert row.endswith(listed["title"])
        assert wcwidth.width(row[: row.index(listed["doc_path"])]) == column


def test_a_table_is_no_wider_than_the_terminal(fixture_data: Path) -> None:
    head, *rows = on_a_terminal(fixture_data, "list").splitlines()

    assert head.split() == ["source", "lang", "chunks", "indexed", "path", "title"]
    assert len(rows) == 26
    assert max(wcwidth.width(row) for row in rows) <= 50
    assert any("…" in row for row in rows)


def test_filters_are_those_of_a_search(fixture_data: Path) -> None:
    done = kebab("list", "--tag", "recipe", "--lang", "ko", "--json", data_dir=fixture_data)
    code = kebab("list", "--media", "code,pdf", "--path-glob", "code/*", "--json", data_dir=fixture_data)

    assert [each["doc_path"] for each in done.lines] == ["ko/coffee-brewing.md", "ko/kimchi-stew.md"]
    assert {each["media"] for each in code.lines} == {"code"}


def test_tags_and_sources_are_counted(fixture_data: Path) -> None:
    tags = kebab("list", "tags", "--json", data_dir=fixture_data).lines
    (source,) = kebab("list", "sources", "--json", data_dir=fixture_data).lines
    shown = kebab("list", "tags", "--lang", "ko", data_dir=fixture_data).out.decode().splitlines()

    assert {"schema_version": "tag_summary.v1", "tag": "recipe", "documents": 4} in tags
    assert (source["source_id"], source["root"], source["documents"]) == ("corpus", str(FIXTURES / "corpus"), 26)
    assert shown[0].split() == ["documents", "tag"]
    assert ["2", "recipe"] in [line.split() for line in shown]
    assert str(FIXTURES / "corpus") in kebab("list", "sources", data_dir=fixture_data).out.decode()


def test_nothing_to_list_is_no_error_and_advice_can_be_hushed(fixture_data: Path) -> None:
    done = kebab("list", "--tag", "recipes", data_dir=fixture_data)
    machine = kebab("list", "--tag", "recipes", "--json", data_dir=fixture_data)

    hint = 'no document has the tag "recipes", the closest is "recipe"'
    assert (done.status, done.out, done.err.decode()) == (0, b"", f"no documents\nhint: {hint}\n")
    assert (machine.status, machine.out) == (0, b"")
    assert json.loads(machine.err) == {"schema_version": "warning.v1", "code": "nothing_listed", "message": hint}
    assert kebab("list", "--tag", "recipes", "--quiet", data_dir=fixture_data).err == b"no documents\n"
    assert kebab("list", "--tag", "recipes", "--json", "--quiet", data_dir=fixture_data).err == b""


def test_what_a_document_says_is_neutralised(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a\x1b[2J.md").write_text('---\ntitle: "x\\x1b[31my"\ntags: ["t\\x07"]\n---\n# Text\n\nwords\n')
    provider = {"KEBAB_MODELS_EMBEDDING_PROVIDER": "none"}
    assert kebab("ingest", str(notes), data_dir=tmp_path / "data", extra=provider).status == 0

    for arguments in (["list"], ["list", "tags"], ["inspect", "a\x1b[2J.md"]):
        done = kebab(*arguments, data_dir=tmp_path / "data")
        assert done.status == 0
        assert b"\x1b" not in done.out + done.err
        assert b"\x07" not in done.out


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["files"], "documents, tags or sources"),
        (["sources", "--lang", "ko"], "filters are for documents and tags"),
        (["--trust-min", "high"], "trust_min"),
        (["--path-glob", "["], "path_glob"),
        (["--ingested-after", "yesterday"], "ingested_after"),
        (["--must", "x"], "--must"),
    ],
)
def test_a_failure_is_one_line_of_json(fixture_data: Path, arguments: list[str], names: str) -> None:
    done = kebab("list", *arguments, "--json", data_dir=fixture_data)

    assert (done.status, done.out, done.error["code"]) == (2, b"", "invalid_input")
    assert names in done.error["message"]


def test_without_an_index_there_is_nothing_to_list(tmp_path: Path) -> None:
    done = kebab("list", "--json", data_dir=tmp_path / "data")

    assert (done.status, done.error["code"]) == (2, "not_indexed")
