"""What Obsidian adds to Markdown: `#tags` in the text, `[[wikilinks]]` and `%% comments %%`.

Chunks stay as they were written; these only say what a document is about, how a heading reads, and which blocks are
no content.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from kebab_stream.ingest.document import MOST_TAGS, TAG_CHARS, Block

_SPAN_CHARS = 1000
"""How far the end of code and the like is looked for, so that openings without end take linear time."""

_TAG = (
    r"#(?<!\S#)(?P<tag>[^\s\x00-,.:-@\[-^`{-\u00bf\u2000-\u206f\u2e00-\u2e7f\u3000-\u3004\u3008-\u301f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+)"
)
"""Letters and digits of any script, marks, emoji, `_`, `-` and `/`, up to a blank or any other punctuation.

It begins with `#` and looks behind after that, which makes it quick to search for.
"""
_CANDIDATE = re.compile(_TAG)
_TAG_OR_NOT = re.compile(
    rf"\\."
    rf"|(?<!`)(?P<ticks>`+)(?!`).{{1,{_SPAN_CHARS}}}?(?<!`)(?P=ticks)(?!`)"  # code
    rf"|<[/!]?[A-Za-z-][^<>]{{0,{_SPAN_CHARS}}}>"  # HTML tags, comments, addresses
    rf"|%%.{{0,{_SPAN_CHARS}}}?%%"
    rf"|\[\[[^\[\]\n]{{1,{_SPAN_CHARS}}}\]\]"
    r"|\]:\s*\S+"  # where a link definition leads to
    rf"|{_TAG}",
    re.DOTALL,
)
_COMMENT = re.compile(r"\s*%%(?:[^%]|%(?!%))*%%\s*")
_LINK = re.compile(r"!?\[\[(?P<inner>[^\[\]\n]+)\]\](?![(\[])|\[\^[^\[\]\s]+\]")
"""A wikilink or embed, or the mark of a footnote."""
_IMAGE_SIZE = re.compile(r"\d+(?:x\d+)?")


# --- tags ------------------------------------------------------------------------------------------------


def with_inline_tags(tags: Iterable[str], lines: Sequence[str], blocks: Sequence[Block]) -> tuple[str, ...]:
    """The tags of the front matter, then those in the text, in order.

    As in Obsidian, a tag is `#` and letters, digits, `_`, `-` or `/`, not digits alone, after a blank or at the
    beginning of a line; not in code, HTML, comments or links. Tags that differ only in case are one, spelled as
    first seen. At most 100.
    """
    unique: dict[str, str] = {}
    for tag in chain(tags, _inline_tags(lines, blocks)):
        unique.setdefault(tag.casefold(), tag)
        if len(unique) == MOST_TAGS:
            break
    return tuple(unique.values())


def _inline_tags(lines: Sequence[str], blocks: Sequence[Block]) -> Iterator[str]:
    candidates = [number for number, line in enumerate(lines, 1) if "#" in line and _CANDIDATE.search(line)]
    for block in blocks if candidates else ():
        first, end = (bisect_left(candidates, number) for number in (block.line_start, block.line_end + 1))
        if first < end and block.kind in ("text", "heading", "table"):
            yield from _tags_in("\n".join(lines[block.line_start - 1 : block.line_end]))


def _tags_in(text: str) -> Iterator[str]:
    for match in _TAG_OR_NOT.finditer(text):
        tag = unicodedata.normalize("NFC", (match["tag"] or "")[: TAG_CHARS + 1].strip("/"))
        name = tag.strip("-/")
        if name and not name.isdigit() and len(tag) <= TAG_CHARS:
            yield tag


# --- comments --------------------------------------------------------------------------------------------


def with_comments(blocks: Sequence[Block], lines: Sequence[str]) -> list[Block]:
    """The same blocks; `%% … %%` that is a paragraph of its own, and all between two lines `%%`, is a comment."""
    marks = [
        number
        for block in blocks
        if block.kind == "text"
        for number in range(block.line_start, block.line_end + 1)
        if lines[number - 1].strip() == "%%"
    ]
    opening, closing = marks[: len(marks) // 2 * 2 : 2], marks[1::2]
    return [_comment(block) if _is_comment(block, lines, opening, closing) else block for block in blocks]


def _is_comment(block: Block, lines: Sequence[str], opening: Sequence[int], closing: Sequence[int]) -> bool:
    span = bisect_left(closing, block.line_end)
    if span < len(closing) and opening[span] <= block.line_start:
        return True
    return block.kind == "text" and bool(_COMMENT.fullmatch("\n".join(lines[block.line_start - 1 : block.line_end])))


def _comment(block: Block) -> Block:
    return replace(block, kind="comment", level=0, heading="")


# --- links -----------------------------------------------------------------------------------------------


def read_wikilinks(parser: MarkdownIt) -> MarkdownIt:
    """Have an inline parser read `[[page|alias]]` as the text `alias`, and `[[page#part]]` as `page > part`."""
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    return parser


def _wikilink(state: StateInline, silent: bool) -> bool:
    link = _LINK.match(state.src, state.pos, state.posMax)
    if not link:
        return False
    if not silent:
        state.push("text", "", 0).content = _shown(link["inner"] or "")
    state.pos = link.end()
    return True


def _shown(inner: str) -> str:
    target, _, alias = inner.partition("|")
    if alias.strip() and not _IMAGE_SIZE.fullmatch(alias.strip()):
        return alias.strip()
    return " > ".join(part for part in target.strip().rstrip("\\").split("#") if part and part[0] != "^")
