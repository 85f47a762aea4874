import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Chunking
from kebab_stream.errors import InvalidInputError
from kebab_stream.ingest.chunk import chunk
from kebab_stream.ingest.document import Block, ParsedDocument
from kebab_stream.ingest.parse import parse
from kebab_stream.ingest.read import decode
from kebab_stream.ingest.windows import windows
from tests.ingest.strategies import few, markdown_documents, markdown_noise
from tests.paths import SHARED

VAULT = SHARED / "data" / "torture" / "markdown" / "vault"
VAULT_FILES = sorted(path for path in VAULT.rglob("*") if path.is_file())


def test_a_page_of_front_matter_alone_is_the_text_of_its_fields() -> None:
    parsed = parse("stub.md", "---\ntitle: Concepts\nweight: 20\n---\n\n")

    assert [(block.kind, block.line_start, block.line_end) for block in parsed.blocks] == [("text", 1, 4)]
    assert parsed.title == "Concepts"


def test_markdown_has_front_matter_headings_and_a_language() -> None:
    fields = ["title: 안내", "tags: [a]", "aliases: b", "trust_level: primary", "source_type: wiki"]
    lines = ["---", *fields, "---", "# 제목", "본문"]

    assert parse("docs/x.md", "\r\n".join(lines)) == ParsedDocument(
        media="markdown",
        title="안내",
        lines=tuple(lines),
        blocks=(Block("heading", 8, 8, 1, "제목"), Block("text", 9, 9)),
        lang="ko",
        tags=("a",),
        aliases=("b",),
        trust_level="primary",
        source_type="wiki",
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: F\n---\n# H", "F"),
        ("---\ntitle:\n---\n## two\n# *H*\n# I", "H"),
        ("#\n# H", "H"),
        ("> # quoted\n\n## two", "file name"),
        ("", "file name"),
    ],
)
def test_the_title_is_stated_or_the_first_top_heading_or_the_file_name(text: str, title: str) -> None:
    assert parse("a/file name.md", text).title == title


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("---\nlang: en-GB\n---\n한국어 본문", "en"),
        ("```\n" + "code in latin letters\n" * 50 + "```\n한국어 설명", "ko"),
        ("<script>\n" + "const x = ref(null)\n" * 50 + "</script>\n\n한국어 설명", "ko"),
        ("---\ntitle: 목차만\n---\n", "ko"),
        ("# 123", "und"),
    ],
)
def test_the_language_is_that_of_the_prose(text: str, lang: str) -> None:
    assert parse("1.md", text).lang == lang


@pytest.mark.parametrize("name", ["note.md", "note.txt", "note.html", "note.rst", "\ud55c\uad6d.md"])
def test_what_is_empty_is_in_no_language(name: str) -> None:
    assert parse(name, " \n").lang == "und"


def test_source_code_has_a_code_language_and_no_other() -> None:
    assert parse("src/a.py", "# 한국어 주석\nx = 1\n") == ParsedDocument(
        media="code",
        title="a.py",
        lines=("# 한국어 주석", "x = 1"),
        blocks=(Block("text", 1, 2),),
        lang=None,
        code_lang="python",
    )


@pytest.mark.parametrize("path", ["a.txt", "README", "a.xyz"])
def test_other_text_is_read_as_paragraphs(path: str) -> None:
    document = parse(path, "# 제목 아님\n\nb")

    assert (document.media, document.blocks) == ("text", (Block("text", 1, 1), Block("text", 3, 3)))


def test_a_page_is_an_extract_with_the_lines_of_its_file() -> None:
    source = "<title>T</title>\n<html lang=de>\n<meta name=keywords content=a>\n<h1>Eins</h1>\n\n\n<p>zwei"

    assert parse("x/page.html", source) == ParsedDocument(
        media="html",
        title="T",
        lines=("Eins", "", "zwei"),
        blocks=(Block("heading", 1, 1, 1, "Eins"), Block("text", 3, 3)),
        lang="de",
        tags=("a",),
        file_lines=(4, 4, 7),
    )
    pieces = chunk(parse("x/page.html", source), Chunking())
    assert [(piece.line_start, piece.line_end) for piece in pieces] == [(4, 7)]


@pytest.mark.parametrize(
    ("source", "lang"),
    [
        ("<html lang=ko-KR><p>text", "ko"),
        ("<html lang=en><p>한국어로 쓴 글", "ko"),
        ("<html lang=en><p>short", "en"),
        ("<html lang=''><p>한국어로 쓴 글", "ko"),
        ("<html lang=fr><p>한국어로 쓴 글", "fr"),
        ("<html><pre>def f(): pass</pre><p>한국어로 쓴 글", "ko"),
    ],
)
def test_a_page_is_believed_what_language_it_is_in_unless_its_letters_say_otherwise(source: str, lang: str) -> None:
    assert parse("a.html", source).lang == lang


def test_a_page_without_a_title_has_the_name_of_its_file() -> None:
    assert parse("x/page one.html", "<p>text").title == "page one"


def test_restructured_text_keeps_its_lines_and_has_headings() -> None:
    lines = ["안내", "====", "", ":tags: a, b", ":date: 2024-05-06", "", "글", "", "둘", "--"]

    assert parse("x.rst", "\n".join(lines)) == ParsedDocument(
        media="rst",
        title="안내",
        lines=tuple(lines),
        blocks=(
            Block("heading", 1, 2, 1, "안내"),
            Block("text", 4, 5),
            Block("text", 7, 7),
            Block("heading", 9, 10, 2, "둘"),
        ),
        lang="ko",
        tags=("a", "b"),
        created="2024-05-06",
    )


def test_pages_of_a_pdf_are_never_in_one_block_or_chunk() -> None:
    document = parse("x/report.pdf", "one\ntwo\f\fthree\n\nfour")

    assert document == ParsedDocument(
        media="pdf",
        title="report",
        lines=("one", "two", "", "three", "", "four"),
        blocks=(Block("text", 1, 2), Block("text", 4, 4), Block("text", 6, 6)),
        lang="en",
        pages=(1, 1, 2, 3, 3, 3),
    )
    assert [(piece.text, piece.page) for piece in chunk(document, Chunking())] == [
        ("one\ntwo", 1),
        ("three\n\nfour", 3),
    ]


@few
@given(
    st.sampled_from(["a.md", "a.txt", "a.py", "a.html", "a.rst", "a.pdf"]),
    markdown_documents | markdown_noise | st.text(),
)
def test_no_text_can_fail(path: str, text: str) -> None:
    assert parse(path, text) == parse(path, text)


@pytest.mark.parametrize("path", VAULT_FILES, ids=lambda path: path.name)
def test_files_made_to_break_parsers_take_no_time(path: Path) -> None:
    try:
        text = decode(path.name, path.read_bytes())
    except InvalidInputError:
        assert path.name in {"invalid-utf8.md", "nul.md"}
        return

    start = time.process_time()
    for piece in chunk(parse(path.name, text), Chunking()):
        windows(piece.text)

    assert time.process_time() - start < 2
