"""The errors about settings: each names the key, the value, where it was given, and what is accepted."""

from collections.abc import Iterable
from typing import NamedTuple

from kebab_stream.config.keys import Key, printable, shown
from kebab_stream.errors import ConfigInvalidError

DEFAULTS = "the defaults"
"""Origin of what nobody gave."""


class Place(NamedTuple):
    """A setting and where its value was given: a file, an environment variable, the command line, the defaults."""

    name: str
    origin: str


def bad_value(place: Place, value: object, accepted: str, choices: Iterable[str] = ()) -> ConfigInvalidError:
    """The value is not what the key accepts."""
    hint = f"set {place.name} too" if place.origin == DEFAULTS else f"correct or remove it in {place.origin}"
    if choices and isinstance(value, str):
        hint = f'the closest accepted value is "{_closest(value, choices)}"'
    return ConfigInvalidError(
        f"{printable(place.name)} = {shown(value)} ({place.origin}): expected {accepted}",
        hint,
        {"key": printable(place.name), "value": shown(value), "origin": place.origin, "accepted": accepted},
    )


def refused(place: Place, key: Key, value: object) -> ConfigInvalidError:
    """The value is not of the key's kind or range."""
    is_unclean_text = key.kind in ("path", "text") and isinstance(value, str)
    accepted = f"{key.accepts} in UTF-8 without control characters" if is_unclean_text else key.accepts
    return bad_value(place, value, accepted, key.choices)


def missing_value(place: Place) -> ConfigInvalidError:
    """A key without a default is not given."""
    return ConfigInvalidError(
        f"{place.name} is missing ({place.origin})",
        f"give it in {place.origin}",
        {"key": place.name, "origin": place.origin},
    )


def unknown_key(place: Place, value: object, known: Iterable[str]) -> ConfigInvalidError:
    """No setting has this name."""
    name, closest = printable(place.name), _closest(place.name, known)
    return ConfigInvalidError(
        f"unknown key {name} = {shown(value)} ({place.origin})",
        f"the closest known key is {closest}",
        {"key": name, "value": shown(value), "origin": place.origin, "closest": closest},
    )


def unknown_variable(name: str, known: Iterable[str]) -> ConfigInvalidError:
    """No setting has this environment variable. Its value is not shown: it may be some other program's secret."""
    name, closest = printable(name), _closest(name, known)
    return ConfigInvalidError(
        f"unknown environment variable {name}: names that begin with KEBAB_ are settings",
        f"the closest known one is {closest}; otherwise unset {name}",
        {"key": name, "origin": "environment", "closest": closest},
    )


def _closest(name: str, known: Iterable[str]) -> str:
    import difflib  # 2 ms that only a failing run spends

    return difflib.get_close_matches(name[:100], known, n=1, cutoff=0)[0]
