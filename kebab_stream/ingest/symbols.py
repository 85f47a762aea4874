"""Source code as blocks at what it defines, found in its syntax tree.

    tree → definitions (nested) → an owner for each line → blocks (lines of one owner)

Every line that is not blank has an owner, whatever the tree is like, so no line can be lost. Nothing here is
recursive: a tree may be as deep as its file is long.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from kebab_stream.ingest.document import Block
from kebab_stream.ingest.grammars import Grammar
from kebab_stream.ingest.margin import margin_blocks
from kebab_stream.ingest.outline import Definition, Outline, outline_of

_MOST_NESTED = 12
"""Definitions around one, above which it is left a part of them: bounds the length of names and the time."""

_ONLY_CLOSES = re.compile(
    r"""
    [()\[\]{};,\s]+(?://.*|/\*.*)?  # `});`, perhaps with what it closes: `} // namespace`
    | end\b[)\]};,\s]*
    | \#\s*endif\b.*
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Owner:
    """Whom a row belongs to: a definition, or nobody. Compared by identity."""

    symbol: str | None
    depth: int
    """1 for a definition that is in no other one."""
    first_row: int
    named_row: int
    """Where the definition itself begins, without what is above it."""


_NOBODY = _Owner(None, 0, -1, -1)


def symbol_blocks(lines: Sequence[str], grammars: Iterable[Grammar]) -> list[Block] | None:
    """Cut source code at its functions, methods and types, which give the blocks their symbols.

    - A symbol is a name after the names of what encloses it, joined by dots in all languages: `Store.open`.
    - Comments, decorators and attributes directly above a definition belong to it.
    - A class is a block for what stands before its first member, one for each member, and one for each stretch
      between them, which has the symbol of the class. `depth` tells members from what follows the class.
    - What is in no definition has no symbol. Comments of their own are blocks of kind `comment`.
    - A line that closes a class belongs to what is before it. Definitions that begin on one line are not told apart.
    - Where the syntax is broken, a definition that begins no further right than the one before is not in it.

    Args:
        lines: all lines of a file.
        grammars: those to try, the best first; the one with the fewest errors is taken.

    Returns:
        None where no grammar is installed, or the text is nothing for one (see `outline_of`).
    """
    outline = outline_of(lines, grammars)
    if outline is None:
        return None
    owners = _owners(outline, len(lines))
    _give_closing_rows(owners, lines)
    return _blocks(lines, owners, outline.asides)


# --- owners ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Enclosing:
    """A definition that is being looked into."""

    kind: str
    end: float
    column: int
    is_damaged: bool
    prefix: str
    owner: _Owner
    """Whom its rows belong to; for a scope those around it."""


def _owners(outline: Outline, row_count: int) -> list[_Owner]:
    """The innermost definition around each row."""
    owners = [_NOBODY] * row_count
    shared: set[int] = set()
    enclosing = [_Enclosing("scope", float("inf"), -1, False, "", _NOBODY)]
    for one in outline.definitions:
        while _is_after(one, enclosing[-1]):
            enclosing.pop()
        around = enclosing[-1]
        if around.kind in ("leaf", "entry") or len(enclosing) > _MOST_NESTED:
            continue
        owner = around.owner
        symbol = ".".join(filter(None, (around.prefix, one.name)))
        if one.kind != "scope":
            if not _has_own_row(one, owner, owners, shared):
                continue
            first = _first_row(one.first_row, owner, owners, outline.above)
            owner = _Owner(symbol, owner.depth + 1, first, one.first_row)
            owners[first : one.last_row + 1] = [owner] * (one.last_row + 1 - first)
        enclosing.append(_Enclosing(one.kind, one.end, one.column, one.is_damaged, symbol, owner))
    return owners


def _is_after(one: Definition, other: _Enclosing) -> bool:
    # A function that is not closed seems to hold all that follows; where that begins tells what was meant.
    is_misplaced = other.is_damaged and other.kind != "scope" and one.column <= other.column
    return other.end <= one.start or is_misplaced


def _has_own_row(one: Definition, around: _Owner, owners: list[_Owner], shared: set[int]) -> bool:
    """Whether no other definition begins on its first row; the rows of one that does are given back."""
    row = one.first_row
    other = owners[row]
    if other is not around and other.named_row == row:
        shared.add(row)
        owners[other.first_row : row + 1] = [around] * (row + 1 - other.first_row)
    return row not in shared and row != around.named_row


def _first_row(row: int, around: _Owner, owners: Sequence[_Owner], above: Set[int]) -> int:
    """Where a definition begins that has comments and the like directly above it."""
    while row - 1 in above and owners[row - 1] is around and row - 1 != around.named_row:
        row -= 1
    return row


def _give_closing_rows(owners: list[_Owner], lines: Sequence[str]) -> None:
    """Let a line that only closes something belong to what is before it."""
    before = None
    for row, line in enumerate(lines):
        if line.strip():
            if before and row != owners[row].first_row and _ONLY_CLOSES.fullmatch(line.strip()):
                owners[row] = before
            before = owners[row]


# --- blocks ----------------------------------------------------------------------------------------------


def _blocks(lines: Sequence[str], owners: Sequence[_Owner], asides: Set[int]) -> list[Block]:
    blocks: list[Block] = []
    for first, last in _runs(lines, owners):
        owner = owners[first]
        if owner is _NOBODY:
            blocks += margin_blocks(lines, first + 1, last + 1)
        else:
            depth = owner.depth - 1 if first == owner.first_row else owner.depth
            blocks.append(Block("text", first + 1, last + 1, symbol=owner.symbol, depth=depth))
    return [replace(block, kind="comment") if _says_nothing(block, lines, asides) else block for block in blocks]


def _says_nothing(block: Block, lines: Sequence[str], asides: Set[int]) -> bool:
    return all(row in asides or not lines[row].strip() for row in range(block.line_start - 1, block.line_end))


def _runs(lines: Sequence[str], owners: Sequence[_Owner]) -> Iterator[tuple[int, int]]:
    """First and last row of the stretches of one owner, none of them blank."""
    first = last = -1
    for row, line in enumerate(lines):
        if not line.strip():
            continue
        if first >= 0 and owners[row] is not owners[first]:
            yield first, last
            first = -1
        first = row if first < 0 else first
        last = row
    if first >= 0:
        yield first, last
