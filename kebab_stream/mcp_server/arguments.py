"""What a tool accepts: one table for the check and for the published schema. (A search has its own, in `wire`.)"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, Literal

from kebab_stream.errors import InvalidInputError
from kebab_stream.single import validate

Kind = Literal["text", "number", "texts", "items"]

_MAX_PROBLEMS: Final = 10
_ANY: Final = validate.Range(0, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument. Absent and null are the same."""

    name: str
    kind: Kind
    """`text`: not blank; `number`: whole; `texts`: an array, or one text."""
    accepts: str
    """The end of the sentence "expected …"."""
    required: bool = False
    limits: validate.Range = _ANY
    """Of a number."""
    choices: tuple[str, ...] = ()
    """The texts that are accepted; all, if there are none."""


def checked(arguments: Mapping[str, Any], accepted: Sequence[Argument]) -> dict[str, Any]:
    """The arguments that are there, those of `texts` as tuples.

    Raises:
        InvalidInputError: the first problem in the order of the table, unknown keys last. `details` has its `key`,
            `value` and `accepted`; of several, `problems` has those of each.
    """
    given = {key: value for key, value in arguments.items() if value is not None}
    names = [argument.name for argument in accepted]
    problems = [problem for argument in accepted if (problem := _problem(argument, given))]
    unknown = (key for key in given if key not in names)
    problems += [_unknown(key, given[key], names) for key in islice(unknown, _MAX_PROBLEMS)]
    if problems:
        raise _joined(problems)
    return {argument.name: _value(argument, given[argument.name]) for argument in accepted if argument.name in given}


def _value(argument: Argument, value: Any) -> Any:
    if argument.kind != "texts":
        return value
    return (value,) if isinstance(value, str) else tuple(value)


def _problem(argument: Argument, given: Mapping[str, Any]) -> InvalidInputError | None:
    name, accepts = argument.name, argument.accepts
    if name not in given:
        details = {"key": name, "accepted": accepts}
        return InvalidInputError(f"{name}: missing, expected {accepts}", None, details) if argument.required else None
    if not _CHECKS[argument.kind](argument, given[name]):
        return validate.refused(name, given[name], accepts)
    return None


def _is_text(argument: Argument, value: object) -> bool:
    if not isinstance(value, str) or not value.strip():
        return False
    return _is_unicode(value) and (not argument.choices or value in argument.choices)


def _is_number(argument: Argument, value: object) -> bool:
    least, most = argument.limits
    return type(value) is int and value >= least and (most is None or value <= most)


def _is_texts(argument: Argument, value: object) -> bool:
    return all(_is_text(argument, text) for text in (value if isinstance(value, list) else [value]))


def _is_items(_argument: Argument, value: object) -> bool:
    return isinstance(value, list)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_CHECKS: Final[Mapping[Kind, Callable[[Argument, object], bool]]] = {
    "text": _is_text,
    "number": _is_number,
    "texts": _is_texts,
    "items": _is_items,
}


def _unknown(key: str, value: object, names: Sequence[str]) -> InvalidInputError:
    close = get_close_matches(key, names, n=1)
    advice = f"; did you mean {close[0]}?" if close else ""
    accepted = ", ".join(names) or "none"
    seen = validate.shown(value)
    return InvalidInputError(
        f"unknown key {validate.shown(key)} with value {seen}{advice}; accepted are {accepted}",
        None,
        {"key": validate.shortened(key), "value": seen, "accepted": accepted},
    )


def _joined(problems: Sequence[InvalidInputError]) -> InvalidInputError:
    first = problems[0]
    if len(problems) == 1:
        return first
    every = [{"message": problem.message, **problem.details} for problem in problems]
    return InvalidInputError(first.message, first.hint, {**first.details, "problems": every})
