"""The fields that authors put before a Markdown text, between `---` (YAML) or `+++` (TOML) lines.

Written for files as they are found: a field that is broken is dropped alone, and what does not look like front
matter stays part of the text, so that nothing an author wrote is lost to the index.

Only the six fields that mean something here are parsed, one at a time, from YAML *events*: nothing is constructed,
aliases are not followed, and words such as `no` or `2024-13-45` stay what they were.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import yaml

from kebab_stream.model import TRUST_LEVELS, TrustLevel

_FIELDS = {"title", "tags", "aliases", "lang", "trust_level", "source_type"}
_FIELD_CHARS = 4096
"""A field longer than this is dropped: the pure Python YAML parser is quadratic in nested brackets."""
_VALUE_CHARS = 300
_VALUES = 100

_YAML_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_KEY = re.compile(r"""(?P<quote>["']?)(?P<key>[^\s:#\[\]{}&*!|>'"%@`,-][^:"']*)(?P=quote)\s*:(?=\s|$)""")
_BEFORE_KEYS = re.compile(r"#|\s*$")
_BETWEEN_KEYS = re.compile(r"#|\s|$|-(?:\s|$)|[\]},]")
"""Comments, and after the first key also continuations, list items and closing brackets."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|[-_])")

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


def front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a document. Never raises: what cannot be used is left out."""
    opening = lines[0].rstrip() if lines else ""
    if opening == "---":
        end = _yaml_end(lines)
        return _from_fields(_yaml_fields(lines[1:end]), end + 1) if end else FrontMatter()
    if opening == "+++":
        return _toml_front_matter(lines)
    return FrontMatter()


def _from_fields(fields: Mapping[str, _Value], line_count: int) -> FrontMatter:
    lang = _LANGUAGE.match(_one(fields, "lang").casefold())
    trust_level = _one(fields, "trust_level").casefold()
    return FrontMatter(
        line_count=line_count,
        title=_one(fields, "title") or None,
        tags=_many(fields, "tags"),
        aliases=_many(fields, "aliases"),
        lang=lang.group() if lang else None,
        trust_level=next((level for level in TRUST_LEVELS if level == trust_level), None),
        source_type=_one(fields, "source_type") or None,
    )


def _one(fields: Mapping[str, _Value], name: str) -> str:
    value = fields.get(name)
    return _clean(value) if isinstance(value, str) else ""


def _many(fields: Mapping[str, _Value], name: str) -> tuple[str, ...]:
    value = fields.get(name) or ()
    values = value.split(",") if isinstance(value, str) else value
    cleaned = (_clean(item).lstrip("#") for item in values)
    return tuple(dict.fromkeys(item for item in cleaned if item))[:_VALUES]


def _clean(value: str) -> str:
    return unicodedata.normalize("NFC", " ".join(value.split()))[:_VALUE_CHARS]


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
    """Each field once: of several with one name, the last is meant, as in YAML."""
    fields: dict[str, _Value] = {}
    keys = {index: match for index, line in enumerate(lines) if (match := _KEY.match(line))}
    places = {keys[start]["key"].rstrip().casefold(): (start, end) for start, end in pairwise([*keys, len(lines)])}
    for name in places.keys() & _FIELDS:
        start, end = places[name]
        try:
            fields[name] = _yaml_value("\n".join(lines[start:end]))
        except (yaml.YAMLError, UnicodeError):
            fields[name] = _raw_value(lines[start][keys[start].end() :]) if name == "title" else None
    return fields


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


def _toml_front_matter(lines: Sequence[str]) -> FrontMatter:
    end = next((index for index in range(1, len(lines)) if lines[index].rstrip() == "+++"), 0)
    try:
        table = tomllib.loads("\n".join(lines[1:end])) if end else None
    except (tomllib.TOMLDecodeError, RecursionError):
        table = None
    if table is None:
        return FrontMatter()
    return _from_fields({name.casefold(): _toml_value(value) for name, value in table.items()}, end + 1)


def _toml_value(value: object) -> _Value:
    if isinstance(value, list):
        return tuple(str(item) for item in value if not isinstance(item, list | dict))
    return None if isinstance(value, dict) else str(value)
