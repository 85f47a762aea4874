"""Markdown as blocks with exact file lines, by markdown-it's block parser.

Inline syntax is parsed for headings only: nothing else needs it, and it is where Markdown parsers are slow.
Containers (lists, quotes) are taken apart into the blocks inside them, so that a long list can be cut between its
items and never inside a fence that one of them holds.

Time is linear in the length of any text: nesting and the length of link definitions are bounded, since markdown-it
looks at each line once for each quote around it, and copies a definition for each of its lines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block, reference
from markdown_it.token import Token

from kebab_stream.ingest.document import HEADING_CHARS, Block, BlockKind
from kebab_stream.ingest.obsidian import read_wikilinks, with_comments
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
_MAX_LEVELS = 20
"""Two for each list in a list, one for a quote. What is nested deeper is text of the innermost."""
_MAX_QUOTES = 8
_DEFINITION_LINES = 20

_MARKUP = re.compile(r"[\\`*_~\[\]<>&!\n]")
"""A heading without any of these is plain text already."""
_ATTRIBUTES = re.compile(r"(?:\{(?::?\s*[#.][^{}]*|/\*[^{}]*\*/)\}|(?<=\s)\^[A-Za-z0-9-]+)$")
"""`{#anchor}`, `{: .class}` and `{/* #anchor */}` after a heading, as Hugo, VitePress, Kramdown, Pandoc and
Docusaurus have them, and Obsidian's `^anchor`."""
_SHORTCODE = re.compile(r"\{\{[<%].*?[%>]\}\}")
_QUOTED = re.compile(r'"([^"]*)"')
_COMMENT = re.compile(r"\s*(?:<!--(?:[^-]|-(?!->))*-->|\{/\*(?:[^*]|\*(?!/\}))*\*/\})\s*")
_MODULE = re.compile(r"(?:import|export)\s")


def markdown_blocks(lines: Sequence[str], skip: int = 0, *, mdx: bool = False) -> list[Block]:
    """Take a Markdown document apart.

    A heading inside a list or a quote is text: it opens no section. Lines that Markdown gives no block, such as
    link definitions, are paragraphs.

    Args:
        lines: all lines of the file.
        skip: how many of them, from the first, are front matter.
        mdx: whether components take the place of HTML, with Markdown inside. `import` and `export` count as
            comments then: they are no content of their own.
    """
    parser = _parser(mdx)
    definitions: dict[str, object] = {}
    text = "\n".join(lines[skip:])
    tokens = parser.parse(text, definitions)
    blocks = [_with_kind(block, lines, mdx) for block in _blocks(tokens, lines, skip, definitions)]
    covered = {number for block in blocks for number in range(block.line_start, block.line_end + 1)}
    rest = (number for number in range(skip + 1, len(lines) + 1) if number not in covered)
    blocks = sorted([*blocks, *paragraphs(lines, rest)], key=lambda block: block.line_start)
    return with_comments(blocks, lines) if "%%" in text else blocks


@cache
def _parser(mdx: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _MAX_LEVELS}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    if mdx:
        parser.disable(["html_block", "code"])
    rules = parser.block.ruler
    before_text = ["paragraph", "reference", "blockquote", "list"]
    rules.at("list", _bounded(list_block), {"alt": before_text[:3]})
    rules.at("blockquote", _bounded_quote, {"alt": before_text})
    rules.at("reference", _short_reference)
    return parser


_Rule = Callable[[StateBlock, int, int, bool], bool]


def _bounded(rule: _Rule) -> _Rule:
    """Not markdown-it's own bound on nesting, which gives up the rest of the document."""
    return lambda state, start, end, silent: state.level < _MAX_LEVELS and rule(state, start, end, silent)


def _bounded_quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if not state.src.startswith(">", state.bMarks[start] + state.tShift[start]):  # asked of every line: be quick
        return False
    depth = state.env.get("quotes", 0)
    if depth == _MAX_QUOTES or state.level >= _MAX_LEVELS:
        return False
    state.env["quotes"] = depth + 1
    is_quote = blockquote(state, start, end, silent)
    state.env["quotes"] = depth
    return is_quote


def _short_reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    last = state.lineMax
    state.lineMax = min(last, start + _DEFINITION_LINES)
    is_definition = reference(state, start, end, silent)
    state.lineMax = last
    return is_definition


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


def _with_kind(block: Block, lines: Sequence[str], mdx: bool) -> Block:
    """Tell comments from other HTML, or what counts as such in MDX."""
    if block.kind != ("text" if mdx else "html"):
        return block
    first = lines[block.line_start - 1]
    is_comment = mdx and _MODULE.match(first)
    if not is_comment and first.lstrip().startswith(("<!--", "{/*")):
        is_comment = _COMMENT.fullmatch("\n".join(lines[block.line_start - 1 : block.line_end]))
    return Block("comment", block.line_start, block.line_end) if is_comment else block


# --- headings --------------------------------------------------------------------------------------------


def heading_text(source: str, definitions: Mapping[str, object] | None = None) -> str:
    """What a reader sees of a heading: no emphasis, link targets, code marks, HTML tags or anchors.

    At most 200 characters. A shortcode of Hugo reads as its first quoted argument. `definitions` are the document's
    link definitions, as markdown-it leaves them in its environment.
    """
    source = _ATTRIBUTES.sub("", source[: 2 * HEADING_CHARS].rstrip()).strip()
    source = _SHORTCODE.sub(_argument, source).strip() or source
    if not _MARKUP.search(source):
        return source[:HEADING_CHARS]
    inline = _inline_parser().parseInline(source, dict(definitions or {}))[0].children or []
    text = " ".join("".join(_visible(inline)).split())
    return (text or source)[:HEADING_CHARS]


@cache
def _inline_parser() -> MarkdownIt:
    return read_wikilinks(MarkdownIt("commonmark").enable("strikethrough"))


def _argument(shortcode: re.Match[str]) -> str:
    quoted = _QUOTED.search(shortcode.group())
    return quoted[1] if quoted else ""


def _visible(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "image":
            yield from _visible(token.children or [])
