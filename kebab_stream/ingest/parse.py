"""Text to blocks: chooses the parser by the kind of file and says what the document is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from kebab_stream.ingest.code import code_blocks
from kebab_stream.ingest.document import Block, ParsedDocument
from kebab_stream.ingest.front_matter import front_matter
from kebab_stream.ingest.html import html_page
from kebab_stream.ingest.language import guess_language
from kebab_stream.ingest.markdown import markdown_blocks
from kebab_stream.ingest.media import media_of
from kebab_stream.ingest.obsidian import with_inline_tags
from kebab_stream.ingest.pdf import pdf_blocks
from kebab_stream.ingest.plain import paragraphs
from kebab_stream.ingest.read import split_lines
from kebab_stream.ingest.rst import rst_blocks, rst_fields


def parse(path: str, text: str) -> ParsedDocument:
    """Take a document apart. Never raises on any text.

    Args:
        path: its name decides how it is read; a name of unknown kind is read as plain text.
        text: what `decode` gave: the whole file, line ends of any kind, or the pages of a PDF.
    """
    media, code_lang = media_of(path) or ("text", None)
    if media == "code":
        return _code(path, split_lines(text), code_lang)
    parser = _PARSERS.get(media)
    return parser(path, text) if parser else _plain(path, split_lines(text))


def _code(path: str, lines: list[str], code_lang: str | None) -> ParsedDocument:
    return ParsedDocument(
        media="code",
        title=PurePosixPath(path).name,
        lines=tuple(lines),
        blocks=tuple(code_blocks(lines, code_lang)),
        lang=None,
        code_lang=code_lang,
    )


def _plain(path: str, lines: list[str]) -> ParsedDocument:
    title, blocks = PurePosixPath(path).stem, list(paragraphs(lines))
    return ParsedDocument(
        media="text",
        title=title,
        lines=tuple(lines),
        blocks=tuple(blocks),
        lang=_language(title, lines, blocks),
    )


def _pdf(path: str, text: str) -> ParsedDocument:
    lines, pages, blocks = pdf_blocks(text)
    title = PurePosixPath(path).stem
    return ParsedDocument(
        media="pdf",
        title=title,
        lines=tuple(lines),
        blocks=tuple(blocks),
        lang=_language(title, lines, blocks),
        pages=tuple(pages),
    )


def _html(path: str, text: str) -> ParsedDocument:
    page = html_page(text)
    title = page.title or PurePosixPath(path).stem
    written = _language(title, page.lines, page.blocks)
    # Many generators write lang="en" whatever the language is; letters of another script know better.
    is_believed = page.lang and (page.lang != "en" or written in ("en", "und"))
    return ParsedDocument(
        media="html",
        title=title,
        lines=tuple(page.lines),
        blocks=tuple(page.blocks),
        lang=page.lang if is_believed else written,
        tags=page.tags,
        created=page.created,
        modified=page.modified,
        file_lines=tuple(page.file_lines),
    )


def _rst(path: str, text: str) -> ParsedDocument:
    lines = split_lines(text)
    fields, blocks = rst_fields(lines), rst_blocks(lines)
    title = fields.title or _first_heading(blocks) or PurePosixPath(path).stem
    return ParsedDocument(
        media="rst",
        title=title,
        lines=tuple(lines),
        blocks=tuple(blocks),
        lang=fields.lang or _language(title, lines, blocks),
        tags=fields.tags,
        created=fields.created,
        modified=fields.modified,
    )


def _markdown(path: str, text: str) -> ParsedDocument:
    lines = split_lines(text)
    fields = front_matter(lines)
    content = markdown_blocks(lines, skip=fields.line_count, mdx=path.casefold().endswith(".mdx"))
    # A page of fields alone (a stub, a template, an entry of a catalogue) is found by what they say.
    blocks = content or list(paragraphs(lines))
    title = fields.title or _first_heading(blocks) or PurePosixPath(path).stem
    return ParsedDocument(
        media="markdown",
        title=title,
        lines=tuple(lines),
        blocks=tuple(blocks),
        lang=fields.lang or _language(title, lines, blocks),
        tags=with_inline_tags(fields.tags, lines, content),
        aliases=fields.aliases,
        trust_level=fields.trust_level,
        source_type=fields.source_type,
        created=fields.created,
        modified=fields.modified,
    )


def _first_heading(blocks: Iterable[Block]) -> str | None:
    """The first heading of the highest level."""
    return next((block.heading for block in blocks if block.level == 1 and block.heading), None)


def _language(title: str, lines: Sequence[str], blocks: Sequence[Block]) -> str:
    """Language of what is written for readers, without code; of the title where there is code only."""
    if not blocks:
        return "und"
    prose = "\n".join(
        line
        for block in blocks
        if block.kind in ("heading", "text", "table")
        for line in lines[block.line_start - 1 : block.line_end]
    )
    language = guess_language(prose)
    return guess_language(title) if language == "und" else language


_PARSERS: Mapping[str, Callable[[str, str], ParsedDocument]] = {
    "html": _html,
    "markdown": _markdown,
    "pdf": _pdf,
    "rst": _rst,
}
