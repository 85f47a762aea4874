"""`kebab fetch`: the bytes of the source for programs, nothing that a terminal would obey for people."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import kebab
from tests.cli.test_human import on_a_terminal
from tests.paths import FIXTURES

CORPUS = FIXTURES / "corpus"
RUNBOOK = "en/backup-runbook.md"
PLAIN = {"KEBAB_MODELS_EMBEDDING_PROVIDER": "none"}


@pytest.fixture(scope="module")
def odd_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of one document full of what terminals obey, whose source is gone."""
    folder = tmp_path_factory.mktemp("odd")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "odd.txt").write_bytes("one\x1b[2Jtwo\r\n\tthree\x07\u202e\nfour".encode())
    assert kebab("ingest", str(notes), data_dir=folder / "data", extra=PLAIN).status == 0
    (notes / "odd.txt").unlink()
    return folder / "data"


def hit_of(data_dir: Path, query: str) -> Any:
    return kebab("search", query, "--k", "1", "--json", data_dir=data_dir).lines[0]["hits"][0]


def test_programs_get_the_bytes_of_the_file(fixture_data: Path, odd_data: Path) -> None:
    done = kebab("fetch", "doc", RUNBOOK, data_dir=fixture_data)
    odd = kebab("fetch", "doc", "odd.txt", data_dir=odd_data)

    assert (done.status, done.out, done.err) == (0, (CORPUS / RUNBOOK).read_bytes(), b"")
    assert odd.out == "one\x1b[2Jtwo\r\n\tthree\x07\u202e\nfour".encode()


def test_a_terminal_gets_nothing_to_obey(odd_data: Path) -> None:
    shown = on_a_terminal(odd_data, "fetch", "doc", "odd.txt").replace("\r\n", "\n")

    assert shown == "one\\x1b[2Jtwo\n    three\\x07\\u202e\nfour\n"


def test_the_citation_of_a_hit_leads_to_its_lines(fixture_data: Path) -> None:
    hit = hit_of(fixture_data, "restore the wiki database")
    (result,) = kebab("fetch", "span", hit["citation"]["uri"], "--json", data_dir=fixture_data).lines
    plain = kebab("fetch", "span", hit["citation"]["uri"], data_dir=fixture_data)

    lines = (CORPUS / hit["doc_path"]).read_text(encoding="utf-8").splitlines(keepends=True)
    assert result["text"] == "".join(lines[hit["citation"]["start"] - 1 : hit["citation"]["end"]])
    assert (result["citation"], result["doc_id"], result["chunk_id"]) == (hit["citation"], hit["doc_id"], None)
    assert plain.out.decode() == result["text"]


def test_a_chunk_comes_with_its_neighbours(fixture_data: Path) -> None:
    hit = hit_of(fixture_data, "restore the wiki database")
    (result,) = kebab("fetch", "chunk", hit["chunk_id"], "--context", "1", "--json", data_dir=fixture_data).lines
    plain = kebab("fetch", "chunk", hit["chunk_id"], "--context", "1", data_dir=fixture_data)

    texts = [*(each["text"] for each in result["before"]), result["text"], *(each["text"] for each in result["after"])]
    assert len(texts) > 1
    assert plain.out.decode() == "\n".join(f"{text}\n" for text in texts)


def test_what_a_budget_cut_can_be_gone_on_with_as_it_says(fixture_data: Path) -> None:
    done = kebab("fetch", "doc", RUNBOOK, "--max-tokens", "400", data_dir=fixture_data)
    (told,) = re.findall(r"^\[truncated; go on with kebab (.+)\]$", done.err.decode().strip())
    rest = kebab(*shlex.split(told), data_dir=fixture_data)

    assert done.out + rest.out == (CORPUS / RUNBOOK).read_bytes()
    assert kebab("fetch", "doc", RUNBOOK, "--max-tokens", "400", "--json", data_dir=fixture_data).err == b""


def test_a_span_beyond_the_end_says_so(fixture_data: Path) -> None:
    done = kebab("fetch", "span", RUNBOOK, "900", "910", data_dir=fixture_data)

    assert (done.status, done.out, done.err) == (0, b"", b"no text there: en/backup-runbook.md has 72 lines\n")


def test_a_line_beyond_every_file_is_its_end(fixture_data: Path) -> None:
    last, huge = (kebab("fetch", "span", RUNBOOK, "70", end, data_dir=fixture_data) for end in ("72", "9" * 30))

    assert (last.status, last.out) == (huge.status, huge.out) == (0, last.out)
    assert last.out


@pytest.mark.parametrize(
    ("arguments", "code", "names"),
    [
        (["doc", "en/backup-runbok.md"], "doc_not_found", "en/backup-runbook.md"),
        (["chunk", "0" * 32], "chunk_not_found", "0" * 32),
        (["span", "en/backup-runbook.md#page=2"], "span_not_supported", "#L1"),
        (["span", RUNBOOK, "5"], "invalid_input", "end"),
        (["span", RUNBOOK, "5", "4"], "invalid_input", "end"),
        (["span", RUNBOOK, "0", "4"], "invalid_input", "start"),
        (["span", RUNBOOK, "1", "4_0"], "invalid_input", "end"),
        (["span", RUNBOOK], "invalid_input", "uri"),
        (["span", "--", RUNBOOK, "-3", "4"], "invalid_input", "start"),
        (["doc", RUNBOOK, "--max-tokens", "0"], "invalid_input", "max_tokens"),
        (["chunk", "0" * 32, "--context", "51"], "invalid_input", "context"),
        (["chunk", "0" * 32, "--context", "few"], "invalid_input", "context"),
        (["doc"], "invalid_input", "DOC"),
        (["page", "x"], "invalid_input", "page"),
        ([], "invalid_input", "chunk, doc or span"),
    ],
)
def test_a_failure_is_one_line_of_json(fixture_data: Path, arguments: list[str], code: str, names: str) -> None:
    done = kebab("--json", "fetch", *arguments, data_dir=fixture_data)

    assert (done.status, done.out, done.error["code"]) == (2, b"", code)
    assert names in str(done.error)


def test_without_an_index_there_is_nothing_to_read_and_nothing_is_made(tmp_path: Path) -> None:
    done = kebab("fetch", "doc", "a.md", "--json", data_dir=tmp_path / "data")

    assert (done.status, done.error["code"]) == (2, "not_indexed")
    assert not (tmp_path / "data").exists()


def test_reading_is_allowed_under_readonly(fixture_data: Path) -> None:
    assert kebab("--readonly", "fetch", "doc", RUNBOOK, data_dir=fixture_data).status == 0


@pytest.mark.parametrize("command", [["fetch"], ["fetch", "chunk"], ["fetch", "doc"], ["fetch", "span"]])
def test_help_has_an_example(command: list[str]) -> None:
    done = kebab(*command, "--help")

    assert done.status == 0
    assert f"kebab {' '.join(command)}" in done.out.decode().partition("Example")[2]
