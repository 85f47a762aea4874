"""Answers the lines of a batch on an open engine: the very bytes that a bulk run writes for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import orjson

from kebab_stream.bulk.execute import Searcher, answer, bulk_item
from kebab_stream.bulk.validate import LIMITS
from kebab_stream.errors import InvalidInputError, KebabError, RetrievalError
from kebab_stream.model import ErrorRecord, SearchResponse
from kebab_stream.ndjson import JSON_SPACE, Line, Malformed, parse_json
from kebab_stream.render import error_record, to_json
from kebab_stream.replay.lines import ECHO_CHARS, LongLine
from kebab_stream.replay.tally import Tally, bins

_HINT = 'each line is one JSON object such as {"query": "text"}'


@dataclass(frozen=True, slots=True)
class Answers:
    """The output lines of a batch, and what they count."""

    output: bytes
    tally: Tally


def answer_lines(searcher: Searcher, lines: Sequence[Line | LongLine]) -> Answers:
    """Answer line by line, in order. Never raises: whatever is wrong with a line is its answer."""
    output: list[bytes] = []
    times: list[float] = []
    bad = 0
    for line in lines:
        started = perf_counter()
        value = _value_of(line)
        if isinstance(value, KebabError):
            output.append(_failed(_shown(line), value))
            bad += 1
            continue
        outcome = answer(searcher, value)
        output.append(_item(_echo(line), outcome))
        if isinstance(outcome, SearchResponse):
            times.append((perf_counter() - started) * 1000)
    tally = Tally(succeeded=len(times), failed=len(lines) - len(times), bad_lines=bad, times=bins(times))
    return Answers(b"".join(output), tally)


def unanswered(lines: Sequence[Line | LongLine]) -> Answers:
    """The lines of a batch on which two workers died: each has that as its error."""
    error = RetrievalError(
        "the worker died twice while it answered this line or one near it",
        "answer these lines one by one to find the one that does it",
    )
    output = [
        _failed(_shown(line) if isinstance(_value_of(line), KebabError) else _echo(line), error) for line in lines
    ]
    bad = sum(isinstance(_value_of(line), KebabError) for line in lines)
    return Answers(b"".join(output), Tally(failed=len(lines), bad_lines=bad))


def _value_of(line: Line | LongLine) -> object:
    """What a line says, or the error that it is no JSON."""
    if isinstance(line, LongLine):
        return _bad_line(line.number, f"longer than {LIMITS.line_bytes:,} bytes", "send one short query a line")
    value = parse_json(line.data)
    return _bad_line(line.number, value.problem, _HINT) if isinstance(value, Malformed) else value


def _bad_line(number: int, problem: str, hint: str) -> InvalidInputError:
    return InvalidInputError(f"line {number}: {problem}", hint, {"line": number})


def _echo(line: Line | LongLine) -> orjson.Fragment:
    assert isinstance(line, Line)
    return orjson.Fragment(line.data.strip(JSON_SPACE))


def _shown(line: Line | LongLine) -> str:
    """The beginning of a line that is no JSON."""
    data = line.head if isinstance(line, LongLine) else line.data
    # A character has at most four bytes, and a byte that is none of any becomes one character.
    return data[: 4 * ECHO_CHARS].decode("utf-8", "replace")[:ECHO_CHARS]


def _failed(echo: object, error: KebabError) -> bytes:
    return _item(echo, error_record(error))


def _item(echo: object, outcome: SearchResponse | ErrorRecord) -> bytes:
    return to_json(bulk_item(echo, outcome)) + b"\n"
