"""What the syntax tree of a text says about its lines: definitions, comments, errors. Wraps tree-sitter."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count
from typing import TYPE_CHECKING, Literal

from kebab_stream.ingest.grammars import Grammar, load
from kebab_stream.ingest.margin import margin_blocks
from kebab_stream.ingest.names import name_of

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

Kind = Literal["leaf", "entry", "class", "scope"]
"""As the queries of the grammars say."""
_KINDS: tuple[Kind, ...] = ("leaf", "entry", "class", "scope")

_MOST_CHARS = 2_000_000
_DEEPEST = 1000
"""Brackets open at once, above which some grammars take quadratic time."""
_BRACKET = re.compile(r"[()\[\]{}]")
_MOST_STEPS = 20_000
"""How often the parser may report while it reads a text, whole, in parts and with all grammars together. Real files
take 5,000 for a megabyte, dense headers 24,000, in a second; some that are made to take long would take hours, and 10 s
for as many. Counted and not timed, so that a slow machine makes the same chunks."""
_BROKEN = 100
"""With errors in a hundredth of a text, it is also read in parts, which takes as long again."""
_READ_BYTES = 1 << 14


@dataclass(frozen=True, slots=True)
class Definition:
    """A part of the text that has a name; a scope may have none."""

    kind: Kind
    name: str
    start: int
    """Bytes [start, end) of the text in UTF-8."""
    end: int
    first_row: int
    """Rows are from 0."""
    last_row: int
    column: int
    """Where it begins in its first row, in bytes."""
    is_damaged: bool
    """Whether there is an error in it."""


@dataclass(slots=True)
class Outline:
    """All that is of interest in a text."""

    definitions: list[Definition] = field(default_factory=list)
    """By start, the outer before the inner."""
    asides: set[int] = field(default_factory=set)
    """Rows with nothing but a comment or a part of one, or that begin a namespace or the like."""
    above: set[int] = field(default_factory=set)
    """Rows with nothing but a comment, a decorator or an attribute."""
    error_bytes: int = 0

    @property
    def intact(self) -> int:
        """How many definitions have no error in them."""
        return sum(1 for one in self.definitions if not one.is_damaged)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Rows of a text that are parsed for themselves."""

    rows: Sequence[bytes]
    first_row: int
    start: int
    """In bytes of the text."""


def outline_of(lines: Sequence[str], grammars: Iterable[Grammar]) -> Outline | None:
    """Read a text with the grammar that finds the fewest errors in it; the first of those that find equally few.

    One bracket too many may spoil all that follows. So a text with more than a few errors is also read in parts,
    each from one unindented line after a blank one to the next, and that is taken if it finds more intact definitions
    and not many more errors.

    Returns:
        None if no grammar is installed, if half of the text is no syntax whatever is tried, and for a text of more
        than two million characters, with more than a thousand brackets open, or that takes too many steps to
        parse: it is data, or made by a machine.
    """
    loaded = [grammar for grammar in grammars if load(grammar)]
    text = "\n".join(lines)
    if not loaded or len(text) > _MOST_CHARS or _nesting(text) > _DEEPEST:
        return None
    source = text.encode(errors="replace")
    rows, size = source.split(b"\n"), len(source)
    best = _best(loaded, lines, rows, size, count())
    return best if best and best.error_bytes * 2 <= size else None


def _nesting(text: str) -> int:
    steps = (1 if match[0] in "([{" else -1 for match in _BRACKET.finditer(text))
    return max(accumulate(steps), default=0)


def _parts(lines: Sequence[str], rows: Sequence[bytes]) -> Iterable[_Stretch]:
    row = start = 0
    for block in margin_blocks(lines, 1, len(lines)):
        first = block.line_start - 1
        start += sum(len(skipped) + 1 for skipped in rows[row:first])
        row = first
        yield _Stretch(rows[first : block.line_end], first, start)


def _best(
    grammars: Iterable[Grammar], lines: Sequence[str], rows: Sequence[bytes], size: int, steps: Iterator[int]
) -> Outline | None:
    best, best_grammar = None, None
    for grammar in grammars:
        outline = _outline(grammar, [_Stretch(rows, 0, 0)], steps)
        if outline and (best is None or outline.error_bytes < best.error_bytes):
            best, best_grammar = outline, grammar
        if best and not best.error_bytes:
            return best
    if best and best.error_bytes * _BROKEN < size:
        return best
    parts = _outline(best_grammar, _parts(lines, rows), steps) if best_grammar else None
    return parts if best and parts and _is_clearer(parts, best) else best


def _is_clearer(parts: Outline, whole: Outline) -> bool:
    return parts.intact > whole.intact and parts.error_bytes <= whole.error_bytes * 2


def _outline(grammar: Grammar, stretches: Iterable[_Stretch], steps: Iterator[int]) -> Outline | None:
    outline = Outline()
    return outline if all(_read(outline, stretch, grammar, steps) for stretch in stretches) else None


def _read(outline: Outline, stretch: _Stretch, grammar: Grammar, steps: Iterator[int]) -> bool:
    """Add what is in a stretch; False if it takes too long to parse."""
    # Late: an optional extra; whoever gets here has it.
    from tree_sitter import QueryCursor

    loaded = load(grammar)
    assert loaded
    language, query = loaded
    source = b"\n".join(stretch.rows) + b"\n"  # some grammars want the last line ended
    tree = _parsed(language, source, steps)
    if tree is None:
        return False
    outline.error_bytes += tree.root_node.has_error  # something may be missing, which has no length
    found: dict[int, Definition] = {}
    errors_end = 0
    for _, captures in QueryCursor(query).matches(tree.root_node):
        for node in captures.get("error", ()):
            outline.error_bytes += max(0, node.end_byte - max(node.start_byte, errors_end))
            errors_end = max(errors_end, node.end_byte)
        kind = next((kind for kind in _KINDS if kind in captures), None)
        if kind is None:
            _take_in_asides(outline, captures, stretch)
            continue
        node = captures[kind][0]
        if kind == "scope":
            outline.asides.add(stretch.first_row + node.start_point.row)
        definition = _definition(kind, node, name_of(captures), stretch)
        if definition and node.id not in found:  # one with two names has the first
            found[node.id] = definition
    outline.definitions += sorted(found.values(), key=lambda one: (one.start, -one.end))
    return True


def _parsed(language: "Language", source: bytes, steps: Iterator[int]) -> "Tree | None":
    from tree_sitter import Parser

    try:
        return Parser(language).parse(
            lambda offset, _: source[offset : offset + _READ_BYTES],
            progress_callback=lambda *_: next(steps) > _MOST_STEPS,
        )
    except ValueError:  # stopped by the callback
        return None


def _definition(kind: Kind, node: "Node", name: str, stretch: _Stretch) -> Definition | None:
    first_row, last_row = _rows(node)
    last_row = min(last_row, len(stretch.rows) - 1)
    if (kind == "entry" and first_row == last_row) or not (name or kind == "scope"):
        return None
    return Definition(
        kind,
        name,
        stretch.start + node.start_byte,
        stretch.start + node.end_byte,
        stretch.first_row + first_row,
        stretch.first_row + last_row,
        node.start_point.column,
        node.has_error,
    )


def _take_in_asides(outline: Outline, captures: "dict[str, list[Node]]", stretch: _Stretch) -> None:
    for node in captures.get("opening", ()):
        outline.asides.add(stretch.first_row + node.start_point.row)
    for node in captures.get("mark", ()):
        if not _after(node, stretch):
            outline.above.update(_text_rows(node, stretch))
    for node in captures.get("above", ()):
        before = stretch.rows[node.start_point.row][: node.start_point.column]
        if not before.strip() and not _after(node, stretch):
            outline.above.update(_text_rows(node, stretch))
            outline.asides.update(_text_rows(node, stretch))


def _after(node: "Node", stretch: _Stretch) -> bytes:
    """What else is on the last row of a node."""
    last, column = node.end_point
    return stretch.rows[last][column:].strip() if last == _rows(node)[1] else b""


def _text_rows(node: "Node", stretch: _Stretch) -> range:
    first, last = _rows(node)
    return range(stretch.first_row + first, stretch.first_row + last + 1)


def _rows(node: "Node") -> tuple[int, int]:
    """The first and the last row of a node; some nodes end with the line end, which is not counted."""
    first, last = node.start_point.row, node.end_point.row
    return first, last - 1 if last > first and node.end_point.column == 0 else last
