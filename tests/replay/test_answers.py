"""The output line of an input line."""

import json
from pathlib import Path

import pytest

from kebab_stream.bulk import JsonEmitter
from kebab_stream.bulk.execute import answer
from kebab_stream.bulk.validate import LIMITS, batch_line
from kebab_stream.engine import Engine
from kebab_stream.ndjson import Line
from kebab_stream.replay.answers import answer_lines, unanswered
from kebab_stream.replay.lines import LongLine
from kebab_stream.replay.tally import Tally
from tests.corpora import config_of
from tests.wire import checked

BAD = "\N{REPLACEMENT CHARACTER}"
LINES = [
    b'{"query":"coffee","k":2,"id":123456789012345678901234567890}',
    b'  {"query": "", "meta" : "\\u00e9"} \r',
    '{"query":"백업","mode":"lexical","k":1,"max_tokens":300}'.encode(),
    b"[1]",
    b'{"query":"coffee","tag":"x","cursor":"no cursor"}',
]


def test_a_line_is_what_a_bulk_run_writes(fixture_data: Path) -> None:
    bulk: list[bytes] = []
    emitter = JsonEmitter(bulk.append, bulk.append)
    with Engine.open(config_of(fixture_data)) as engine:
        lines = [Line(number, data) for number, data in enumerate(LINES, start=1)]
        for line in lines:
            emitter.item(line.number, batch_line(line, LIMITS), answer(engine, json.loads(line.data)))
        answers = answer_lines(engine, lines)

    assert answers.output == b"".join(bulk)
    assert (answers.tally.succeeded, answers.tally.failed, answers.tally.bad_lines) == (2, 3, 0)
    assert sum(answers.tally.times.values()) == 2


@pytest.mark.parametrize(
    ("line", "echo", "message"),
    [
        (Line(7, b"not json"), "not json", "line 7: not valid JSON: "),
        (
            Line(8, b'"\xff\xfe "'),
            '"\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} "',
            "line 8: not valid UTF-8 at byte 2",
        ),
        (Line(9, b"NaN"), "NaN", "line 9: not valid JSON: "),
        (Line(10, "커".encode() * 2000), "커" * 1024, "line 10: not valid JSON: "),
        (Line(11, b"\xff" * 2000), BAD * 1024, "line 11: not valid UTF-8 at byte 1"),
        (LongLine(12, b'{"query":"' + b"a" * 4086), '{"query":"' + "a" * 1014, "line 12: longer than 1,048,576 bytes"),
    ],
)
def test_a_line_that_is_no_json_is_an_error_with_its_number(
    fixture_data: Path, line: Line | LongLine, echo: str, message: str
) -> None:
    with Engine.open(config_of(fixture_data)) as engine:
        answers = answer_lines(engine, [line])

    item = checked(answers.output)
    assert (item["query"], item["response"], item["error"]["code"]) == (echo, None, "invalid_input")
    assert item["error"]["message"].startswith(message)
    assert item["error"]["details"] == {"line": line.number}
    assert answers.tally == Tally(failed=1, bad_lines=1)


def test_lines_that_nobody_could_answer_are_errors_with_their_echo() -> None:
    answers = unanswered([Line(1, b' {"query":"a"} '), Line(2, b"no")])

    first, second = (checked(line) for line in answers.output.splitlines())
    assert (first["query"], second["query"]) == ({"query": "a"}, "no")
    assert {item["error"]["code"] for item in (first, second)} == {"retrieval_error"}
    assert answers.tally == Tally(failed=2, bad_lines=1)
