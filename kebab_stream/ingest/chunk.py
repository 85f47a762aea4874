"""A parsed document as chunks: sections cut to size, every one a verbatim stretch of the source.

    blocks → sections (one heading each) → units (what is never cut further) → chunks (units packed up to a target)

All steps work with offsets into the document's text, so a chunk is always text that stands in the file.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kebab_stream.config import Chunking
from kebab_stream.ingest.document import Block, ParsedDocument
from kebab_stream.ingest.sections import (
    Place,
    Section,
    Unit,
    short_together,
    whole_definitions,
    with_comments_before,
    with_content,
)
from kebab_stream.ingest.sentences import hard_pieces, sentences


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk that has no id yet.

    `text` is the lines `line_start`…`line_end` joined by newlines, or a stretch of them where a single line was too
    long for one chunk.
    """

    text: str
    heading_path: tuple[str, ...]
    symbol: str | None
    line_start: int
    line_end: int
    page: int | None


def chunk(document: ParsedDocument, sizes: Chunking) -> list[Piece]:
    """Cut a document into chunks, in order.

    - A section (a heading and what follows it) of up to `target_chars` is one chunk. A longer one is packed block
      by block up to the target; each further chunk begins with up to `overlap_chars` of whole lines from the end
      of the one before, where that fits the target.
    - A heading without content of its own goes with the section that follows, at the end with the chunk before.
    - Fences and tables of up to `max_chars` are never cut; larger ones are cut between lines.
    - A longer paragraph is cut between lines, a longer line between sentences, a longer sentence between words
      or, if need be, graphemes.
    - A page begins a new section, and so does what source code defines: a function is a chunk with its symbol, or
      several if it is long. A class that fits the target is one chunk; the members of a larger one are chunks.
      Neighbours of a line each share a chunk. No overlap crosses from one section to another.

    Every line that a block of the document covers is in a chunk; no chunk is blank or longer than `max_chars`.
    """
    text = "\n".join(document.lines)
    line_starts = list(accumulate((len(line) + 1 for line in document.lines), initial=0))
    sections = _sections(document, text, line_starts, sizes)
    spans: list[tuple[int, int, Place]] = []
    for section in sections:
        end = section.end
        is_bare_tail = section is sections[-1] and not section.has_content
        if spans and is_bare_tail and end - spans[-1][0] <= sizes.max_chars:
            start, _, place = spans.pop()
            spans.append((start, end, place))
        else:
            spans += [(start, end, section.place) for start, end in _pack(text, section.units, sizes)]
    file_lines = document.file_lines or range(1, len(document.lines) + 1)
    return [
        Piece(
            text[start:end],
            place.heading_path,
            place.symbol,
            file_lines[bisect_right(line_starts, start) - 1],
            file_lines[bisect_right(line_starts, end - 1) - 1],
            place.page,
        )
        for start, end, place in spans
    ]


# --- sections --------------------------------------------------------------------------------------------


def _sections(document: ParsedDocument, text: str, line_starts: Sequence[int], sizes: Chunking) -> list[Section]:
    target = sizes.target_chars
    sections = list(with_content(with_comments_before(_parts(document, text, line_starts, sizes)), target))
    return list(short_together(whole_definitions(sections, text, target), text, target))


def _parts(document: ParsedDocument, text: str, line_starts: Sequence[int], sizes: Chunking) -> Iterator[Section]:
    """A section for each stretch of one place."""
    open_headings: list[Block] = []
    place = Place()
    depth = 0
    units: list[Unit] = []
    for block in document.blocks:
        if block.kind == "heading":
            open_headings = [heading for heading in open_headings if heading.level < block.level] + [block]
        page = document.pages[block.line_start - 1] if document.pages else None
        here = Place(_path(open_headings), block.symbol, page)
        if units and (block.kind == "heading" or here != place):
            yield Section(place, units, depth)
            units = []
        if not units:
            place, depth = here, block.depth
        units += _units(text, block, line_starts[block.line_start - 1], line_starts[block.line_end] - 1, sizes)
    if units:
        yield Section(place, units, depth)


def _path(headings: Sequence[Block]) -> tuple[str, ...]:
    return tuple(heading.heading for heading in headings if heading.heading)


# --- units -----------------------------------------------------------------------------------------------

_Splitter = Callable[[str, int, int], Iterator[tuple[int, int]]]


def _units(text: str, block: Block, start: int, end: int, sizes: Chunking) -> Iterator[Unit]:
    is_content = block.kind not in ("heading", "rule", "comment") or end - start > sizes.target_chars
    is_atomic = block.kind in ("fence", "table")
    stretches = (
        _large_stretches(text, start, end, sizes.max_chars)
        if is_atomic
        else _split(text, start, end, sizes.target_chars, (_runs, _lines, _sentences))
    )
    return (Unit(*stretch, is_content=is_content, is_atomic=is_atomic) for stretch in stretches)


def _large_stretches(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Whole lines packed up to the limit."""
    stretches: list[tuple[int, int]] = []
    for piece_start, piece_end in _split(text, start, end, limit, (_lines, _sentences)):
        if stretches and piece_end - stretches[-1][0] <= limit:
            stretches[-1] = (stretches[-1][0], piece_end)
        else:
            stretches.append((piece_start, piece_end))
    return stretches


def _split(text: str, start: int, end: int, limit: int, splitters: Sequence[_Splitter]) -> Iterator[tuple[int, int]]:
    """Cut only what is longer than the limit, with the first splitter that makes it short enough."""
    if end - start <= limit:
        yield start, end
    elif not splitters:
        yield from hard_pieces(text, start, end, limit)
    else:
        for piece_start, piece_end in splitters[0](text, start, end):
            yield from _split(text, piece_start, piece_end, limit, splitters[1:])


def _runs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Lines between blank lines."""
    run_start = run_end = start
    for line_start, line_end in _lines(text, start, end):
        if text.count("\n", run_end, line_start) > 1:
            yield run_start, run_end
            run_start = line_start
        run_end = line_end
    yield run_start, run_end


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Lines that are not blank."""
    while start < end:
        line_end = text.find("\n", start, end)
        line_end = end if line_end < 0 else line_end
        if text[start:line_end].strip():
            yield start, line_end
        start = line_end + 1


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return ((start + first, start + last) for first, last in sentences(text[start:end]))


# --- packing ---------------------------------------------------------------------------------------------


def _pack(text: str, units: Sequence[Unit], sizes: Chunking) -> Iterator[tuple[int, int]]:
    """Offsets of chunks that hold the units in order."""
    start, first, has_content = units[0].start, 0, False
    for index, unit in enumerate(units):
        limit = sizes.target_chars if has_content and unit.is_content else sizes.max_chars
        if index > first and unit.end - start > limit:
            yield start, units[index - 1].end
            overlap = _overlap_start(text, units[first:index], sizes.overlap_chars)
            start = unit.start if overlap is None or unit.end - overlap > sizes.target_chars else overlap
            first, has_content = index, False
        has_content = has_content or unit.is_content
    yield start, units[-1].end


def _overlap_start(text: str, units: Sequence[Unit], overlap: int) -> int | None:
    """Where the next chunk may begin: a line or a unit of this one, at most `overlap` before its end."""
    earliest = units[-1].end - overlap
    best = None
    for unit in reversed(units):
        if unit.start < earliest:
            line_end = -1 if unit.is_atomic else text.find("\n", earliest - 1, unit.end)
            return best if line_end < 0 else next(_lines(text, line_end + 1, unit.end))[0]
        best = unit.start
    return best
