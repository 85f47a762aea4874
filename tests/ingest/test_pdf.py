import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Chunking
from kebab_stream.errors import InvalidInputError
from kebab_stream.ingest import pdf as pdf_module
from kebab_stream.ingest.chunk import chunk
from kebab_stream.ingest.document import Block
from kebab_stream.ingest.parse import parse
from kebab_stream.ingest.pdf import pdf_blocks
from kebab_stream.ingest.read import decode
from tests.ingest.pdfs import pdf
from tests.ingest.strategies import few

BY_HAND = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R
/Resources<</Font<</F <</Type/Font/Subtype/Type1/BaseFont/Courier>>>>>>>> endobj
4 0 obj <</Length 38>> stream
BT /F 12 Tf 20 50 Td (Hello PDF) Tj ET
endstream endobj
trailer <</Root 1 0 R>>
%%EOF
"""


def shared(content: bytes, pages: int, missing: int = 0) -> bytes:
    """A PDF of pages that all have the same content; after them some that are not there, which make it damaged."""
    packed = zlib.compress(content, 9)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 3 0 R/Resources<</Font<</F"
    page += b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>>>>>>>"
    kids = b" ".join(b"%d 0 R" % number for number in range(4, 4 + pages + missing))
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages + missing),
        b"<</Length %d/Filter/FlateDecode>> stream\n%s\nendstream" % (len(packed), packed),
        *[page] * pages,
    ]
    objects = b"".join(b"%d 0 obj %s endobj\n" % numbered for numbered in enumerate(parts, 1))
    return b"%PDF-1.4\n" + objects + b"trailer <</Root 1 0 R>>\n%%EOF"


def text_of(line: bytes, lines: int) -> bytes:
    return b"BT /F 1 Tf 20 50 Td " + b"(%s) Tj " % line * lines + b"ET"


def test_pages_are_lines_of_text_with_a_form_feed_between_them() -> None:
    data = pdf(["한국어 문서를 검색한다", "두 번째 줄 ABC"], [], ["English page", "last line"])

    assert decode("a.pdf", data) == "한국어 문서를 검색한다\n두 번째 줄 ABC\f\fEnglish page\nlast line"


def test_a_file_that_follows_the_format_loosely_is_read_all_the_same() -> None:
    assert decode("UPPER.PDF", BY_HAND) == "Hello PDF"


def test_a_word_that_is_broken_at_the_end_of_a_line_is_whole_again() -> None:
    assert decode("a.pdf", pdf(["about infor-", "mation"])) == "about information"


def test_a_hit_in_a_pdf_has_its_page() -> None:
    data = pdf(["사과에 대하여"], ["배에 대하여"], [f"line {number}" for number in range(30)])
    pieces = chunk(parse("a.pdf", decode("a.pdf", data)), Chunking(target_chars=100, overlap_chars=0, max_chars=200))

    assert [(piece.text, piece.page) for piece in pieces[:2]] == [("사과에 대하여", 1), ("배에 대하여", 2)]
    assert {piece.page for piece in pieces[2:]} == {3}
    assert len(pieces) > 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "damaged"),
        (b"no pdf", "damaged"),
        (b"%PDF-1.7\n\0\1\2", "damaged"),
        (pdf(["text"])[:300], "damaged"),
        (pdf(["text"], password="secret"), "password"),
        (pdf([], []), "without text"),
    ],
)
def test_what_has_no_text_to_read_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        decode("a.pdf", data)

    assert caught.value.details == {"problem": "pdf"}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(text_of(b"fifty characters " * 3, 40), id="text"),
        pytest.param(text_of(b"fifty characters " * 3, 40).replace(b"20 50", b"2000 5000"), id="text out of sight"),
        pytest.param(b"0 0 m 10 10 l S\n" * 2000, id="shapes"),
    ],
)
def test_reading_stops_at_the_page_where_it_is_too_much(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(pdf_module, "_MOST_DRAWN", 5000)

    with pytest.raises(InvalidInputError, match="more than 5,000 characters and shapes") as caught:
        decode("a.pdf", shared(content, 3, missing=1))
    assert caught.value.hint == "split it"
    with pytest.raises(InvalidInputError, match="damaged"):
        decode("a.pdf", shared(content, 1, missing=1))


def test_a_pdf_of_too_many_pages_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_module, "_MOST_PAGES", 3)

    assert decode("a.pdf", shared(text_of(b"a", 1), 3)) == "a\fa\fa"
    with pytest.raises(InvalidInputError, match="more than 3 pages"):
        decode("a.pdf", shared(text_of(b"a", 1), 3, missing=1))


def test_a_pdf_that_opens_without_a_password_is_read() -> None:
    assert decode("a.pdf", pdf(["locked for printing"], password="")) == "locked for printing"


def test_glyphs_without_a_meaning_are_no_text() -> None:
    private = BY_HAND.replace(b"/BaseFont/Courier", b"/BaseFont/Courier/ToUnicode 5 0 R").replace(
        b"trailer",
        b"5 0 obj <</Length 120>> stream\n/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange"
        b" <00> <ff> endcodespacerange 1 beginbfrange <00> <ff> <E000> endbfrange endcmap\nendstream endobj\ntrailer",
    )
    with pytest.raises(InvalidInputError, match="without text"):
        decode("a.pdf", private)


def test_without_the_extra_a_pdf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_module, "can_read_pdf", lambda: False)

    with pytest.raises(InvalidInputError, match="extra") as caught:
        decode("a.pdf", BY_HAND)
    assert caught.value.hint == "install kebab-stream[pdf]"


def test_the_library_is_loaded_for_a_pdf_only() -> None:
    program = """
import sys
from kebab_stream.ingest.read import decode
from kebab_stream.ingest.pdf import can_read_pdf
assert can_read_pdf() and decode("a.md", b"text") == "text"
assert "pypdfium2" not in sys.modules and "chardet" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@given(st.text(st.sampled_from("ab \n\f가")))
def test_no_block_is_on_two_pages_and_every_line_is_in_one(text: str) -> None:
    lines, pages, blocks = pdf_blocks(text)

    assert lines == text.replace("\f", "\n").split("\n")
    assert pages == [page for page, content in enumerate(text.split("\f"), 1) for _ in content.split("\n")]
    assert all(pages[block.line_start - 1] == pages[block.line_end - 1] for block in blocks)
    covered = [number for block in blocks for number in range(block.line_start, block.line_end + 1)]
    assert covered == [number for number, line in enumerate(lines, 1) if line.strip()]
    assert all(isinstance(block, Block) for block in blocks)


@few
@given(st.integers(0, 1500), st.binary(max_size=8))
def test_a_damaged_pdf_is_a_text_or_an_error(place: int, damage: bytes) -> None:
    data = BY_HAND + pdf(["text"])[:1000]
    try:
        text = decode("a.pdf", data[:place] + damage + data[place + len(damage) :])
    except InvalidInputError:
        return
    assert text.strip()
