"""HTML as the text that a reader sees, line by line, with the line of the source that each line begins on.

A line of source stays a line of text, so that a place in the text is a place in the file. Three things are put on one
line each: a heading, a row of a table, and what stands between two `<br>` on one line of the source. White space is
collapsed, except in `<pre>`. What pages have around their content (navigation, scripts, forms, hidden parts) is left
out. Nesting is counted, never followed: depth costs nothing.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from kebab_stream.ingest.document import HEADING_CHARS, TAG_CHARS, Block, BlockKind, unique_tags
from kebab_stream.ingest.front_matter import normal_date
from kebab_stream.ingest.language import stated_language
from kebab_stream.ingest.markup import Token, attributes, decoded, tokens
from kebab_stream.ingest.read import split_lines

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ROWS = frozenset(("caption", "tbody", "tfoot", "thead", "tr"))
"""Elements that begin a line in a table."""
_LINES = frozenset(("dd", "dt", "figcaption", "legend", "li", "summary"))
"""Elements that begin a block without a blank line before it."""
_BLOCKS = _LINES.union(
    ("address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "div", "dl", "fieldset"),
    ("figure", "footer", "form", "header", "hgroup", "hr", "main", "menu", "ol", "p", "pre", "section", "table", "ul"),
    _HEADINGS,
)
_CELLS = frozenset(("td", "th"))
_IN_CELLS = _BLOCKS.difference(_HEADINGS, ("pre", "table"))
"""Blocks that are part of the line in a row of a table."""
_END_TAG_OPTIONAL = _CELLS | {"dd", "dt", "li", "p", "tr"}
_DROPPED = frozenset(
    ("audio", "button", "canvas", "datalist", "nav", "noscript", "select", "svg", "template", "textarea", "video")
)
_VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))
_HIDDEN = re.compile(r"(?:^|\s)(?:hidden(?=[\s=/]|$)|aria-hidden\s*=\s*[\"']?true)", re.IGNORECASE)

_ROW_PIECES = 100
"""A row of more pieces of text is no row of data but a page laid out as a table; its paragraphs are lines."""
_CREATED = ("article:published_time", "dcterms.created", "dc.date.created", "date", "dc.date")
_MODIFIED = ("article:modified_time", "dcterms.modified", "dc.date.modified", "last-modified")


@dataclass(slots=True)
class Page:
    """What an HTML page says."""

    lines: list[str] = field(default_factory=list)
    file_lines: list[int] = field(default_factory=list)
    """Line of the source, from 1, that each of `lines` begins on; ascending."""
    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    """Of its head, or its first heading of the first level; may be empty."""
    lang: str | None = None
    """As it states itself."""
    tags: tuple[str, ...] = ()
    created: str | None = None
    modified: str | None = None


def html_page(source: str) -> Page:
    """Read an HTML page. Never raises, in linear time.

    A page without any text has that of its description.
    """
    builder = _Builder(source, drops=True)
    if builder.dropped:  # something that is left out never ends: rather too much than nothing
        builder = _Builder(source, drops=False)
    return builder.page


class _Builder:
    """A page in the making."""

    def __init__(self, source: str, *, drops: bool) -> None:
        self.page = Page()
        self.drops = drops
        self.dropped: list[str] = []
        """Names of elements of one kind that are open, in which everything is left out."""
        self.meta: dict[str, tuple[str, int]] = {}
        self.title: list[str] | None = None
        """Of the head, while it is read."""
        self.heading = 0
        self.pre = self.tables = self.cells = 0
        self.parts: list[str] = []
        self.part_line = 0
        self.prefix = ""
        self.block_start = 0
        """First line of the block that is read, from 1; 0 before there is any."""
        self.gap = False
        source = "\n".join(split_lines(source))
        self.line_starts = list(accumulate((len(line) + 1 for line in source.split("\n")), initial=0))
        for token in tokens(source):
            self._take(token)
        self._end_block(gap=False)
        self._finish()

    def _take(self, token: Token) -> None:
        if self.dropped:
            self._drop(token)
        elif token.kind == "text":
            self._text(token)
        elif token.kind == "start":
            self._start(token)
        else:
            self._end(token.value)

    def _drop(self, token: Token) -> None:
        name = self.dropped[0]
        if (token.kind, token.value) == ("end", name):
            self.dropped.pop()
        elif (token.kind, token.value) == ("start", name):
            if name in _END_TAG_OPTIONAL:
                self.dropped.clear()
                self._take(token)
            else:
                self.dropped.append(name)

    # --- text --------------------------------------------------------------------------------------------

    def _text(self, token: Token) -> None:
        if self.title is not None:
            self.title.append(decoded(token.value))
            return
        line = bisect_right(self.line_starts, token.position)
        for index, piece in enumerate(token.value.split("\n")):
            if index:
                self._source_line_ends()
            text = decoded(piece)
            if text and (self.pre or not text.isspace()) and text != "¶":  # the sign of a link to a heading
                self.part_line = self.part_line or line + index
                self.parts.append(text)
            elif text:
                self.parts.append(" ")

    def _source_line_ends(self) -> None:
        if self.pre:
            self._end_line(line_break=True)
        elif self.heading or self.cells:
            self.parts.append(" ")
        else:
            self._end_line()

    def _end_line(self, *, line_break: bool = False) -> None:
        """Put what was read so far on a line; a line break in `<pre>` makes one even of nothing."""
        text = "".join(self.parts)
        text = re.sub(r"[\r\n]", " ", text).rstrip() if self.pre else " ".join(text.split())
        if text.strip(" |") or (self.pre and line_break and self.block_start):
            self._add_line(self.prefix + text, self.part_line or (self.page.file_lines or [1])[-1])
            self.prefix = ""
        self.parts.clear()
        self.part_line = 0

    def _add_line(self, text: str, file_line: int) -> None:
        lines, file_lines = self.page.lines, self.page.file_lines
        if not self.block_start:
            if self.gap and lines:
                lines.append("")
                file_lines.append(file_lines[-1])
            self.gap = False
            self.block_start = len(lines) + 1
        lines.append(text)
        file_lines.append(file_line)

    def _end_block(self, *, gap: bool) -> None:
        self._end_line()
        lines = self.page.lines
        if self.block_start:
            while not lines[-1]:
                lines.pop()
                self.page.file_lines.pop()
            heading = lines[-1][:HEADING_CHARS] if self.heading else ""
            block = Block(self._kind(), self.block_start, len(lines), self.heading, heading)
            self.page.blocks.append(block)
        self.block_start = 0
        self.heading = 0
        self.gap = self.gap or gap

    def _kind(self) -> BlockKind:
        if self.heading:
            return "heading"
        if self.pre:
            return "fence"
        return "table" if self.tables else "text"

    # --- tags --------------------------------------------------------------------------------------------

    def _start(self, token: Token) -> None:
        name = token.value
        self._end_title()
        if self.drops and name not in _VOID and (name in _DROPPED or _is_hidden(token)):
            self.dropped.append(name)
        elif name in _BLOCKS:
            self._begin(name)
        elif name in _ROWS:
            self._end_row()
        elif name in _CELLS:
            self.parts.append(" | " if self.cells else "")
            self.cells += 1
        elif name == "br":
            self._break()
        elif name in ("area", "html", "img", "meta", "title"):
            self._take_attributes(token)

    def _begin(self, name: str) -> None:
        if self._is_in_row(name) and len(self.parts) < _ROW_PIECES:
            self.parts.append(" ")
            return
        self._end_block(gap=name not in _LINES and not self.prefix)
        self.heading = _HEADINGS.get(name, 0)
        if name == "li" or self.heading:
            self.prefix = "" if self.heading else "- "
        self.pre += name == "pre"
        self.tables += name == "table"

    def _end(self, name: str) -> None:
        self._end_title()
        if name in _ROWS:
            self._end_row()
        elif name in _BLOCKS and not self._is_in_row(name):
            self._end_block(gap=name not in _LINES)
            self.prefix = ""
            self.pre = max(self.pre - (name == "pre"), 0)
            if name == "table":
                self.cells = 0
                self.tables = max(self.tables - 1, 0)

    def _end_row(self) -> None:
        if self.heading:
            self._end_block(gap=True)
        self._end_line()
        self.cells = 0

    def _is_in_row(self, name: str) -> bool:
        return bool(self.cells) and not self.pre and name in _IN_CELLS

    def _break(self) -> None:
        if self.heading or self.cells:
            self.parts.append(" ")
        else:
            self._end_line(line_break=True)

    def _take_attributes(self, token: Token) -> None:
        name, values = token.value, attributes(token.attributes)
        line = bisect_right(self.line_starts, token.position)
        if name == "html":
            tag = (values.get("lang") or values.get("xml:lang", "")).strip().lower()
            self.page.lang = self.page.lang or stated_language(tag)
        elif name == "meta":
            key = values.get("name") or values.get("property") or values.get("http-equiv", "")
            self.meta.setdefault(key.lower(), (" ".join(values.get("content", "").split()), line))
        elif name == "title" and not self.page.title:
            self.title = []
        elif alt := " ".join(values.get("alt", "").split()):
            self.part_line = self.part_line or line
            self.parts.append(f" {alt} ")

    def _end_title(self) -> None:
        if self.title is not None:
            self.page.title = self.page.title or " ".join("".join(self.title).split())
            self.title = None

    # --- the whole page ----------------------------------------------------------------------------------

    def _finish(self) -> None:
        self._end_title()
        page = self.page
        page.tags = unique_tags(self.meta.get("keywords", ("", 0))[0].split(","))
        page.created, page.modified = self._date(_CREATED), self._date(_MODIFIED)
        first = next((block.heading for block in page.blocks if block.level == 1), "")
        page.title = (page.title or first)[:TAG_CHARS]
        description, line = self.meta.get("description", ("", 0))
        if description and not page.lines:
            page.lines, page.file_lines = [description], [line]
            page.blocks = [Block("text", 1, 1)]

    def _date(self, names: tuple[str, ...]) -> str | None:
        return next(filter(None, (normal_date(self.meta.get(name, ("", 0))[0]) for name in names)), None)


def _is_hidden(token: Token) -> bool:
    return "hidden" in token.attributes and bool(_HIDDEN.search(token.attributes))
