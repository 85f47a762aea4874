"""PDF to text, page by page, with pypdfium2, which comes with the extra `pdf`.

The text is what the file says its glyphs mean, in the order in which they are drawn. Pages that are pictures have
none: nothing here reads pictures. PDFium must not run in two threads at once; an ingest decodes in one.
"""

import re
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kebab_stream.errors import InvalidInputError
from kebab_stream.index.rows import PAGE_END
from kebab_stream.ingest.document import Block
from kebab_stream.ingest.plain import paragraphs

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_MOST_PAGES = 10_000
_MOST_DRAWN = 20_000_000
"""Characters and other things on all pages together, whether they are readable, visible or neither: half a second for
a million. A small file can hold far more than its size tells, since pages may share what is drawn on them. A full
page of a book has 3,000."""
_HYPHEN = re.compile("[\x02\xad\ufffe](?:\r?\n)?")
"""What PDFium gives for a hyphen that breaks a word at the end of a line."""
_NO_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffd\ufffe\uffff\ue000-\uf8ff]")
_UNREADABLE_SHARE = 0.3
_PASSWORD_ERROR = 4


@cache
def can_read_pdf() -> bool:
    """Whether the extra is installed."""
    return find_spec("pypdfium2") is not None


def pdf_text(data: bytes) -> str:
    """The text of all pages, with a form feed between them.

    A page whose glyphs have mostly no known meaning is empty, rather than full of noise.

    Raises:
        InvalidInputError: the extra is missing, the file is damaged or needs a password, or there is no text in it,
            or too much.
    """
    if not can_read_pdf():
        raise _refused("a PDF, which needs the extra `pdf`", "install kebab-stream[pdf]")
    import pypdfium2  # late and optional: 50 ms, for PDFs only

    try:
        with closing(pypdfium2.PdfDocument(data)) as document:
            pages = _page_texts(document)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD_ERROR:
            raise _refused("a PDF that needs a password", "save it without one") from error
        raise _refused("no PDF that can be read: it is damaged or incomplete", None) from error
    if not any(page.strip() for page in pages):
        raise _refused("a PDF without text: its pages may be pictures", "run it through OCR first")
    return PAGE_END.join(pages)


def pdf_blocks(text: str) -> tuple[list[str], list[int], list[Block]]:
    """Lines, the page of each of them from 1, and blocks, none of which is on two pages."""
    lines: list[str] = []
    pages: list[int] = []
    blocks: list[Block] = []
    for page, page_text in enumerate(text.split(PAGE_END), 1):
        first = len(lines) + 1
        lines += page_text.split("\n")
        pages += [page] * (len(lines) - len(pages))
        blocks += paragraphs(lines, range(first, len(lines) + 1))
    return lines, pages, blocks


def _page_texts(document: "PdfDocument") -> list[str]:
    if len(document) > _MOST_PAGES:
        raise _refused(f"a PDF with more than {_MOST_PAGES:,} pages", "split it")
    texts, left = [], _MOST_DRAWN
    for number in range(len(document)):
        text, drawn = _page_text(document, number, left)
        texts.append(text)
        left -= drawn
    return texts


def _page_text(document: "PdfDocument", number: int, most: int) -> tuple[str, int]:
    """The text of a page, and how much is drawn on it, which must not be more than `most`."""
    with closing(document[number]) as page:
        drawn = _checked(_count_objects(page), most)
        with closing(page.get_textpage()) as text_page:
            drawn = _checked(drawn + text_page.count_chars(), most)
            return _cleaned(text_page.get_text_bounded()), drawn


def _count_objects(page: "PdfPage") -> int:
    from pypdfium2 import raw  # late, see above

    return int(raw.FPDFPage_CountObjects(page))


def _checked(drawn: int, most: int) -> int:
    if drawn > most:
        raise _refused(f"a PDF with more than {_MOST_DRAWN:,} characters and shapes", "split it")
    return drawn


def _cleaned(text: str) -> str:
    """Lines without hyphens at their ends and without noise; nothing if most of it is noise."""
    text = _HYPHEN.sub("", text).replace("\r\n", "\n")
    if len(_NO_CHARACTER.findall(text)) > _UNREADABLE_SHARE * len(text):
        return ""
    return "\n".join(line.rstrip() for line in _NO_CHARACTER.sub("", text).split("\n"))


def _refused(message: str, hint: str | None) -> InvalidInputError:
    return InvalidInputError(message, hint, {"problem": "pdf"})
