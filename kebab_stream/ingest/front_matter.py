"""The fields that authors put before a Markdown text, between `---` (YAML) or `+++` (TOML) lines.

Written for files as they are found: a field that is broken is dropped alone, and what does not look like front
matter stays part of the text, so that nothing an author wrote is lost to the index.

Only the fields that mean something here are parsed, one at a time. YAML is read as *events*: nothing is constructed,
aliases are not followed, and words such as `no` or `2024-13-45` stay what they were.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import yaml

from kebab_stream.ingest.language import stated_language
from kebab_stream.model import TRUST_LEVELS, TrustLevel

_NAMES = {
    "title": ("title",),
    "tags": ("tags", "tag"),
    "aliases": ("aliases", "alias"),
    "lang": ("lang", "language"),
    "trust_level": ("trustlevel",),
    "source_type": ("sourcetype",),
    "created": (
        *("created", "createdat", "datecreated", "creationdate", "date"),
        *("publishdate", "published", "publishedat", "datepublished", "pubdate"),
    ),
    "modified": (
        *("modified", "modifiedat", "datemodified", "updated", "updatedat", "dateupdated"),
        *("lastmodified", "lastmodifiedat", "lastmod", "lastupdated", "lastupdatedat"),
    ),
}
"""How authors and their tools call each field, the first that says something first. Case, blanks, `-` and `_` in a
name do not matter."""

_KNOWN = {name for names in _NAMES.values() for name in names}
_SEPARATORS = re.compile(r"[\s_-]+")
_FIELD_CHARS = 4096
"""A field longer than this is dropped: the parsers are quadratic in nested brackets and dotted keys."""
_VALUE_CHARS = 300
_VALUES = 100
_NUMBER_BITS = 900
"""A longer number than this (271 digits) is dropped: Python refuses to write those of thousands of digits."""

_YAML_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_KEY = re.compile(r"""(?P<quote>["']?)(?P<key>[^\s:#\[\]{}&*!|>'"%@`,-][^:"']*)(?P=quote)\s*:(?=\s|$)""")
_BEFORE_KEYS = re.compile(r"#|\s*$")
_BETWEEN_KEYS = re.compile(r"#|\s|$|-(?:\s|$)|[\]},]")
"""Comments, and after the first key also continuations, list items and closing brackets."""
_TOML_KEY = re.compile(r"""[ \t]*(?P<quote>["']?)(?P<key>[\w.-]+)(?P=quote)[ \t]*=""")
_TOML_TABLE = re.compile(r"""[ \t]*\[{1,2}[\w."' -]+\]{1,2}[ \t]*(?:#|$)""")
_DATE_PARTS = ("year", "month", "day", "hour", "minute", "second")
_DATE = re.compile(
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"(?:(?:[Tt]|[ \t]+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d{1,9})?)?"
    r"[ \t]*(?P<zone>[Zz]|UTC|(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?)?)?",
    re.ASCII,
)

_Value = str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """Fields of a document that it states itself."""

    line_count: int = 0
    """Lines that the front matter takes at the beginning of the file, fences included; 0 if there is none."""
    title: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    lang: str | None = None
    trust_level: TrustLevel | None = None
    source_type: str | None = None
    created: str | None = None
    """RFC 3339, or a plain date."""
    modified: str | None = None


def front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a document. Never raises: what cannot be used is left out."""
    opening = lines[0].rstrip() if lines else ""
    if opening == "---":
        end = _yaml_end(lines)
        return _from_fields(_yaml_fields(lines[1:end]), end + 1) if end else FrontMatter()
    if opening == "+++":
        end = _toml_end(lines)
        return _from_fields(_toml_fields(lines[1:end]), end + 1) if end else FrontMatter()
    return FrontMatter()


def _from_fields(fields: Mapping[str, _Value], line_count: int) -> FrontMatter:
    trust_levels = (text.casefold() for text in _texts(fields, "trust_level"))
    languages = (stated_language(text.casefold()) for text in _texts(fields, "lang"))
    return FrontMatter(
        line_count=line_count,
        title=next(_texts(fields, "title"), None),
        tags=_many(fields, "tags", _tag_words),
        aliases=_many(fields, "aliases", _listed),
        lang=next(filter(None, languages), None),
        trust_level=next((level for text in trust_levels for level in TRUST_LEVELS if level == text), None),
        # As in the configuration: what filters by it takes a list with commas.
        source_type=next((label for label in _texts(fields, "source_type") if "," not in label), None),
        created=next(filter(None, map(normal_date, _texts(fields, "created"))), None),
        modified=next(filter(None, map(normal_date, _texts(fields, "modified"))), None),
    )


def _texts(fields: Mapping[str, _Value], field: str) -> Iterator[str]:
    for name in _NAMES[field]:
        value = fields.get(name)
        if isinstance(value, str) and _clean(value):
            yield _clean(value)


def _many(fields: Mapping[str, _Value], field: str, split: Callable[[str], list[str]]) -> tuple[str, ...]:
    values = (fields.get(name) or () for name in _NAMES[field])
    items = (item for value in values for item in (split(value) if isinstance(value, str) else value))
    cleaned = (_clean(item).lstrip("#") for item in items)
    return tuple(dict.fromkeys(item for item in cleaned if item))[:_VALUES]


def _listed(text: str) -> list[str]:
    return text.split(",")


def _tag_words(text: str) -> list[str]:
    """`a b, c` is two tags, `a b` as well: without a comma, blanks separate tags, as in Obsidian and Jekyll."""
    return _listed(text) if "," in text else text.split()


def _clean(value: str) -> str:
    return unicodedata.normalize("NFC", " ".join(value.split()))[:_VALUE_CHARS].rstrip()


def normal_date(text: str) -> str | None:
    """A date as RFC 3339, or as `YYYY-MM-DD` if it has no time or does not say of which zone; None if it is none.

    Takes what ISO 8601, YAML and TOML write, with `-`, `/` or `.` in the date; of years after 0. Fractions of
    seconds are dropped. Brackets around it, as of a wikilink, do not matter.
    """
    match = _DATE.fullmatch(text.strip("[] \t"))
    if not match:
        return None
    year, month, day, hour, minute, second = (int(number or 0) for number in match.group(*_DATE_PARTS))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=_zone(match))
    except ValueError:
        return None
    return moment.isoformat().replace("+00:00", "Z") if match["zone"] else moment.date().isoformat()


def _zone(match: re.Match[str]) -> timezone:
    offset = timedelta(hours=int(match["hours"] or 0), minutes=int(match["minutes"] or 0))
    return timezone(-offset if match["sign"] == "-" else offset)


# --- YAML ------------------------------------------------------------------------------------------------


def _yaml_end(lines: Sequence[str]) -> int:
    """Index of the closing fence; 0 if the file begins with a thematic break rather than with front matter."""
    allowed = _BEFORE_KEYS
    for index in range(1, len(lines)):
        if lines[index].rstrip() in ("---", "..."):
            return index
        if _KEY.match(lines[index]):
            allowed = _BETWEEN_KEYS
        elif not allowed.match(lines[index]):
            return 0
    return 0


def _yaml_fields(lines: Sequence[str]) -> dict[str, _Value]:
    fields: dict[str, _Value] = {}
    for name, (start, end, value_at) in _places(lines, _KEY).items():
        try:
            fields[name] = _yaml_value("\n".join(lines[start:end]))
        except (yaml.YAMLError, UnicodeError):
            fields[name] = _raw_value(lines[start][value_at:]) if name == "title" else None
    return fields


def _places(lines: Sequence[str], pattern: re.Pattern[str]) -> dict[str, tuple[int, int, int]]:
    """Where known fields are: first line, line after the last, and column of the value.

    Of several with one name, the last is meant, as in YAML.
    """
    keys = {index: match for index, line in enumerate(lines) if (match := pattern.match(line))}
    places = {
        _SEPARATORS.sub("", keys[start]["key"]).casefold(): (start, end, keys[start].end())
        for start, end in pairwise([*keys, len(lines)])
    }
    return {name: places[name] for name in sorted(places.keys() & _KNOWN)}


def _yaml_value(field: str) -> _Value:
    if len(field) > _FIELD_CHARS:
        return None
    events = list(yaml.parse(field, Loader=_YAML_LOADER))
    value = events[4] if len(events) > 4 else None  # after the starts of stream, document, mapping; and the key
    if isinstance(value, yaml.ScalarEvent):
        return _scalar(value)
    if isinstance(value, yaml.SequenceStartEvent):
        return tuple(_scalars(events[5:]))
    return None


def _scalars(events: Iterable[yaml.Event]) -> Iterable[str]:
    """The plain items of a sequence, up to its end; nested collections are passed over."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.ScalarEvent) and depth == 0:
            yield _scalar(event) or ""
        if depth < 0:
            return


def _scalar(event: yaml.ScalarEvent) -> str | None:
    value = str(event.value)
    is_null = event.implicit[0] and value in ("", "~", "null", "Null", "NULL")
    return None if is_null else value


def _raw_value(text: str) -> str:
    """What an author meant by `title: a: b`, which is no YAML."""
    return text.strip().strip("\"'")


# --- TOML ------------------------------------------------------------------------------------------------


def _toml_end(lines: Sequence[str]) -> int:
    """Index of the closing fence; 0 if what is between is no TOML."""
    is_toml = False
    for index in range(1, len(lines)):
        line = lines[index].rstrip()
        if line == "+++":
            return index
        is_toml = is_toml or bool(_TOML_KEY.match(line) or _TOML_TABLE.match(line))
        if not (is_toml or _BEFORE_KEYS.match(line)):
            return 0
    return 0


def _toml_fields(lines: Sequence[str]) -> dict[str, _Value]:
    """The fields before the first table."""
    tables = (index for index, line in enumerate(lines) if _TOML_TABLE.match(line))
    lines = lines[: next(tables, len(lines))]
    fields: dict[str, _Value] = {}
    for name, (start, end, _) in _places(lines, _TOML_KEY).items():
        field = "\n".join(lines[start:end])
        try:
            table = tomllib.loads(field) if len(field) <= _FIELD_CHARS else {}
        except (ValueError, RecursionError):  # no TOML, or a number longer than Python reads
            table = {}
        fields[name] = _toml_value(next(iter(table.values()), None))
    return fields


def _toml_value(value: object) -> _Value:
    if isinstance(value, list):
        return tuple(_toml_text(item) for item in value if not isinstance(item, list | dict))
    return None if value is None or isinstance(value, dict) else _toml_text(value)


def _toml_text(value: object) -> str:
    """What a value was written as, about; empty for a number too long to be one."""
    if isinstance(value, int) and value.bit_length() > _NUMBER_BITS:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
