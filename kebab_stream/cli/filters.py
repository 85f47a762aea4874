"""The table of filters as options of a command, and what the options given say."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import asyncclick as click

from kebab_stream.model import Filters
from kebab_stream.single import validate
from kebab_stream.single.filters import FilterDef

Decorator = Callable[[Callable[..., object]], Callable[..., object]]


def filter_options(definitions: Iterable[FilterDef]) -> Decorator:
    """Add an option for each filter, in this order."""

    def add(command: Callable[..., object]) -> Callable[..., object]:
        for definition in reversed(tuple(definitions)):
            command = _option(definition)(command)
        return command

    return add


def filters_of(definitions: Iterable[FilterDef], options: Mapping[str, Any]) -> Filters:
    """The filters that the options ask for.

    Raises:
        InvalidInputError: a value cannot be used; the message names the option.
    """
    return Filters(**{definition.name: _value(definition, options) for definition in definitions})


def _option(definition: FilterDef) -> Decorator:
    text = definition.help[0].upper() + definition.help[1:]
    text += "; repeatable, or separated by commas." if definition.values == "list" else "."
    return click.option(
        definition.flag, metavar=definition.metavar, type=str, multiple=definition.values != "one", help=text
    )


def _value(definition: FilterDef, options: Mapping[str, Any]) -> Any:
    value = options[definition.name]
    if value is None:
        return None
    if definition.name == "ingested_after":
        return validate.instant(value)
    if definition.values == "list":
        parts = tuple(part.strip() for text in value for part in text.split(",") if part.strip())
        if value and not parts:
            raise validate.refused(definition.name, ", ".join(value), "one or more values, separated by commas")
        return parts
    return value
