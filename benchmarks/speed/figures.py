"""What a section of the page is made of: figures with their targets, tables, and what the plots show."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from kebab_stream.model import Mode


@dataclass(frozen=True, slots=True)
class Target:
    """A claim of the form: this is at most, or at least, so many times that."""

    claim: str
    limit: float
    value: float | None
    """None where one of the two could not be measured."""
    measured: str = ""
    """The two figures behind the value."""
    at_least: bool = False
    unit: str = "×"

    @property
    def is_met(self) -> bool | None:
        """None where it was not measured."""
        if self.value is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def margin(self) -> float:
        """How many times better than the limit the value is: below 1 is not met."""
        assert self.value is not None
        better, worse = (self.value, self.limit) if self.at_least else (self.limit, self.value)
        return better / max(worse, 1e-9)


@dataclass(frozen=True, slots=True)
class Table:
    """A table, its cells as they are shown."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Shares:
    """A plot of shares from 0 to 1: rows, each with a share for some modes."""

    name: str
    title: str
    rows: Sequence[tuple[str, Sequence[tuple[Mode, float]]]]


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the page."""

    title: str
    notes: Sequence[str] = ()
    targets: Sequence[Target] = ()
    tables: Sequence[Table] = ()
    plots: Sequence[Shares] = field(default=())


def ratio(
    claim: str,
    limit: float,
    ours: Sequence[float] | None,
    theirs: Sequence[float] | None,
    *,
    unit: str = "ms",
) -> Target:
    """That the median of ours is at most `limit` times the median of theirs; None or nothing is not measured."""
    if not ours or not theirs:
        return Target(claim, limit, None)
    one, other = median(ours), median(theirs)
    return Target(claim, limit, one / other, f"{shown(one)} and {shown(other)} {unit}")


def shown(value: float) -> str:
    """A number with three digits that mean something."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def times(value: float) -> str:
    """A ratio."""
    return f"{shown(value)} ×"


def p90(values: Sequence[float]) -> float:
    """The value that nine in ten do not exceed."""
    return sorted(values)[max(0, math.ceil(len(values) * 0.9) - 1)]
