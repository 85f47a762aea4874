"""reStructuredText as blocks of the file's own lines: titles, literal blocks, tables, comments, paragraphs.

A scanner of how lines begin, not docutils, which knows on which line a title is but not where a literal block or a
table ends, takes 1.5 s for a megabyte, and gives up on 300 nested lists. In the tests it says where the titles of the
same documents are. Nothing is included, run or looked up.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kebab_stream.ingest.document import HEADING_CHARS, TAG_CHARS, Block, BlockKind, unique_tags
from kebab_stream.ingest.front_matter import normal_date
from kebab_stream.ingest.language import stated_language

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")
_SURE_ADORNMENT = 4
"""Characters from which on a line under a shorter one's title is one, too."""
_MARKER = re.compile(r"(?:[-*+•‣⁃]|\(?(?:\d+|[a-zA-Z]|[ivxlcdmIVXLCDM]+|#)[.)])\s+")
_NO_TITLE = re.compile(r"[-*+•‣⁃]\s|(?:\.\.|__|:[^:\s][^:]*:|\||>>>)(?:\s|$)|\+-[-+]+-\+\s*$")
"""What a line begins with that is no title even above an adornment: a list item, a comment, a field, a table."""
_GRID_TABLE = re.compile(r"\s*\+[-=][-=+]+\+\s*$")
_SIMPLE_TABLE = re.compile(r"\s*=+(?: +=+)+\s*$")
_TABLE_BORDER = re.compile(r"\s*=+[= ]*$")
_DOCTEST = re.compile(r"\s*>>>(?:\s|$)")
_EXPLICIT = re.compile(r"\s*\.\.(?:\s+(?P<text>\S.*))?$")
_DIRECTIVE = re.compile(r"(?:\|[^|]+\|\s+)?(?P<name>[\w.:+-]+?)\s*::(?:\s|$)")
_REFERENCE = re.compile(r"[\[_|]")
_VERBATIM = frozenset(
    ("code", "code-block", "digraph", "doctest", "graphviz", "highlight", "ipython", "literalinclude", "math"),
).union(("mermaid", "parsed-literal", "productionlist", "prompt", "raw", "sourcecode", "testcode", "testoutput"))
_TABLES = frozenset(("csv-table", "flat-table", "list-table", "table"))

_INLINE = (
    (re.compile(r"(?<!\\):[\w.:+-]+:(?=`)"), ""),
    (re.compile(r"`([^`<>]+?)\s*<[^`<>]*>`_{0,2}"), r"\1"),
    (re.compile(r"``(.+?)``|`([^`]+)`_{0,2}|\*\*(.+?)\*\*|\|([^|\s][^|]*)\|_{0,2}"), r"\1\2\3\4"),
    (re.compile(r"(?<![\w\\*])\*([^*\s](?:[^*]*[^*\s])?)\*(?!\w)"), r"\1"),
    (re.compile(r"\\(.)"), r"\1"),
)

_FIELD = re.compile(r"(?::|\.\. )(?P<name>[\w ]{1,30}):\s+(?P<value>\S.*)$|\s+:(?P<meta>keywords):\s+(?P<words>\S.*)$")
_FIELD_LINES = 60


@dataclass(slots=True)
class Fields:
    """What a document says of itself at its beginning."""

    title: str = ""
    lang: str | None = None
    tags: tuple[str, ...] = ()
    created: str | None = None
    modified: str | None = None


def rst_fields(lines: Sequence[str]) -> Fields:
    """Bibliographic fields (`:date: …`, `.. tags: …`) and keywords among the first 60 lines; of several, the first."""
    found: dict[str, str] = {}
    for match in filter(None, map(_FIELD.match, lines[:_FIELD_LINES])):
        found.setdefault((match["name"] or match["meta"]).lower(), match["value"] or match["words"])
    tags = re.split(r"[,;]", found.get("tags", found.get("keywords", "")))
    return Fields(
        title=" ".join(found.get("title", "").split())[:TAG_CHARS],
        lang=stated_language(found.get("lang", found.get("language", "")).lower()),
        tags=unique_tags(tags),
        created=_date(found, "date", "created"),
        modified=_date(found, "modified", "updated"),
    )


def _date(found: Mapping[str, str], *names: str) -> str | None:
    return next(filter(None, (normal_date(found.get(name, "")) for name in names)), None)


def rst_blocks(lines: Sequence[str]) -> list[Block]:
    """Take a document apart. Never raises, in linear time; every line that is not blank is in one block.

    The levels of titles are by the order in which their styles appear, as the format has it.
    """
    return list(_Scanner(lines).blocks())


@dataclass(slots=True)
class _Scanner:
    lines: Sequence[str]
    styles: list[str] = field(default_factory=list)
    """Adornments of titles, twice the character where there is a line above too, from the highest level."""

    def blocks(self) -> Iterator[Block]:
        place = 0
        while place < len(self.lines):
            if not self.lines[place].strip():
                place += 1
                continue
            block, literal = self._title(place), 0
            if block is None:
                end, kind = self._body(place)
                block = Block(kind, place + 1, end)
                literal = self._literal_end(place, end) if kind == "text" else 0
            yield block
            place = block.line_end
            if literal:
                first = self._next_line(place)
                yield Block("fence", first + 1, literal)
                place = literal

    # --- titles ------------------------------------------------------------------------------------------

    def _title(self, place: int) -> Block | None:
        """The title that begins on this line, if one does."""
        found = self._title_parts(place)
        if not found:
            return None
        height, text, style = found
        if style not in self.styles:
            self.styles.append(style)
        return Block("heading", place + 1, place + height, min(self.styles.index(style) + 1, 6), plain(text))

    def _title_parts(self, place: int) -> tuple[int, str, str] | None:
        """The lines, the text and the style of a title. There is a line under its text, and maybe one above."""
        first, second, third = (self._line(place + offset) for offset in range(3))
        if _is_adornment(first) and second.strip() and third.rstrip() == first.rstrip() and _fits(second, first):
            return 3, second, first[0] * 2
        if first[0].isspace() or _NO_TITLE.match(first) or not _is_adornment(second) or not _fits(first, second):
            return None
        return 2, first, second[0]

    # --- everything else ---------------------------------------------------------------------------------

    def _body(self, place: int) -> tuple[int, BlockKind]:
        """Where the block that begins on this line ends (from 1, inclusive), and what it is."""
        line = self.lines[place]
        if _GRID_TABLE.match(line):
            return self._run_end(place), "table"
        if _SIMPLE_TABLE.match(line) and (end := self._simple_table_end(place)):
            return end, "table"
        if _DOCTEST.match(line):
            return self._run_end(place), "fence"
        if explicit := _EXPLICIT.match(line):
            return self._explicit(place, explicit["text"] or "")
        is_alone = not self._line(place + 1).strip()
        if is_alone and _ADORNMENT.match(line) and len(line.rstrip()) >= _SURE_ADORNMENT:
            return place + 1, "rule"
        return self._run_end(place, before_titles=bool(_NO_TITLE.match(line) or _MARKER.match(line))), "text"

    def _explicit(self, place: int, text: str) -> tuple[int, BlockKind]:
        directive = _DIRECTIVE.match(text)
        name = directive["name"].lower() if directive else ""
        if name in _VERBATIM:
            return self._indented_end(place), "fence"
        if name in _TABLES:
            return self._indented_end(place), "table"
        if directive or _REFERENCE.match(text):
            return self._run_end(place, before_titles=True), "text"
        is_empty = not text and not self._line(place + 1).strip()
        return place + 1 if is_empty else self._indented_end(place), "comment"

    def _simple_table_end(self, place: int) -> int:
        borders = 0
        for number in range(place + 1, len(self.lines)):
            if _TABLE_BORDER.match(self.lines[number]):
                borders += 1
                if borders == 2 or not self._line(number + 1).strip():
                    return number + 1
        return 0

    def _run_end(self, place: int, *, before_titles: bool = False) -> int:
        """The last line before a blank one, or before a title that follows a list item directly."""
        end = place + 1
        while self._line(end).strip():
            if before_titles and _is_adornment(self._line(end + 1)) and self._title_parts(end):
                break
            end += 1
        return end

    def _indented_end(self, place: int, indent: int | None = None) -> int:
        """The last line of those that are indented deeper than this one, or than `indent`."""
        indent = _indent(self.lines[place]) if indent is None else indent
        end = place + 1
        for number in range(place + 1, len(self.lines)):
            line = self.lines[number]
            if line.strip():
                if _indent(line) <= indent:
                    break
                end = number + 1
        return end

    # --- literal blocks ----------------------------------------------------------------------------------

    def _literal_end(self, place: int, end: int) -> int:
        """Where the literal block ends that a paragraph announces with `::`; 0 if it announces none."""
        last = self.lines[end - 1]
        if not last.rstrip().endswith("::"):
            return 0
        first = self._next_line(end)
        if first == len(self.lines):
            return 0
        indent = _text_column(last)
        if _indent(self.lines[first]) > indent:
            return self._indented_end(end - 1, indent)
        mark = _expanded(self.lines[first])[indent : indent + 1]
        if not _ADORNMENT.match(mark):
            return 0
        quoted, start = self._run_end(first), " " * indent + mark
        return quoted if all(_expanded(line).startswith(start) for line in self.lines[first:quoted]) else 0

    def _next_line(self, place: int) -> int:
        while place < len(self.lines) and not self.lines[place].strip():
            place += 1
        return place

    def _line(self, place: int) -> str:
        """A line, or a blank where there is none."""
        return self.lines[place] or " " if place < len(self.lines) else " "


def plain(text: str) -> str:
    """A title without inline markup, at most 200 characters."""
    text = text[: 2 * HEADING_CHARS].strip()
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())[:HEADING_CHARS]


def _is_adornment(line: str) -> bool:
    return bool(_ADORNMENT.match(line))


def _fits(title: str, adornment: str) -> bool:
    length = len(adornment.rstrip())
    return length >= _SURE_ADORNMENT or _width(title.strip()) <= length


def _width(text: str) -> int:
    """Columns on a terminal."""
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") - bool(unicodedata.combining(char)) for char in text)


def _expanded(line: str) -> str:
    """A line with blanks for its tabs, so that places in it are columns."""
    return line.expandtabs(8)


def _indent(line: str) -> int:
    line = _expanded(line)
    return len(line) - len(line.lstrip())


def _text_column(line: str) -> int:
    """Where the text of a line begins, after the marks of list items."""
    line = _expanded(line)
    column = _indent(line)
    while marker := _MARKER.match(line, column):
        column = marker.end()
    return column
