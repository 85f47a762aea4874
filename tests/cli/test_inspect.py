"""`kebab inspect`: what the index has of something, for people and programs."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import kebab


def inspected(data_dir: Path, *arguments: str) -> Any:
    (result,) = kebab("inspect", *arguments, "--json", data_dir=data_dir).lines
    return result


def test_a_document_has_its_facts_and_a_line_for_each_chunk(fixture_data: Path) -> None:
    result = inspected(fixture_data, "ko/kimchi-stew.md")
    shown = kebab("inspect", "ko/kimchi-stew.md", data_dir=fixture_data).out.decode()
    facts, table = shown.split("\n\n")

    for value in (result["document"]["doc_id"], result["document"]["title"], "ko/kimchi-stew.md", "static-koen-256"):
        assert value in facts
    assert len(table.splitlines()) == 1 + len(result["chunks"])
    for chunk, line in zip(result["chunks"], table.splitlines()[1:], strict=True):
        place = chunk["citation"]["uri"].partition("#")[2]
        numbers = [str(chunk["ordinal"]), place, str(chunk["chars"]), str(chunk["windows"]), chunk["chunk_id"]]
        assert line.split()[:5] == numbers


def test_a_chunk_has_its_text_and_its_terms(fixture_data: Path) -> None:
    chunk_id = inspected(fixture_data, "ko/kimchi-stew.md")["chunks"][0]["chunk_id"]
    result = inspected(fixture_data, chunk_id)
    shown = kebab("inspect", chunk_id, data_dir=fixture_data).out.decode()

    for line in result["text"].split("\n"):
        assert f"    {line}".rstrip() in shown
    rows = [line.split() for line in shown.rpartition("\n\n")[2].splitlines()[1:]]
    assert [(int(here), int(chunks), term) for here, chunks, _, term in rows] == [
        (term["frequency"], term["document_frequency"], term["term"]) for term in result["terms"]
    ]


@pytest.mark.parametrize(
    ("arguments", "code"), [(["nothing.md"], "doc_not_found"), (["0" * 32], "doc_not_found"), ([], "invalid_input")]
)
def test_a_failure_is_one_line_of_json(fixture_data: Path, arguments: list[str], code: str) -> None:
    done = kebab("inspect", *arguments, "--json", data_dir=fixture_data)

    assert (done.status, done.out, done.error["code"]) == (2, b"", code)
    assert arguments or done.error["details"]["key"] == "id_or_path"
