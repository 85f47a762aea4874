"""A set in the layout of BEIR: `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` or `qrels/test.tsv`."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab_stream.errors import InvalidInputError
from kebab_stream.evaluate.files import opened
from kebab_stream.evaluate.judged import JudgedSet, Question, bad_line
from kebab_stream.model import SearchQuery
from kebab_stream.ndjson import JSON_SPACE, Malformed, parse_json
from kebab_stream.single.validate import shown

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
JUDGEMENTS = ("qrels.tsv", "qrels/test.tsv")

_LAYOUT = f"a set is a folder with {CORPUS}, {QUERIES} and {' or '.join(JUDGEMENTS)}"
_BOM = b"\xef\xbb\xbf"
_GRADE = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One document of a corpus."""

    id: str
    title: str
    text: str
    end: int
    """Bytes of the file up to and with its line."""


def read_beir(folder: Path) -> JudgedSet:
    """The queries of a set and their judgements. The corpus is read by `entries`.

    Judgements are lines of three columns (query, document, grade) or of the four of TREC, with or without a head.

    Raises:
        InvalidInputError: a file is missing, a line cannot be understood, or nothing is judged.
        StorageError: a file cannot be read.
    """
    queries = _queries(folder / QUERIES)
    judgements = _judgements(_judgement_file(folder), queries)
    questions = tuple(
        Question(query_id, SearchQuery(query=text), judgements[query_id])
        for query_id, text in queries.items()
        if any(grade > 0 for grade in judgements.get(query_id, {}).values())
    )
    if not questions:
        raise InvalidInputError(
            f"{folder}: no query of {QUERIES} has a relevant document", "compare the ids in its files"
        )
    return JudgedSet(
        name=folder.resolve().name,
        path=folder,
        kind="beir",
        questions=questions,
        unjudged=len(queries) - len(questions),
        unknown_queries=len(judgements.keys() - queries.keys()),
    )


def entries(folder: Path) -> Iterator[Entry]:
    """The documents of a set, in the order of the file.

    Raises:
        InvalidInputError: a line is no document, an id is there twice, or there is none.
        StorageError: the file cannot be read.
    """
    path = folder / CORPUS
    seen: dict[str, int] = {}
    for number, end, value in _objects(path):
        entry_id = _new_id(path, number, value, seen)
        title = "" if value.get("title") is None else _text(path, number, value, "title")
        yield Entry(entry_id, title, _text(path, number, value, "text"), end)
    if not seen:
        raise InvalidInputError(f"{path}: no documents", _LAYOUT)


def _queries(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    seen: dict[str, int] = {}
    for number, _, value in _objects(path):
        query_id = _new_id(path, number, value, seen)
        found[query_id] = _text(path, number, value, "text")
        if not found[query_id].strip():
            raise bad_line(path, number, "the query is blank", "remove it, or give its text")
    if not found:
        raise InvalidInputError(f"{path}: no queries", _LAYOUT)
    return found


def _new_id(path: Path, number: int, value: dict[str, object], seen: dict[str, int]) -> str:
    """The id of an object, which none before it has."""
    given = value.get("_id")
    if type(given) is int:  # some sets number their documents
        given = str(given)
    if not isinstance(given, str) or not given:
        problem = '"_id" is missing' if given is None else f'"_id": expected a text, got {shown(given)}'
        raise bad_line(path, number, problem, 'each line has an "_id" and a "text"')
    if given in seen:
        raise bad_line(path, number, f'"_id" {shown(given)} is that of line {seen[given]}', "ids are unique")
    seen[given] = number
    return given


def _text(path: Path, number: int, value: dict[str, object], key: str) -> str:
    text = value.get(key)
    if not isinstance(text, str):
        problem = f'"{key}" is missing' if text is None else f'"{key}": expected a text, got {shown(text)}'
        raise bad_line(path, number, problem, 'each line has an "_id" and a "text"')
    return text


def _objects(path: Path) -> Iterator[tuple[int, int, dict[str, object]]]:
    """(line, bytes up to its end, object) of each line that is not blank."""
    end = 0
    for number, line in _lines(path):
        end += len(line)
        if not line.strip(JSON_SPACE):
            continue
        value = parse_json(line.strip(JSON_SPACE))
        if isinstance(value, Malformed):
            raise bad_line(path, number, value.problem, "each line is one JSON object")
        if not isinstance(value, dict):
            raise bad_line(path, number, f"expected a JSON object, got {shown(value)}")
        yield number, end, dict(value)


def _judgement_file(folder: Path) -> Path:
    for name in JUDGEMENTS:
        if (folder / name).is_file():
            return folder / name
    raise InvalidInputError(f"{folder}: no {' and no '.join(JUDGEMENTS)}", _LAYOUT)


def _judgements(path: Path, queries: Container[str]) -> dict[str, dict[str, int]]:
    """Grades by query and document. A first line about no query that has no number for a grade is a head."""
    found: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        fields = _fields(path, number, line)
        if not fields or (number == 1 and fields[0] not in queries and not _is_number(fields[-1])):
            continue
        if len(fields) not in (3, 4):
            raise bad_line(path, number, f"expected 3 or 4 columns, got {len(fields)}", "query, document, grade")
        query_id, document_id, grade = fields[0], fields[-2], fields[-1]
        if not _GRADE.fullmatch(grade):
            raise bad_line(path, number, f"grade: expected a whole number, got {shown(grade)}")
        grades = found.setdefault(query_id, {})
        if grades.setdefault(document_id, int(float(grade))) != int(float(grade)):
            raise bad_line(path, number, f"query {shown(query_id)} and document {shown(document_id)} have two grades")
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fields(path: Path, number: int, line: bytes) -> Sequence[str]:
    try:
        text = line.decode().strip("\r\n")
    except UnicodeDecodeError as error:
        raise bad_line(path, number, f"not valid UTF-8 at byte {error.start + 1}") from error
    if not text.strip():
        return ()
    return [field.strip() for field in text.split("\t")] if "\t" in text else text.split()


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their ends, numbered from 1."""
    with opened(path, _LAYOUT) as file:
        for number, line in enumerate(file, start=1):
            yield number, line.removeprefix(_BOM) if number == 1 else line
