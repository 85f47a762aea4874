"""What a parser hands to the chunker: the lines of a document and the blocks they form."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kebab_stream.model import TrustLevel

MOST_TAGS = 100
TAG_CHARS = 300
HEADING_CHARS = 200
"""What is kept of the tags and headings of a document, whatever its format; the rest is text."""

BlockKind = Literal["heading", "text", "fence", "table", "html", "rule", "comment"]
"""`fence` is a code block of any kind, `rule` a thematic break, `comment` an HTML comment; all else is `text`."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines that belong together. The first and the last of them are not blank."""

    kind: BlockKind
    line_start: int
    """From 1."""
    line_end: int
    """Inclusive."""
    level: int = 0
    """1…6 for a heading, else 0."""
    heading: str = ""
    """The heading as plain text; may be empty even for a heading."""
    symbol: str | None = None
    """The name of what source code defines here, with what encloses it: `Store.open`."""
    depth: int = 0
    """How many definitions enclose it. The blocks that follow and have more are parts of this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """A document taken apart, nothing of it stored yet.

    `blocks` are in order and do not overlap; every line that is not blank, front matter aside, is in one of them.
    """

    media: str
    title: str
    lines: tuple[str, ...]
    """All lines of the text, without their ends; what chunks are stretches of."""
    blocks: tuple[Block, ...]
    lang: str | None
    """Language of the text, `und` if it cannot be told, None for source code."""
    code_lang: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    trust_level: TrustLevel | None = None
    source_type: str | None = None
    created: str | None = None
    """RFC 3339, or a plain date."""
    modified: str | None = None
    file_lines: tuple[int, ...] | None = None
    """Line of the file, from 1, that each of `lines` comes from, where the text is not the file's own; ascending."""
    pages: tuple[int, ...] | None = None
    """The page, from 1, of each of `lines`, in a file that has pages; ascending. No block spans two."""


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags with single spaces, each once, those that are too long cut; no more than may be."""
    cleaned = (" ".join(tag.split())[:TAG_CHARS] for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))[:MOST_TAGS]
