"""What a batch may hold: one JSON value a line, short lines, at most 100 items. All else is the item's own matter."""

from dataclasses import dataclass
from typing import Final

from kebab_stream.errors import ConfigInvalidError
from kebab_stream.ndjson import JSON_SPACE, Json, Line, Malformed, Oversized, parse_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a batch may bring."""

    items: int = 100
    line_bytes: int = 1 << 20
    total_bytes: int = 128 << 20


LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One item: its own bytes, outer white space stripped, known to be JSON."""

    data: bytes

    @property
    def value(self) -> Json | Malformed:
        """What the bytes say. Decoded on demand: a hundred megabytes of text may be gigabytes of objects."""
        return parse_json(self.data)


def batch_line(line: Line | Oversized, limits: Limits) -> BatchLine:
    """Check one line.

    Raises:
        ConfigInvalidError: it is too long, or not one JSON value. The message names the line.
    """
    if isinstance(line, Oversized):
        raise _bad_line(line.number, f"longer than {limits.line_bytes:,} bytes", "send one short query a line")
    if isinstance(value := parse_json(line.data), Malformed):
        raise _bad_line(line.number, value.problem, 'each line is one JSON object such as {"query": "text"}')
    return BatchLine(line.data.strip(JSON_SPACE))


def too_many(limits: Limits) -> ConfigInvalidError:
    """The error for a batch with more items than allowed."""
    return ConfigInvalidError(
        f"queries: max {limits.items} items, got more than {limits.items}",
        f"send them in batches of at most {limits.items}",
        {"max_items": limits.items},
    )


def too_big(limits: Limits) -> ConfigInvalidError:
    """The error for a batch with more bytes than allowed, most of them blank."""
    return ConfigInvalidError(
        f"stdin: longer than {limits.total_bytes:,} bytes",
        "send less white space between the lines",
        {"max_bytes": limits.total_bytes},
    )


def _bad_line(number: int, problem: str, hint: str) -> ConfigInvalidError:
    return ConfigInvalidError(f"stdin line {number}: {problem}", hint, {"line": number})
