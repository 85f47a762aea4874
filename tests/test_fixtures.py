"""The fixtures fit together: a corpus, queries over it, and the documents that answer them.

`fixtures/answers.json` maps a query's id to documents, each of which is the document of one of the first three hits.
"""

import json
from pathlib import Path

import pytest

from tests.paths import FIXTURES

CORPUS = FIXTURES / "corpus"
PARALLEL = (
    "backup-runbook.md",
    "coffee-brewing.md",
    "hybrid-search.md",
    "jeju-trip.md",
    "kimchi-stew.md",
    "meeting-2026-03-12.md",
    "router-manual.md",
)


def queries() -> list[dict[str, object]]:
    """Parse each line of the query file."""
    return [json.loads(line) for line in (FIXTURES / "queries.ndjson").read_text("utf-8").splitlines()]


def answers() -> dict[str, list[str]]:
    """Expected documents by query id."""
    found: dict[str, list[str]] = json.loads((FIXTURES / "answers.json").read_text("utf-8"))
    return found


def corpus_paths() -> list[str]:
    """Paths of the documents, relative to the corpus, POSIX; the ignored folder is left out."""
    found = (path.relative_to(CORPUS) for path in CORPUS.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if path.parts[0] not in (".kebabignore", "drafts"))


def fenced(path: Path) -> list[str]:
    """Lines inside code fences without their trailing comments: the part that no translation changes."""
    inside, lines = False, []
    for line in path.read_text("utf-8").splitlines():
        if line.strip().startswith("```"):
            inside = not inside
        elif inside:
            lines.append(line.split("#")[0].strip())
    return lines


def test_each_query_is_an_object_with_an_id_of_its_own_and_text() -> None:
    items = queries()

    assert len({item["id"] for item in items}) == len(items)
    assert all(str(item["query"]).strip() for item in items)


def test_the_queries_fit_into_one_bulk_run() -> None:
    assert 0 < len(queries()) <= 100


def test_every_mode_and_both_languages_are_asked() -> None:
    items = queries()
    korean = [item for item in items if any("가" <= letter <= "힣" for letter in str(item["query"]))]

    assert {item.get("mode") for item in items} == {None, "lexical", "vector", "hybrid"}
    assert len(items) / 4 < len(korean) < len(items) * 3 / 4


def test_each_answer_belongs_to_a_query_and_names_one_to_three_documents_of_the_corpus() -> None:
    expected = answers()
    known = set(corpus_paths())

    assert set(expected) <= {item["id"] for item in queries()}
    assert all(1 <= len(paths) <= 3 and set(paths) <= known for paths in expected.values())


@pytest.mark.parametrize("name", PARALLEL)
def test_parallel_documents_have_the_same_sections_and_commands(name: str) -> None:
    english, korean = CORPUS / "en" / name, CORPUS / "ko" / name
    headings = [sum(line.startswith("#") for line in p.read_text("utf-8").splitlines()) for p in (english, korean)]

    assert headings[0] == headings[1]
    assert fenced(english) == fenced(korean)


def test_each_fixture_is_utf8_without_carriage_returns_and_ends_with_one_newline() -> None:
    for path in (p for p in FIXTURES.rglob("*") if p.is_file()):
        text = path.read_bytes().decode("utf-8")

        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        assert "\r" not in text, path


def test_one_section_is_longer_than_the_longest_chunk() -> None:
    text = (CORPUS / "en" / "postmortem-certificate.md").read_text("utf-8")

    assert max(len(section) for section in text.split("\n## ")) > 4_000


def test_the_ignored_word_stands_in_no_document() -> None:
    assert "quokkaberry" in (CORPUS / "drafts" / "unsent-letter.md").read_text("utf-8")
    assert all("quokkaberry" not in (CORPUS / path).read_text("utf-8") for path in corpus_paths())
