"""Which parts of a document make one section: what stands together, and is never packed with what is around it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

_WORD = re.compile(r"\w")
_SHORT_SHARE = 4
"""Short definitions are put together up to this part of the target size."""

_HEADING_LINES = 3
"""So few lines before a definition, or before its first member, say too little to be found by themselves."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch [start, end) of the text that goes into one chunk as a whole, at most `max_chars` long."""

    start: int
    end: int
    is_content: bool
    """False for headings, rules and comments of sensible length: a chunk should hold more than these."""
    is_atomic: bool
    """True inside a fence or a table, where no overlap may begin."""


@dataclass(frozen=True, slots=True)
class Place:
    """What all of a section has in common."""

    heading_path: tuple[str, ...] = ()
    symbol: str | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive units."""

    place: Place
    units: Sequence[Unit]
    depth: int = 0
    """How many definitions of source code enclose it."""

    @property
    def start(self) -> int:
        return self.units[0].start

    @property
    def end(self) -> int:
        return self.units[-1].end

    @property
    def has_content(self) -> bool:
        return any(unit.is_content for unit in self.units)

    def after(self, others: Iterable["Section"]) -> "Section":
        """This section with the units of others before its own."""
        return replace(self, units=[unit for one in (*others, self) for unit in one.units])


def with_content(sections: Iterable[Section], target: int) -> Iterator[Section]:
    """Put sections without content before the next one, whose place they then have."""
    waiting: list[Section] = []
    for section in sections:
        if section.has_content:
            yield section.after(waiting)
            waiting = []
            continue
        if waiting and section.end - waiting[0].start > target:  # an outline, nothing but headings
            yield waiting[-1].after(waiting[:-1])
            waiting = []
        waiting.append(section)
    if waiting:
        yield waiting[-1].after(waiting[:-1])


def with_comments_before(sections: Iterable[Section]) -> Iterator[Section]:
    """Let comments between statements and a definition go with the definition, as headings go with what follows."""
    before: Section | None = None
    for section in sections:
        if before and section.place.symbol:
            kept = max((number for number, unit in enumerate(before.units, 1) if unit.is_content), default=0)
            if 0 < kept < len(before.units):
                section = section.after([replace(before, units=before.units[kept:])])
                before = replace(before, units=before.units[:kept])
        if before:
            yield before
        before = section
    if before:
        yield before


def whole_definitions(sections: Sequence[Section], text: str, target: int) -> Iterator[Section]:
    """Join a definition and its members where they fit the target together, with the symbol of the definition.

    Of a larger one, the members stay sections of their own. What stands before the first of them is another,
    unless it is a few short lines, which are a heading to the member.
    """
    index = 0
    waiting: list[Section] = []
    while index < len(sections):
        first = sections[index].after(waiting)
        waiting = []
        end = index + 1
        while end < len(sections) and _is_part(sections[end], first) and sections[end].end - first.start <= target:
            end += 1
        if end == len(sections) or not _is_part(sections[end], first):
            units = [unit for one in (first, *sections[index + 1 : end]) for unit in one.units]
            yield replace(first, units=units)
            index = end
            continue
        if _is_heading(first, text, target):
            waiting = [replace(first, units=[replace(unit, is_content=False) for unit in first.units])]
        else:
            yield first
        index += 1


def _is_heading(section: Section, text: str, target: int) -> bool:
    is_short = (section.end - section.start) * _SHORT_SHARE <= target
    return is_short and _lines(section, text) <= _HEADING_LINES


def _is_part(section: Section, of: Section) -> bool:
    """Whether a section is of a member of a definition, or between its members."""
    symbol, outer = section.place.symbol, of.place.symbol
    return section.depth > of.depth and outer is not None and (symbol == outer or _is_inside(symbol, outer))


def short_together(sections: Iterable[Section], text: str, target: int) -> Iterator[Section]:
    """Join what is too short to be a chunk with what is before it. A line counts that has words in it.

    - Definitions of a line each share a section up to a quarter of the target; their symbols are joined by commas.
      A page of accessors, type aliases or macros would be a chunk for each line otherwise.
    - A few short lines that define nothing (`mod tests {`, an import) go with the definition after them.
    - A single line after a definition that defines nothing (`export default Store`) goes with the definition, where
      both fit the target.
    """
    group: list[Section] = []
    for section in sections:
        if group and not _goes_with(group, section, text, target):
            yield _group(group)
            group = []
        group.append(section)
    if group:
        yield _group(group)


def _goes_with(group: Sequence[Section], section: Section, text: str, target: int) -> bool:
    last = group[-1].place
    if not (last.symbol or section.place.symbol) or replace(last, symbol=section.place.symbol) != section.place:
        return False
    length = section.end - group[0].start
    if last.symbol is None and _is_heading(group[-1], text, target):
        return length <= target
    if _lines(section, text) > 1 or length > target:
        return False
    if _is_inside(last.symbol, section.place.symbol):
        return True
    is_short = all(one.depth == section.depth and _lines(one, text) <= 1 for one in group)
    return is_short and length * _SHORT_SHARE <= target


def _group(group: Sequence[Section]) -> Section:
    joined = group[-1].after(group[:-1])
    symbols = list(dict.fromkeys(section.place.symbol for section in group if section.place.symbol))
    inner = [symbol for symbol in symbols if not any(_is_inside(other, symbol) for other in symbols)]
    return replace(joined, place=replace(joined.place, symbol=", ".join(inner) or None))


def _is_inside(symbol: str | None, other: str | None) -> bool:
    """Whether one symbol is of a definition in another one, or in nothing."""
    return symbol is not None and (other is None or symbol.startswith(f"{other}."))


def _lines(section: Section, text: str) -> int:
    """How many lines of a section have words in them."""
    lines = text[section.start : section.end].split("\n")
    return sum(1 for line in lines if _WORD.search(line))
