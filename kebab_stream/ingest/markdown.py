"""Markdown as blocks with exact file lines, by markdown-it's block parser.

Inline syntax is parsed for headings only: nothing else needs it, and it is where Markdown parsers are slow.
Containers (lists, quotes) are taken apart into the blocks inside them, so that a long list can be cut between its
items and never inside a fence that one of them holds.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kebab_stream.ingest.document import Block, BlockKind
from kebab_stream.ingest.plain import paragraphs

_KINDS: dict[str, BlockKind] = {
    "paragraph_open": "text",
    "heading_open": "heading",
    "fence": "fence",
    "code_block": "fence",
    "table_open": "table",
    "html_block": "html",
    "hr": "rule",
}
_MAX_NESTING = 60
"""Levels, two for each list in a list. Beyond it markdown-it skips to the end of the document: those lines become
paragraphs. Bounded because time grows with the product of depth and lines."""

_HEADING_CHARS = 200
_MARKUP = re.compile(r"[\\`*_\[\]<>&!\n]")
"""A heading without any of these is plain text already."""
_ATTRIBUTES = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*$")
"""`{#anchor}` and `{: .class}` after a heading, as Hugo, VitePress, Kramdown and Pandoc have them."""
_COMMENT = re.compile(r"\s*<!--(?:[^-]|-(?!->))*-->\s*", re.DOTALL)


def markdown_blocks(lines: Sequence[str], skip: int = 0) -> list[Block]:
    """Take a Markdown document apart.

    A heading inside a list or a quote is text: it opens no section. Lines that Markdown gives no block, such as
    link definitions, are paragraphs.

    Args:
        lines: all lines of the file.
        skip: how many of them, from the first, are front matter.
    """
    parser = _parser()
    definitions: dict[str, object] = {}
    tokens = parser.parse("\n".join(lines[skip:]), definitions)
    blocks = [_with_kind(block, lines) for block in _blocks(tokens, lines, skip, definitions)]
    covered = {number for block in blocks for number in range(block.line_start, block.line_end + 1)}
    rest = (number for number in range(skip + 1, len(lines) + 1) if number not in covered)
    return sorted([*blocks, *paragraphs(lines, rest)], key=lambda block: block.line_start)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(
    tokens: Sequence[Token], lines: Sequence[str], skip: int, definitions: dict[str, object]
) -> Iterator[Block]:
    for index, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None:
            continue
        start, end = token.map[0] + skip, token.map[1] + skip  # from 0, end exclusive
        while end > start and not lines[end - 1].strip():
            end -= 1
        while start < end and not lines[start].strip():
            start += 1
        if start == end:
            continue
        if kind == "heading" and token.level == 0:
            yield Block(kind, start + 1, end, int(token.tag[1:]), heading_text(tokens[index + 1].content, definitions))
        else:
            yield Block("text" if kind == "heading" else kind, start + 1, end)


def _with_kind(block: Block, lines: Sequence[str]) -> Block:
    """Tell comments from other HTML."""
    first = lines[block.line_start - 1]
    if block.kind == "html" and first.lstrip().startswith("<!--"):
        text = "\n".join(lines[block.line_start - 1 : block.line_end])
        if _COMMENT.fullmatch(text):
            return Block("comment", block.line_start, block.line_end)
    return block


# --- headings --------------------------------------------------------------------------------------------


def heading_text(source: str, definitions: Mapping[str, object] | None = None) -> str:
    """What a reader sees of a heading: no emphasis, link targets, code marks, tags or anchors.

    At most 200 characters. `definitions` are the document's link definitions, as markdown-it leaves them in its
    environment.
    """
    source = _ATTRIBUTES.sub("", source[: 2 * _HEADING_CHARS]).strip()
    if not _MARKUP.search(source):
        return source[:_HEADING_CHARS]
    inline = _inline_parser().parseInline(source, dict(definitions or {}))[0].children or []
    text = " ".join("".join(_visible(inline)).split())
    return (text or source)[:_HEADING_CHARS]


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _visible(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "image":
            yield from _visible(token.children or [])
