"""Reading golden files."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kebab_stream.errors import InvalidInputError
from kebab_stream.evaluate import read_report, read_set
from kebab_stream.evaluate.golden import read_golden
from kebab_stream.model import Filters


def golden(folder: Path, text: str) -> Path:
    path = folder / "golden.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_query_has_several_right_answers_and_filters(tmp_path: Path) -> None:
    judged = read_golden(
        golden(
            tmp_path,
            "# what must be found\n"
            "- query: backup\n  expect: [en/backup.md, 'ko/backup.md#복구']\n"
            "- {id: 7, query: 백업, expect: ko/backup.md, lang: ko, tag: [ops, db], ingested_after: 2026-01-31}\n",
        )
    )

    first, second = judged.questions
    assert (judged.name, judged.kind) == ("golden", "golden")
    assert (first.id, first.grades) == ("backup", {"en/backup.md": 1, "ko/backup.md#복구": 1})
    assert (second.id, second.query.query, second.grades) == ("7", "백업", {"ko/backup.md": 1})
    assert second.query.filters == Filters(
        lang="ko", tag=("ops", "db"), ingested_after=datetime(2026, 1, 31, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ": no queries"),
        ("[]", ": no queries"),
        ("query: a\n", ": expected a list of queries"),
        ("- query: a\n  expect: [x\n", ":3: not valid YAML: "),
        ("- a\n", ':1: expected a query with what to expect, got "a"'),
        ("- {query: a, expect: [x]}\n\n- query: b\n", ":3: expect: missing"),
        ("- {query: a, expect: []}\n", ":1: expect: got [], expected a list of paths"),
        ("- {query: a, expect: [1]}\n", ":1: expect: got [1], expected a list of paths"),
        ("- {query: a, expects: [x]}\n", ':1: unknown key "expects"'),
        ("- {query: a, expect: [x], mode: lexical}\n", ':1: unknown key "mode"'),
        ("- {query: ' ', expect: [x]}\n", ":1: query: expected text that is not blank"),
        ("- {query: 12, expect: [x]}\n", ":1: query: expected text that is not blank, got 12"),
        ("- {expect: [x]}\n", ":1: query: missing"),
        ("- query: a\n  expect: [x]\n  query: b\n", ':3: the key "query" is there twice'),
        ("- {query: a, expect: [x]}\n- {query: b, expect: [x], path_glob: 'a['}\n", ":2: path_glob 'a['"),
        ("- {query: a, expect: [x], lang: [ko]}\n", ":1: lang: expected text"),
        ("- {query: a, expect: [x], id: [1]}\n", ":1: id: expected a text"),
        ("- {query: a, expect: [x]}\n- {query: a, expect: [y]}\n", ":2: the id or query is that of line 1"),
        ("- {query: a, expect: [x], ingested_after: 2026-13-77}\n", ": not valid YAML: "),
        ("- !!python/object/apply:os.getcwd []\n", ":1: not valid YAML: could not determine a constructor"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = golden(tmp_path, text)
    with pytest.raises(InvalidInputError) as caught:
        read_golden(path)

    assert str(caught.value).removeprefix(str(path)).startswith(told)


@pytest.mark.parametrize("read", [read_golden, read_set, read_report])
def test_a_pipe_is_not_waited_for(tmp_path: Path, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "golden.yaml")

    with pytest.raises(InvalidInputError, match=r"golden\.yaml is no "):
        read(tmp_path / "golden.yaml")


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = golden(tmp_path, "")
    path.write_bytes(b"- {query: a, expect: [\xff]}\n")

    with pytest.raises(InvalidInputError, match="not valid UTF-8 at byte 23"):
        read_golden(path)
