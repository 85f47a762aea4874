"""The schemas that `tools/list` publishes. Each byte is paid in every session of an agent, so they are short.

What goes in: names, types, limits. What comes out: the keys of the object, of one inside it only the id of its schema.
Both are derived: from the tables and the model that check arguments, and from the wire objects.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Final, NewType, Union, get_args, get_origin, get_type_hints

from kebab_stream.mcp_server.arguments import Argument
from kebab_stream.wire import SearchItem

Schema = dict[str, Any]

ERROR: Final = "error.v1"
_TYPES: Final[Mapping[object, str]] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_TEXTS: Final[Schema] = {"type": "array", "items": {"type": "string"}}
"""A single text is accepted as well. Saying so makes some clients send an array as the text `["a"]`."""
_SAID_BY_TYPE: Final = re.compile(
    "text(?: or an array of texts)?(?:, |$)|a whole number from [0-9]+(?: to [0-9]+)?(?:, where |; |$)"
    "|true or false(?:; |$)"
)
_LEFT_OUT: Final = {"tags", "id", "meta"}
"""Of a search: another name, and what only a batch has a use for."""


def input_schema(arguments: Sequence[Argument]) -> Schema:
    """What a tool accepts."""
    return _object(
        {argument.name: _argument(argument) for argument in arguments},
        [argument.name for argument in arguments if argument.required],
    )


def search_schema() -> Schema:
    """What the tool `search` accepts: the keys of an item, without what JSON Schema says in more words than needed."""
    whole = SearchItem.model_json_schema()
    properties = {name: _property(schema) for name, schema in whole["properties"].items() if name not in _LEFT_OUT}
    return _object(properties, whole["required"])


def output_schema(kind: type) -> Schema:
    """The keys of what a tool returns.

    An error has them too where their names are the same, and no key but `schema_version` is required: some clients
    hold the answer of a failed call against this schema.
    """
    hints = get_type_hints(kind)
    (version,) = get_args(hints.pop("schema_version"))
    shapes = {field.name: _shape(hints[field.name]) for field in fields(kind) if field.name in hints}
    return _object({"schema_version": {"enum": [version, ERROR]}, **shapes}, ["schema_version"])


def _object(properties: Mapping[str, Schema], required: Sequence[str]) -> Schema:
    schema = {"type": "object", "properties": dict(properties)}
    return {**schema, "required": list(required)} if required else schema


def _argument(argument: Argument) -> Schema:
    described = {"description": argument.accepts}
    if argument.choices:
        return {"enum": list(argument.choices)}
    match argument.kind:
        case "text":
            return {"type": "string", **described}
        case "texts":
            return {**_TEXTS, **described}
        case "items":
            return {"type": "array", "items": {"type": "object"}, **described}
        case "number":
            return {"type": "integer", **_limits(argument.limits.least, argument.limits.most), **described}


def _property(schema: Schema) -> Schema:
    """A key of a search: null is left out, as it is the same as absent, and what the type says is not said again."""
    kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
    if len(kinds) > 1:
        return _described(_TEXTS, schema)
    (kind,) = kinds
    if "enum" in kind:
        return {"enum": kind["enum"]}
    if kind["type"] == "integer":
        return _described({"type": "integer", **_limits(kind["minimum"], kind.get("maximum"))}, schema)
    return _described({"type": kind["type"]}, schema)


def _described(shape: Schema, schema: Schema) -> Schema:
    text = _SAID_BY_TYPE.sub("", schema["description"])
    return {**shape, "description": text} if text else shape


def _limits(least: int, most: int | None) -> Schema:
    return {"minimum": least} if most is None else {"minimum": least, "maximum": most}


def _shape(hint: Any) -> Schema:
    """The type of a value; of objects the schema; nothing of what may be null or is one of a few texts."""
    origin = get_origin(hint)
    kinds = [kind for kind in get_args(hint) if kind is not NoneType] if origin in (Union, UnionType) else [hint]
    if is_dataclass(kinds[0]):
        return {"type": ["object", "null"] if NoneType in get_args(hint) else "object", **_nested(kinds[0])}
    if origin is tuple:
        items = _nested(get_args(hint)[0])
        return {"type": "array", "items": items} if items else {"type": "array"}
    if isinstance(hint, NewType):
        return _shape(hint.__supertype__)
    return {"type": _TYPES[hint]} if hint in _TYPES else {"type": "object"} if origin is dict else {}


def _nested(kind: Any) -> Schema:
    """The id of the schema of an object inside another, if it has one."""
    versions = [field.default for field in fields(kind) if field.name == "schema_version"] if is_dataclass(kind) else []
    return {"title": versions[0]} if versions else {}
