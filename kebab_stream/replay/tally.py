"""Counts of a replay and how long its queries took, in a size that does not grow with them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from kebab_stream.reports.offline import Latency

_RATIO: Final = 1.05
"""Upper to lower bound of one bin of times: what is read from them is at most 2.5 % off."""
_LEAST_MS: Final = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many lines went how."""

    succeeded: int = 0
    failed: int = 0
    bad_lines: int = 0
    """Of the failed."""
    blank_lines: int = 0
    times: Mapping[int, int] = field(default_factory=dict)
    """Bin to how many queries took so long: bin n is the times around 1.05^n milliseconds."""

    @property
    def total(self) -> int:
        """Lines that are not blank."""
        return self.succeeded + self.failed

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            succeeded=self.succeeded + other.succeeded,
            failed=self.failed + other.failed,
            bad_lines=self.bad_lines + other.bad_lines,
            blank_lines=self.blank_lines + other.blank_lines,
            times=Counter(self.times) + Counter(other.times),
        )

    def as_json(self) -> dict[str, Any]:
        """The tally for a journal."""
        return {
            "succeeded": self.succeeded,
            "failed": self.failed,
            "bad_lines": self.bad_lines,
            "blank_lines": self.blank_lines,
            "times": {str(place): count for place, count in sorted(self.times.items())},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The tally that `as_json` wrote."""
        times = {int(place): count for place, count in value["times"].items()}
        return cls(**{**value, "times": times})


def bins(times_ms: Iterable[float]) -> dict[int, int]:
    """Times as counts of their bins."""
    return dict(Counter(round(math.log(max(time, _LEAST_MS), _RATIO)) for time in times_ms))


def latency_of(times: Mapping[int, int]) -> Latency | None:
    """Percentiles by nearest rank: the time of the bin in which the query of that rank is."""
    if not times:
        return None
    p50, p90, p99 = (round(_RATIO ** _place_of(times, share), 3) for share in (0.5, 0.9, 0.99))
    return Latency(p50_ms=p50, p90_ms=p90, p99_ms=p99)


def _place_of(times: Mapping[int, int], share: float) -> int:
    wanted = max(1, math.ceil(share * sum(times.values())))
    seen = 0
    for place, count in sorted(times.items()):
        seen += count
        if seen >= wanted:
            return place
    raise AssertionError  # a share is at most the whole
