"""What a parser hands to the chunker: the lines of a document and the blocks they form."""

from dataclasses import dataclass
from typing import Literal

from kebab_stream.model import TrustLevel

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """A document taken apart, nothing of it stored yet.

    `blocks` are in order and do not overlap; every line that is not blank, front matter aside, is in one of them.
    """

    media: str
    title: str
    lines: tuple[str, ...]
    """All lines of the file, without their ends."""
    blocks: tuple[Block, ...]
    lang: str | None
    """Language of the text, `und` if it cannot be told, None for source code."""
    code_lang: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    trust_level: TrustLevel | None = None
    source_type: str | None = None
