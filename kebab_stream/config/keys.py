"""What a setting accepts: `Key`, derived from a dataclass field, and the conversion of given values.

A field's annotation gives the kind, its default the default, `about(...)` the range and the help text.
"""

import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal["bool", "int", "float", "choice", "path", "text", "texts"]

_KINDS: dict[object, Kind] = {
    bool: "bool",
    int: "int",
    float: "float",
    Path: "path",
    Path | None: "path",
    str: "text",
    str | None: "text",
    tuple[str, ...]: "texts",
}
_UNCLEAN = "[\x00-\x1f\x7f-\x9f\ud800-\udfff]"
_BOOLEANS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off", ""), False),
}


class Key(NamedTuple):
    """One setting.

    `default` is the value a config file would hold; "" stands for unset in paths and texts, None for a value that
    must be given. `low` and `high` are inclusive.
    """

    name: str
    """Dotted, as in `search.default_k`."""
    kind: Kind
    default: Any
    help: str
    low: float
    high: float
    choices: tuple[str, ...]

    @property
    def accepts(self) -> str:
        """What a value must be, as a phrase."""
        match self.kind:
            case "bool":
                return "true or false"
            case "int":
                return f"a whole number from {self.low} to {self.high}"
            case "float":
                return f"a number from {self.low} to {self.high}"
            case "choice":
                *most, last = (f'"{choice}"' for choice in self.choices)
                return f"{', '.join(most)} or {last}"
            case "path":
                return "a path"
            case "text":
                return "text"
            case "texts":
                return "an array of texts"


def about(text: str, *, low: float = 0, high: float = 0, default: object = None) -> dict[str, object]:
    """Metadata of a field that is a setting.

    Args:
        text: help, one or more sentences.
        low: smallest number accepted.
        high: largest number accepted.
        default: the default as a config file would write it, where the field cannot hold it.
    """
    return {"help": text, "low": low, "high": high, "default": default}


def keys_of(section: Any, prefix: str = "") -> Iterator[Key]:
    """The settings of a dataclass and of the dataclasses in it, in order; fields without `about` are left out."""
    for field in fields(section):
        name = f"{prefix}{field.name}"
        if is_dataclass(field.type):
            yield from keys_of(field.type, f"{name}.")
        elif field.metadata:
            yield _key(name, field)


def _key(name: str, field: Field[Any]) -> Key:
    kind = _KINDS.get(field.type, "choice")
    default = field.metadata["default"]
    if default is None and field.default is not MISSING:
        default = "" if field.default is None else field.default
    return Key(
        name=name,
        kind=kind,
        default=default,
        help=field.metadata["help"],
        low=field.metadata["low"],
        high=field.metadata["high"],
        choices=get_args(field.type) if kind == "choice" else (),
    )


def is_unset(key: Key, value: object) -> bool:
    """Whether this value counts as not given: the empty path and the empty text."""
    return value == "" and key.kind in ("path", "text")


def from_text(key: Key, text: str) -> object:
    """The value that a text from the environment or the command line stands for.

    A text that stands for nothing comes back as it is; `is_accepted` then refuses it.
    """
    is_plain = text.isascii() and "_" not in text  # Python would take "1_0" and digits of every script
    try:
        match key.kind:
            case "bool":
                return _BOOLEANS.get(text.strip().lower(), text)
            case "int" if is_plain:
                return int(text)
            case "float" if is_plain:
                return float(text)
    except ValueError:
        return text
    return text


def is_accepted(key: Key, value: Any) -> bool:
    """Whether a typed value is of the key's kind and in its range. A boolean is no number, 5.0 no whole number."""
    match key.kind:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return type(value) is int and key.low <= value <= key.high
        case "float":  # nan and the infinities are in no range
            return type(value) in (int, float) and key.low <= value <= key.high
        case "choice":
            return value in key.choices
        case "path" | "text":
            return isinstance(value, str) and is_clean(value)
        case "texts":
            return isinstance(value, (list, tuple)) and all(isinstance(item, str) and is_clean(item) for item in value)


def typed(key: Key, value: Any) -> Any:
    """An accepted value as the settings hold it; paths stay text."""
    if key.kind == "float":
        return float(value)
    return tuple(value) if key.kind == "texts" else value


def is_clean(text: str) -> bool:
    """Whether a text is free of control characters, and of bytes that are not UTF-8 (surrogates, from variables)."""
    return text.isprintable() or re.search(_UNCLEAN, text) is None


def shown(value: object) -> str:
    """A given value as messages quote it: one printable line of at most 80 characters."""
    match value:
        case bool():
            text = str(value).lower()
        case int() if value.bit_length() > 256:  # Python may refuse to write it out
            text = f"a number of {value.bit_length()} bits"
        case str():
            text = repr(value)
        case dict():
            text = "a table"
        case list():
            text = "an array"
        case _:
            text = printable(str(value))
    return text if len(text) <= 80 else f"{text[:79]}…"


def printable(text: str) -> str:
    """The text, or its Python literal where it holds what a terminal or UTF-8 cannot take."""
    return text if text.isprintable() else repr(text)
