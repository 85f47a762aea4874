"""Text to blocks: chooses the parser by the kind of file and says what the document is."""

from pathlib import PurePosixPath

from kebab_stream.ingest.code import code_blocks
from kebab_stream.ingest.document import Block, ParsedDocument
from kebab_stream.ingest.front_matter import front_matter
from kebab_stream.ingest.language import guess_language
from kebab_stream.ingest.markdown import markdown_blocks
from kebab_stream.ingest.media import media_of
from kebab_stream.ingest.plain import paragraphs
from kebab_stream.ingest.read import split_lines

PARSER_VERSION = "2"
"""Changes whenever the same text may parse differently; documents parsed by another version are parsed again."""


def parse(path: str, text: str) -> ParsedDocument:
    """Take a document apart. Never raises on any text.

    Args:
        path: its name decides how it is read; a name of unknown kind is read as plain text.
        text: the whole file, line ends of any kind.
    """
    media, code_lang = media_of(path) or ("text", None)
    lines = split_lines(text)
    if media == "markdown":
        return _markdown(path, lines)
    if media == "code":
        blocks = code_blocks(lines)
        return ParsedDocument(
            media=media,
            title=PurePosixPath(path).name,
            lines=tuple(lines),
            blocks=tuple(blocks),
            lang=None,
            code_lang=code_lang,
        )
    return ParsedDocument(
        media=media,
        title=PurePosixPath(path).stem,
        lines=tuple(lines),
        blocks=tuple(paragraphs(lines)),
        lang=guess_language(text),
    )


def _markdown(path: str, lines: list[str]) -> ParsedDocument:
    fields = front_matter(lines)
    # A page of fields alone (a stub, a template, an entry of a catalogue) is found by what they say.
    blocks = list(markdown_blocks(lines, skip=fields.line_count)) or list(paragraphs(lines))
    first_heading = next((block.heading for block in blocks if block.level == 1 and block.heading), None)
    title = fields.title or first_heading or PurePosixPath(path).stem
    return ParsedDocument(
        media="markdown",
        title=title,
        lines=tuple(lines),
        blocks=tuple(blocks),
        lang=fields.lang or _language(title, lines, blocks),
        tags=fields.tags,
        aliases=fields.aliases,
        trust_level=fields.trust_level,
        source_type=fields.source_type,
    )


def _language(title: str, lines: list[str], blocks: list[Block]) -> str:
    """Language of what is written for readers, without code; of the title where there is no such text."""
    prose = "\n".join(
        line
        for block in blocks
        if block.kind in ("heading", "text", "table")
        for line in lines[block.line_start - 1 : block.line_end]
    )
    language = guess_language(prose)
    return guess_language(title) if language == "und" else language
