"""A golden file: queries over an index of one's own, each with what should be found, as YAML.

- query: restore the wiki database
  expect: [en/backup-runbook.md, ko/backup-runbook.md]
- query: 김치찌개 육수
  expect: ["ko/kimchi-stew.md#재료"]
  lang: ko
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import yaml

from kebab_stream.errors import InvalidInputError
from kebab_stream.evaluate.files import opened
from kebab_stream.evaluate.judged import JudgedSet, Question, bad_line
from kebab_stream.single.filters import FILTERS
from kebab_stream.single.glob import glob_pattern
from kebab_stream.single.validate import shown
from kebab_stream.wire import parse_item

SUFFIXES = (".yaml", ".yml")

_SHAPE = "an item looks like `- {query: text, expect: [notes/a.md]}`"
_FILTER_KEYS = tuple(definition.name for definition in FILTERS)
_KEYS = ("id", "query", "expect", *_FILTER_KEYS)


def read_golden(path: Path) -> JudgedSet:
    """The queries of a golden file. What is expected is looked up in the index later.

    A query is known by its `id`, by default its text, which is what two runs are compared by.

    Raises:
        InvalidInputError: it is no YAML list of such items; the message names the line.
        StorageError: it cannot be read.
    """
    seen: dict[str, int] = {}
    questions = []
    for line, item in _items(path):
        question = _question(path, line, item)
        if question.id in seen:
            raise bad_line(
                path, line, f"the id or query is that of line {seen[question.id]}", "give one of them another id"
            )
        seen[question.id] = line
        questions.append(question)
    if not questions:
        raise InvalidInputError(f"{path}: no queries", _SHAPE, {"path": str(path)})
    return JudgedSet(name=path.stem, path=path, kind="golden", questions=tuple(questions))


def _items(path: Path) -> Iterator[tuple[int, object]]:
    """(line, value) of each item of the list that the file is."""
    with opened(path, _SHAPE) as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: not valid UTF-8 at byte {error.start + 1}") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise bad_line(path, line, f"not valid YAML: {error.problem}", _SHAPE) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # an impossible date, a character YAML forbids
        raise InvalidInputError(f"{path}: not valid YAML: {error}", _SHAPE, {"path": str(path)}) from error
    if values is None:
        return
    if not isinstance(node, yaml.SequenceNode):
        raise InvalidInputError(f"{path}: expected a list of queries", _SHAPE, {"path": str(path)})
    for item, value in zip(node.value, values, strict=True):
        _refuse_double_keys(path, item)
        yield item.start_mark.line + 1, value


def _refuse_double_keys(path: Path, item: yaml.Node) -> None:
    """YAML forbids them; the library takes the last without a word."""
    seen: set[str] = set()
    for key, _ in item.value if isinstance(item, yaml.MappingNode) else ():
        name = str(key.value)
        if name in seen:
            raise bad_line(path, key.start_mark.line + 1, f"the key {shown(name)} is there twice", _SHAPE)
        seen.add(name)


def _question(path: Path, line: int, item: object) -> Question:
    if not isinstance(item, dict):
        raise bad_line(path, line, f"expected a query with what to expect, got {shown(item)}", _SHAPE)
    unknown = [key for key in item if key not in _KEYS]
    if unknown:
        raise bad_line(path, line, f"unknown key {shown(unknown[0])}", f"accepted are {', '.join(_KEYS)}")
    try:
        query, _ = parse_item({key: _as_json(value) for key, value in item.items() if key not in ("id", "expect")})
        if query.filters.path_glob is not None:
            glob_pattern(query.filters.path_glob)  # a search would say it without the line
    except InvalidInputError as error:
        raise bad_line(path, line, error.message, error.hint) from error
    given = item.get("id", query.query)
    if not isinstance(given, str | int) or isinstance(given, bool):
        raise bad_line(path, line, f"id: expected a text, got {shown(given)}")
    return Question(str(given), query, _grades(path, line, item))


def _grades(path: Path, line: int, item: Mapping[str, Any]) -> dict[str, int]:
    """Several right answers are equally right."""
    expected = item.get("expect")
    targets = [expected] if isinstance(expected, str) else expected
    if not isinstance(targets, list) or not targets or not all(isinstance(one, str) and one for one in targets):
        problem = "expect: missing" if expected is None else f"expect: got {shown(expected)}"
        raise bad_line(path, line, f"{problem}, expected a list of paths, path#heading or chunk ids", _SHAPE)
    return dict.fromkeys(targets, 1)


def _as_json(value: object) -> object:
    """A plain date, which YAML makes of 2026-01-31, as the text that it was."""
    return value.isoformat() if isinstance(value, date | datetime) else value
