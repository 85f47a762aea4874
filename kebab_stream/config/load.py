"""Merge the three layers of settings, then convert and check what came out.

A later layer replaces whole values, and only the merged ones are checked: no layer can bring back what was refused
in another, and a flag can stand in for a bad line of the file. Unknown names are refused wherever they are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kebab_stream.config.check import check
from kebab_stream.config.file import read_toml
from kebab_stream.config.keys import Key, from_text, is_accepted, is_clean, is_unset, printable, typed
from kebab_stream.config.places import default_config_path, resolved
from kebab_stream.config.refusals import (
    DEFAULTS,
    Place,
    bad_value,
    missing_value,
    refused,
    unknown_key,
    unknown_variable,
)
from kebab_stream.config.renames import current_name
from kebab_stream.config.settings import ENVIRONMENT, KEYS, SECTIONS, SOURCE_KEYS, SOURCES, Config, Source
from kebab_stream.errors import ConfigNotFoundError

if TYPE_CHECKING:  # a search does without
    from kebab_stream.reports.housekeeping import Origin


class Given(NamedTuple):
    """A value, what its relative paths are relative to, and whether it is a text to be parsed."""

    value: Any
    origin: str
    base: Path
    is_text: bool = False


def load_config(
    path: Path | None,
    *,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] | None = None,
    cwd: Path | None = None,
) -> Config:
    """Settings from the file, the environment and the overrides, in increasing weight.

    A key of the file may have the name it had before (see `migrate.py`).

    Args:
        path: the file given by --config; None means the default place, where a file may be absent.
        environ: environment variables; every `KEBAB_*` among them must be one of ours.
        overrides: values from flags by dotted name; None means not given, a text may stand for a number.
        cwd: what relative paths outside the file are relative to; None means the current folder.

    Raises:
        ConfigNotFoundError: `path` does not exist.
        ConfigInvalidError: the file cannot be read or is no TOML, a key is unknown, or a value is not accepted.
    """
    return load_with_origins(path, environ=environ, overrides=overrides, cwd=cwd)[0]


def load_with_origins(
    path: Path | None,
    *,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] | None = None,
    cwd: Path | None = None,
) -> tuple[Config, "dict[str, Origin]"]:
    """The settings as `load_config` gives them, and which layer each of them is from, by dotted name."""
    cwd = cwd or Path()
    file = default_config_path(environ) if path is None else cwd / path
    document = read_toml(file)
    if document is None and path is not None:
        raise ConfigNotFoundError(
            f"config file {printable(str(path))} does not exist",
            "give an existing file to --config, or leave it out",
            {"path": printable(str(path))},
        )
    file = file.absolute()
    given = {name: Given(key.default, DEFAULTS, cwd) for name, key in KEYS.items()}
    origins: dict[str, Origin] = dict.fromkeys((*KEYS, SOURCES), "default")
    layers: dict[Origin, Iterator[tuple[str, Given]]] = {
        "file": _from_file(document or {}, "", file),
        "environment": _from_environment(environ, cwd),
        "flag": _from_overrides(overrides or {}, cwd),
    }
    for origin, layer in layers.items():
        new = {name: one for name, one in layer if name not in KEYS or not is_unset(KEYS[name], one.value)}
        given |= new
        origins |= dict.fromkeys(new, origin)

    values = {name: _value(key, Place(name, given[name].origin), given[name], environ) for name, key in KEYS.items()}
    values[SOURCES] = _sources(given[SOURCES], environ) if SOURCES in given else ()
    values["path"] = None if document is None else file
    config: Config = _built(Config, "", values)
    check(config, {name: Place(name, one.origin) for name, one in given.items()})
    return config, origins


def _from_file(table: Mapping[str, object], prefix: str, file: Path) -> Iterator[tuple[str, Given]]:
    """The leaves of a TOML document by dotted name."""
    origin = printable(str(file))
    for key, value in table.items():
        name = current_name(prefix + key, table)
        if "." in key:  # a quoted "search.default_k" is one key, not two
            raise unknown_key(Place(f'{prefix}"{key}"', origin), value, KEYS)
        if name in KEYS or name == SOURCES:
            yield name, Given(value, origin, file.parent)
        elif name not in SECTIONS:
            raise unknown_key(Place(name, origin), value, (*KEYS, *SECTIONS, SOURCES))
        elif isinstance(value, dict):
            yield from _from_file(value, f"{name}.", file)
        else:
            raise bad_value(Place(name, origin), value, f"a table, [{name}]")


def _from_environment(environ: Mapping[str, str], cwd: Path) -> Iterator[tuple[str, Given]]:
    for variable in sorted(environ):
        if not variable.startswith("KEBAB_"):
            continue
        if variable not in ENVIRONMENT:
            raise unknown_variable(variable, ENVIRONMENT)
        yield ENVIRONMENT[variable], Given(environ[variable], variable, cwd, is_text=True)


def _from_overrides(overrides: Mapping[str, object], cwd: Path) -> Iterator[tuple[str, Given]]:
    origin = "the command line"
    for name, value in overrides.items():
        if name not in KEYS:
            raise unknown_key(Place(name, origin), value, KEYS)
        if value is not None:
            plain = str(value) if isinstance(value, Path) else value
            yield name, Given(plain, origin, cwd, is_text=isinstance(plain, str))


def _value(key: Key, place: Place, given: Given, environ: Mapping[str, str]) -> Any:
    """The value as the settings hold it."""
    if is_unset(key, given.value):
        return None
    value: Any = from_text(key, given.value) if given.is_text else given.value
    if not is_accepted(key, value):
        raise refused(place, key, given.value)
    if key.kind != "path":
        return typed(key, value)
    try:
        path = resolved(value, base=given.base, environ=environ)
    except OSError as error:
        raise bad_value(place, value, "an absolute path, as the current folder is not there any more") from error
    except ValueError as error:
        raise bad_value(place, value, f"a path ({error})") from error
    if not is_clean(str(path)):
        raise refused(place, key, str(path))
    return path


def _sources(given: Given, environ: Mapping[str, str]) -> tuple[Source, ...]:
    if not isinstance(given.value, list):
        raise bad_value(Place(SOURCES, given.origin), given.value, f"an array of tables, [[{SOURCES}]]")
    return tuple(_source(index, table, given, environ) for index, table in enumerate(given.value))


def _source(index: int, table: object, given: Given, environ: Mapping[str, str]) -> Source:
    prefix = f"{SOURCES}[{index}]"
    if not isinstance(table, dict):
        raise bad_value(Place(prefix, given.origin), table, f"a table, [[{SOURCES}]]")
    for name in table:
        if name not in SOURCE_KEYS:
            known = [f"{prefix}.{known}" for known in SOURCE_KEYS]
            raise unknown_key(Place(f"{prefix}.{name}", given.origin), table[name], known)
    values = {}
    for name, key in SOURCE_KEYS.items():
        place = Place(f"{prefix}.{name}", given.origin)
        value = table.get(name, key.default)
        if is_unset(key, value):
            value = key.default
        if value is None:
            raise missing_value(place)
        values[name] = _value(key, place, given._replace(value=value), environ)
    return Source(**values)


def _built(section: Any, prefix: str, values: Mapping[str, Any]) -> Any:
    """The dataclass of a section, with the sections in it, from values by dotted name."""
    return section(
        **{
            field.name: _built(field.type, f"{prefix}{field.name}.", values)
            if is_dataclass(field.type)
            else values[f"{prefix}{field.name}"]
            for field in fields(section)
        }
    )
