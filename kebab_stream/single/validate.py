"""What a search accepts: limits, the words that state them, and the checks, for flags, bulk items and MCP alike."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from kebab_stream.errors import InvalidInputError
from kebab_stream.model import MODES, TRUST_LEVELS, Filters, Mode, SearchOpts, SearchQuery, TrustLevel
from kebab_stream.render import printable, to_json
from kebab_stream.single.filters import FILTERS


class Range(NamedTuple):
    """Whole numbers from `least` to `most`, both included; None means no bound."""

    least: int
    most: int | None


K: Final = Range(0, 1000)
PER_DOC: Final = Range(0, 1000)
SNIPPET_CHARS: Final = Range(1, 10_000)
MAX_TOKENS: Final = Range(1, None)
CONTEXT: Final = Range(0, 50)
LINE: Final = Range(1, None)
_RANGES: Final[Mapping[str, Range]] = {
    "k": K, "per_doc": PER_DOC, "snippet_chars": SNIPPET_CHARS, "max_tokens": MAX_TOKENS, "context": CONTEXT,
    "start": LINE, "end": LINE, "page": LINE,
}  # fmt: skip

ACCEPTED: Final[Mapping[str, str]] = {
    "query": "text that is not blank",
    "mode": "lexical, vector or hybrid",
    "k": f"a whole number from {K.least} to {K.most}, where 0 means the configured page size",
    "per_doc": f"a whole number from {PER_DOC.least} to {PER_DOC.most}; the most hits of one document, 0 for no limit",
    "rerank": "true or false; true orders the best hits anew by the model of models.rerank",
    "max_tokens": (
        f"a whole number from {MAX_TOKENS.least}; a token is an approximation: search.chars_per_token characters"
    ),
    "snippet_chars": f"a whole number from {SNIPPET_CHARS.least} to {SNIPPET_CHARS.most}",
    "cursor": "the next_cursor of the previous page",
    "trace": "true or false",
    **{definition.name: definition.accepts for definition in FILTERS},
}
"""Key of a search → what it accepts, as the end of the sentence "expected …"."""

FETCH_ACCEPTED: Final[Mapping[str, str]] = {
    "context": f"a whole number of chunks from {CONTEXT.least} to {CONTEXT.most}",
    "start": "a line of the file, a whole number from 1",
    "end": "a line of the file, a whole number from 1",
    "page": "a page of the file, a whole number from 1",
    "uri": "the citation.uri of a hit, such as notes/a.md#L3-L9 or paper.pdf#page=4",
    "doc": "a doc_id or doc_path",
    "chunk_id": "the chunk_id of a hit",
}
"""The same of what is asked of a fetch."""

_SHOWN_CHARS = 80

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}:(?P<second>[0-9]{2})(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_WHOLE = re.compile(r"-?[0-9]{1,20}")
_INSTANT = re.compile(rf"{_DATE}(?:[Tt ]{_TIME})?")


def search(query: SearchQuery, opts: SearchOpts) -> SearchQuery:
    """The query, its filters' lists made tuples, a `per_doc` of 0 made None. Whoever asks, and however, passes here.

    Raises:
        InvalidInputError: a value is of the wrong type or out of range; malformed patterns show only later.
    """
    query_text(query.query)
    mode(query.mode)
    numbers = {
        "k": query.k, "per_doc": query.per_doc, "max_tokens": opts.max_tokens, "snippet_chars": opts.snippet_chars,
    }  # fmt: skip
    for key, number in numbers.items():
        if number is not None:
            whole_number(key, number)
    if not isinstance(query.rerank, bool):
        raise refused("rerank", query.rerank)
    if not isinstance(opts.cursor, str | None):
        raise refused("cursor", opts.cursor)
    return replace(query, per_doc=query.per_doc or None, filters=filters(query.filters))


def filters(given: Filters) -> Filters:
    """The filters, their lists made tuples.

    Raises:
        InvalidInputError: a value is of the wrong type; malformed patterns show only later.
    """
    texts: dict[str, Any] = {}
    for definition in FILTERS:
        value = getattr(given, definition.name)
        if definition.values != "one":
            texts[definition.name] = _texts(definition.name, value)
        elif value is not None:
            _one_value(definition.name, value)
    return replace(given, **texts)


def _one_value(key: str, value: object) -> None:
    if key == "ingested_after":
        if not isinstance(value, datetime) or value.utcoffset() is None:
            raise refused(key, value, "a datetime with a time zone")
    elif not isinstance(value, str):
        raise refused(key, value)
    elif key == "trust_min":
        trust_level(value)


def _texts(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, tuple | list) or not all(isinstance(text, str) for text in value):
        raise refused(key, value, "a tuple or list of texts")  # one text would be taken for a list of its letters
    return tuple(value)


def query_text(text: str) -> str:
    """The query as given.

    Raises:
        InvalidInputError: it is blank, no text at all, or no valid Unicode.
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError(
            "query: expected text that is not blank, got " + shown(text),
            "give the words to look for",
            {"key": "query", "value": shown(text), "accepted": ACCEPTED["query"]},
        )
    return unicode_text("query", text)


def unicode_text(key: str, text: str) -> str:
    """The text as given.

    Raises:
        InvalidInputError: it has lone surrogates, as arguments that are not UTF-8 have.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise refused(key, text) from error
    return text


def whole_option(key: str, text: str) -> int:
    """The whole number that an option gives as text. Raises InvalidInputError: it is none. Its range is not checked."""
    if not _WHOLE.fullmatch(text):
        raise refused(key, text)
    return int(text)


def whole_number(key: str, number: int) -> int:
    """The value of `k`, `max_tokens`, `context` or another key that has a range.

    Raises:
        InvalidInputError: it is out of range, or no whole number.
    """
    least, most = _RANGES[key]
    if type(number) is not int or number < least or (most is not None and number > most):
        raise refused(key, number)
    return number


def mode(name: str) -> Mode:
    """The mode of this name. Raises InvalidInputError if there is none."""
    for known in MODES:
        if name == known:
            return known
    raise refused("mode", name)


def trust_level(name: str) -> TrustLevel:
    """The trust level of this name. Raises InvalidInputError if there is none."""
    for known in TRUST_LEVELS:
        if name == known:
            return known
    raise refused("trust_min", name)


def instant(text: str) -> datetime:
    """The moment in UTC that an RFC 3339 date-time with an offset, or a plain date (00:00 UTC), names.

    Fractions count to the microsecond; a leap second is the second after it.

    Raises:
        InvalidInputError: it is neither; also a date-time without an offset, whose moment would be a guess.
    """
    match = _INSTANT.fullmatch(text)
    try:
        moment = _moment(text, match) if match else None
    except (ValueError, OverflowError):  # no such day or hour; beyond the years 1 to 9999
        moment = None
    if moment is None:
        raise refused("ingested_after", text)
    return moment


def _moment(text: str, match: re.Match[str]) -> datetime:
    if not match["second"]:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    leap = match["second"] == "60"
    if leap:
        text = f"{text[: match.start('second')]}59{text[match.end('second') :]}"
    return (datetime.fromisoformat(text.upper()) + timedelta(seconds=leap)).astimezone(UTC)


def refused(key: str, value: object, accepted: str | None = None) -> InvalidInputError:
    """The error for a value that `key` does not accept; its `details` name the key, the value and what is accepted."""
    accepted = accepted or ACCEPTED.get(key) or FETCH_ACCEPTED[key]
    seen = shown(value)
    return InvalidInputError(
        f"{key}: expected {accepted}, got {seen}", None, {"key": key, "value": seen, "accepted": accepted}
    )


def shown(value: object) -> str:
    """A value as short JSON text on one line, safe on a terminal."""
    try:
        text = str(value) if type(value) is int else to_json(value).decode()
    except (TypeError, ValueError):  # too deep or too long, a lone surrogate, no JSON value at all
        text = printable(value) if isinstance(value, str) else json_type(value)
    return shortened(text)


def shortened(text: str) -> str:
    """A text on one line, at most 80 characters, safe on a terminal."""
    line = printable(text[: _SHOWN_CHARS + 1])
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"


def json_type(value: object) -> str:
    """What JSON calls a value of this type."""
    for kind, name in _JSON_TYPES.items():
        if isinstance(value, kind):
            return name
    return type(value).__name__


# bool before int: in Python every bool is an int.
_JSON_TYPES: Final[Mapping[type, str]] = {
    dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number", type(None): "null",
}  # fmt: skip
