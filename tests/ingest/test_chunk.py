import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from kebab_stream.config import Chunking
from kebab_stream.ingest.chunk import Piece, chunk
from kebab_stream.ingest.code import code_blocks
from kebab_stream.ingest.document import Block, BlockKind, ParsedDocument
from kebab_stream.ingest.parse import parse
from tests.ingest.code_samples import SOURCES
from tests.ingest.strategies import few, markdown_documents, markdown_noise, one_line
from tests.paths import SHARED

CORPORA = SHARED / "corpora"
CORPUS_FILES = sorted(CORPORA.rglob("*.md"))[::7]


def sizes(target: int, overlap: int, most: int) -> Chunking:
    return Chunking(target_chars=target, overlap_chars=overlap, max_chars=most)


DEFAULT = Chunking()
SMALL = sizes(60, 20, 150)


def pieces_of(text: str, sizes: Chunking = DEFAULT, path: str = "a.md") -> list[Piece]:
    return chunk(parse(path, text), sizes)


def texts_of(text: str, sizes: Chunking = DEFAULT, path: str = "a.md") -> list[str]:
    return [piece.text for piece in pieces_of(text, sizes, path)]


# --- sections --------------------------------------------------------------------------------------------


def test_a_section_is_a_chunk_with_its_headings_and_lines() -> None:
    text = "intro\n\n# A\n\none\n\n### B\ntwo\n\n\n## C\n\nthree\n\n# D\nfour\n"

    assert pieces_of(text) == [
        Piece("intro", (), None, 1, 1, None),
        Piece("# A\n\none", ("A",), None, 3, 5, None),
        Piece("### B\ntwo", ("A", "B"), None, 7, 8, None),
        Piece("## C\n\nthree", ("A", "C"), None, 11, 13, None),
        Piece("# D\nfour", ("D",), None, 15, 16, None),
    ]


def test_a_heading_without_content_goes_with_the_next_section() -> None:
    text = "# A\n\n---\n\n<!-- overview -->\n\n## B\n\n### C\n\ntext\n\n## D\n## E\nmore"

    assert pieces_of(text) == [
        Piece("# A\n\n---\n\n<!-- overview -->\n\n## B\n\n### C\n\ntext", ("A", "B", "C"), None, 1, 11, None),
        Piece("## D\n## E\nmore", ("A", "E"), None, 13, 15, None),
    ]


def test_headings_at_the_end_go_with_the_chunk_before() -> None:
    assert pieces_of("# A\ntext\n## B\n### C\n") == [Piece("# A\ntext\n## B\n### C", ("A",), None, 1, 4, None)]


def test_a_document_of_headings_only_is_chunks_under_their_own_headings() -> None:
    found = pieces_of("\n".join(f"# Heading {number}" for number in range(20)), SMALL)

    assert [(piece.line_start, piece.line_end, piece.heading_path) for piece in found] == [
        (1, 5, ("Heading 4",)),
        (6, 10, ("Heading 9",)),
        (11, 14, ("Heading 13",)),
        (15, 20, ("Heading 17",)),
    ]


def test_an_empty_heading_closes_sections_but_is_in_no_path() -> None:
    assert [piece.heading_path for piece in pieces_of("# A\na\n## B\nb\n##\nc")] == [("A",), ("A", "B"), ("A",)]


@pytest.mark.parametrize("text", ["", "\n \n\t\n"])
def test_a_document_without_text_has_no_chunks(text: str) -> None:
    assert pieces_of(text) == []


def test_front_matter_is_in_no_chunk_but_counts_as_lines() -> None:
    assert pieces_of("---\ntitle: x\n---\n\ntext") == [Piece("text", (), None, 5, 5, None)]


# --- sizes -----------------------------------------------------------------------------------------------


def test_a_long_section_is_packed_block_by_block_with_overlap() -> None:
    text = "# A\n\n" + "a" * 40 + "\n\nb\nb2\n\n" + "c" * 40 + "\n\n" + "d" * 10 + "\n\n" + "e" * 50

    assert [(piece.line_start, piece.line_end, piece.heading_path) for piece in pieces_of(text, SMALL)] == [
        (1, 6, ("A",)),
        (5, 10, ("A",)),
        (12, 12, ("A",)),  # with "d" before it, it would not fit
    ]


def test_the_overlap_may_be_as_long_as_it_is_allowed_to_be() -> None:
    first, second, third = "a" * 30, "b" * 20, "c" * 30

    assert texts_of(f"{first}\n{second}\n\n{third}", SMALL) == [f"{first}\n{second}", f"{second}\n\n{third}"]


def test_a_heading_as_long_as_a_text_is_cut_like_one() -> None:
    found = pieces_of("# " + "word " * 30 + "\n\ntext", SMALL)

    assert len(found) == 3
    assert all(len(piece.text) <= SMALL.target_chars for piece in found)


def test_a_heading_stays_with_a_fence_that_is_larger_than_the_target() -> None:
    fence = "```\n" + "code line\n" * 12 + "```"

    assert texts_of(f"# A\n\n{fence}\n\nafter", SMALL) == [f"# A\n\n{fence}", "after"]


def test_no_overlap_begins_inside_a_fence() -> None:
    fence = "```\n" + "x\n" * 20 + "```"

    assert texts_of(f"{fence}\n\n" + "word " * 9 + "end", SMALL) == [fence, "word " * 9 + "end"]


def test_a_fence_larger_than_the_maximum_is_cut_between_lines_at_the_maximum() -> None:
    lines = ["```", *(f"line {number:04}" for number in range(40)), "```"]

    assert (
        texts_of("\n".join(lines), SMALL)
        == [
            "\n".join(lines[:15]),  # 3 + 14 * 10 characters and 14 line ends would be more than 150 with one more
            "\n".join(lines[15:30]),
            "\n".join(lines[30:]),
        ]
    )


def test_a_long_paragraph_is_cut_between_lines_and_repeats_whole_lines() -> None:
    lines = [f"{number} " + "x" * 13 for number in range(1, 8)]

    assert texts_of("\n".join(lines), SMALL) == ["\n".join(lines[:3]), "\n".join(lines[2:5]), "\n".join(lines[4:])]


def test_pieces_of_an_overlong_line_are_sentences_that_cite_the_whole_line() -> None:
    sentences = ["그리고 이것은 조금 더 긴 문장이라서 따로 간다.", "가나다라 마바사 아자차카 타파하 이다.", "짧다."]
    last = "마지막 문장은 다음 조각에 들어간다."

    assert pieces_of("# A\n" + " ".join([*sentences, last]), SMALL) == [
        Piece("# A\n" + " ".join(sentences), ("A",), None, 1, 2, None),
        Piece("짧다. " + last, ("A",), None, 2, 2, None),
    ]


def test_words_without_end_are_cut_between_graphemes() -> None:
    family = "👩‍👩‍👧‍👦"

    assert all(regex.fullmatch(rf"(?:{family})+", text) for text in texts_of(family * 100, SMALL))


def test_code_without_symbols_is_cut_at_blank_lines_first() -> None:
    functions = [f"function f{number}()\n    a = {number}\n\n    return a" for number in range(4)]

    assert texts_of("\n\n".join(functions), sizes(80, 0, 150), "a.jl") == [
        "\n\n".join(functions[:2]),
        "\n\n".join(functions[2:]),
    ]


def test_a_long_definition_is_cut_at_its_own_blank_lines() -> None:
    parts = [
        "class A:\n    one = 1\n    two = 2",
        "    def f(self):\n        return 1",
        "    def g(self):\n        return 2",
    ]

    assert texts_of("\n\n".join(parts), sizes(60, 0, 150), "a.jl") == parts


def test_code_has_lines_and_no_headings() -> None:
    assert pieces_of("\n# comment\nx = 1\n", path="a.py") == [Piece("# comment\nx = 1", (), None, 2, 3, None)]


# --- definitions -----------------------------------------------------------------------------------------

STORE = """\
import os

LIMIT = 3


class Store:
    \"\"\"Docs.\"\"\"

    def open(self):
        return 1

    def close(self):
        return 2


def main():
    Store()
    return 3
"""


def symbols_of(text: str, sizes: Chunking = DEFAULT, path: str = "a.py") -> list[tuple[int, int, str | None]]:
    return [(piece.line_start, piece.line_end, piece.symbol) for piece in pieces_of(text, sizes, path)]


def test_a_function_is_a_chunk_and_so_is_a_class_that_fits_the_target() -> None:
    assert symbols_of(STORE) == [(1, 13, "Store"), (16, 18, "main")]


def test_a_larger_class_is_its_members_and_what_is_before_them() -> None:
    assert symbols_of(STORE, sizes(80, 20, 150)) == [
        (1, 7, "Store"),
        (9, 10, "Store.open"),
        (12, 13, "Store.close"),
        (16, 18, "main"),
    ]


def test_the_line_that_begins_a_large_class_goes_with_its_first_member() -> None:
    members = [f"    def f{number}(self):\n        return {number}" for number in range(4)]

    assert symbols_of("\n\n".join(["class A:", *members]), SMALL) == [
        (1, 4, "A.f0"),
        (6, 7, "A.f1"),
        (9, 10, "A.f2"),
        (12, 13, "A.f3"),
    ]


def test_every_piece_of_a_large_function_has_its_symbol_and_overlaps_only_with_others_of_it() -> None:
    body = [f"    line{number} = {number}" for number in range(8)]

    assert symbols_of("\n".join(["def f():", *body, "def g():", *body]), SMALL) == [
        (1, 4, "f"),
        (4, 7, "f"),
        (7, 9, "f"),
        (10, 13, "g"),
        (13, 16, "g"),
        (16, 18, "g"),
    ]


def test_definitions_of_one_line_share_a_chunk_with_all_their_symbols() -> None:
    lines = [f"const f{number} = x => x + {number};" for number in range(7)]

    assert symbols_of("\n".join(["import a", "import b", *lines]), sizes(400, 0, 800), "a.js") == [
        (1, 3, "f0"),
        (4, 7, "f1, f2, f3, f4"),
        (8, 9, "f5, f6"),
    ]


def test_a_line_that_defines_nothing_goes_with_the_definition_before_it() -> None:
    text = "class A {\n  b() {\n    return 1;\n  }\n}\n\nmodule.exports = A;\n"

    assert symbols_of(text, path="a.js") == [(1, 7, "A")]
    assert symbols_of(text, sizes(50, 0, 150), path="a.js") == [(1, 5, "A"), (7, 7, None)]
    assert symbols_of(text + "const c = 1;\n", path="a.js") == [(1, 5, "A"), (7, 8, None)]


def test_a_few_lines_that_define_nothing_go_with_the_definition_after_them() -> None:
    header = "".join(f"import module_{number}\n" for number in range(4))

    assert symbols_of(header + "def f():\n    pass\n") == [(1, 4, None), (5, 6, "f")]
    assert symbols_of(header[len("import module_0\n") :] + "def f():\n    pass\n") == [(1, 5, "f")]


def test_comments_of_their_own_go_with_what_follows() -> None:
    text = "# License\n\nimport a\n\n# --- part ---\n\ndef f():\n    pass\n\n# end\n"

    assert symbols_of(text) == [(1, 10, "f")]


def test_resources_of_one_yaml_file_are_chunks() -> None:
    resources = [f"kind: {kind}\nmetadata:\n  name: web\n" for kind in ("Service", "Deployment")]

    assert symbols_of("---\n" + "---\n".join(resources), path="a.yaml") == [
        (1, 4, "Service/web"),
        (5, 8, "Deployment/web"),
    ]


# --- laws ------------------------------------------------------------------------------------------------

any_sizes = st.builds(
    lambda overlap, more, most: sizes(overlap + more, overlap, overlap + more + most),
    st.just(0) | st.integers(0, 200),
    st.integers(10, 1500),
    st.integers(0, 3000),
)
any_path = st.sampled_from(["a.md", "a.md", "a.md", "a.txt", "a.py", "a.yaml", "a.js"])


@st.composite
def parsed_documents(draw: st.DrawFn) -> ParsedDocument:
    """What no parser here gives: blocks of any kinds and lengths with pages, or symbols, and lines of another file."""
    has_pages = draw(st.booleans())
    lines: list[str] = []
    blocks: list[Block] = []
    pages: list[int] = []
    for number in range(draw(st.integers(0, 12))):
        lines += [""] * draw(st.integers(0, 2))
        start = len(lines) + 1
        lines += draw(st.lists(one_line, min_size=1, max_size=6))
        kind: BlockKind = draw(st.sampled_from(["text", "text", "heading", "fence", "table", "comment", "rule"]))
        symbol = None if has_pages else draw(st.sampled_from([None, "A", "A.f", "A.g", "A.B", "A.B.h", "c"]))
        depth = symbol.count(".") if symbol else 0
        level, heading = (draw(st.integers(1, 3)), f"h{number}") if kind == "heading" else (0, "")
        blocks.append(Block(kind, start, len(lines), level, heading, symbol, depth))
        pages += [max(pages, default=1) + draw(st.integers(0, 2))] * (len(lines) - len(pages))
    steps = draw(st.none() | st.lists(st.integers(0, 3), min_size=len(lines), max_size=len(lines)))
    return ParsedDocument(
        media="text",
        title="",
        lines=tuple(lines),
        blocks=tuple(blocks),
        lang=None,
        file_lines=None if steps is None else tuple(itertools.accumulate(steps, initial=1))[: len(lines)],
        pages=tuple(pages) if has_pages else None,
    )


def check_citations(document: ParsedDocument, pieces: list[Piece], sizes: Chunking) -> None:
    for piece in pieces:
        cited = document.lines[piece.line_start - 1 : piece.line_end]
        assert piece.text.strip()
        assert len(piece.text) <= sizes.max_chars
        assert piece.text in "\n".join(cited)
        if max(map(len, cited)) <= sizes.target_chars:
            assert piece.text == "\n".join(cited)
            assert cited[0].strip()
            assert cited[-1].strip()


def check_nothing_is_lost(document: ParsedDocument, pieces: list[Piece], sizes: Chunking) -> None:
    cited = {number for piece in pieces for number in range(piece.line_start, piece.line_end + 1)}
    covered = [number for block in document.blocks for number in range(block.line_start, block.line_end + 1)]
    assert cited >= {number for number in covered if document.lines[number - 1].strip()}
    if sizes.overlap_chars == 0:
        source = "".join(document.lines[number - 1] for number in covered)
        assert "".join("".join(piece.text for piece in pieces).split()) == "".join(source.split())


def check_fences_are_whole(document: ParsedDocument, pieces: list[Piece], sizes: Chunking) -> None:
    for block in document.blocks:
        size = len("\n".join(document.lines[block.line_start - 1 : block.line_end]))
        if block.kind in ("fence", "table") and size <= sizes.max_chars:
            for piece in pieces:
                assert not block.line_start < piece.line_start <= block.line_end
                assert not block.line_start <= piece.line_end < block.line_end


def check_order_and_overlap(document: ParsedDocument, pieces: list[Piece], sizes: Chunking) -> None:
    for before, after in itertools.pairwise(pieces):
        assert before.line_start <= after.line_start
        assert before.line_end <= after.line_end
        repeated = document.lines[after.line_start - 1 : before.line_end]
        if max(map(len, repeated), default=0) <= sizes.target_chars:
            assert len("\n".join(repeated)) <= sizes.overlap_chars
            assert before.line_end < after.line_end


def check(document: ParsedDocument, sizes: Chunking) -> list[Piece]:
    pieces = chunk(document, sizes)
    check_citations(document, pieces, sizes)
    check_nothing_is_lost(document, pieces, sizes)
    check_fences_are_whole(document, pieces, sizes)
    check_order_and_overlap(document, pieces, sizes)
    return pieces


@few
@given(any_path, markdown_documents, any_sizes)
def test_chunks_are_exact_complete_bounded_and_in_order(path: str, text: str, sizes: Chunking) -> None:
    check(parse(path, text), sizes)


@given(any_path, markdown_noise | st.text(), st.sampled_from([DEFAULT, SMALL, sizes(1, 0, 1), sizes(7, 3, 9)]))
def test_no_text_breaks_the_laws(path: str, text: str, sizes: Chunking) -> None:
    check(parse(path, text), sizes)


@few
@given(parsed_documents(), any_sizes)
def test_the_laws_hold_for_lines_of_other_files(document: ParsedDocument, sizes: Chunking) -> None:
    own_lines = replace(document, file_lines=None)
    pieces = check(own_lines, sizes)
    if document.file_lines is not None:
        assert chunk(document, sizes) == [
            replace(
                piece,
                line_start=document.file_lines[piece.line_start - 1],
                line_end=document.file_lines[piece.line_end - 1],
            )
            for piece in pieces
        ]


@few
@given(parsed_documents(), any_sizes)
def test_a_chunk_has_content_of_one_page_only(document: ParsedDocument, sizes: Chunking) -> None:
    document = replace(document, file_lines=None)
    content = _content_lines(document, sizes)
    for piece in chunk(document, sizes):
        for number in content & _lines_of(piece):
            assert piece.page == (document.pages[number - 1] if document.pages else None)


@few
@given(parsed_documents(), any_sizes)
def test_a_chunk_names_only_what_is_in_it_and_all_of_it(document: ParsedDocument, sizes: Chunking) -> None:
    assume(sizes.max_chars >= 2 * sizes.target_chars)  # else what is like a heading may have to stand alone
    document = replace(document, file_lines=None)
    content = _content_lines(document, sizes)
    for piece in chunk(document, sizes):
        held = {
            block.symbol
            for block in document.blocks
            if content & _lines_of(piece) & set(range(block.line_start, block.line_end + 1))
        }
        named = set(piece.symbol.split(", ")) if piece.symbol else set()
        assert not held or named <= held
        for symbol in held - {None}:
            assert any(name in (symbol, *symbol_path(symbol)) or name.startswith(f"{symbol}.") for name in named)


def symbol_path(symbol: str | None) -> list[str]:
    """What encloses a symbol."""
    return list(itertools.accumulate((symbol or "").split(".")[:-1], "{}.{}".format))


@few
@given(st.sampled_from(sorted(SOURCES)), any_sizes)
def test_the_laws_hold_for_source_code_of_all_languages(language: str, sizes: Chunking) -> None:
    lines = SOURCES[language].split("\n")
    blocks = tuple(code_blocks(lines, language))
    document = ParsedDocument(media="code", title="", lines=tuple(lines), blocks=blocks, lang=None, code_lang=language)
    pieces = check(document, sizes)
    for block in blocks:
        names = {
            name
            for piece in pieces
            if block.line_start <= piece.line_end and piece.line_start <= block.line_end
            for name in (piece.symbol or "").split(", ")
        }
        if block.symbol and block.kind != "comment":
            assert names & {block.symbol, *symbol_path(block.symbol)} or f"{block.symbol}." in "".join(names)


@few
@given(markdown_documents)
def test_no_chunk_is_only_headings_where_there_is_content(text: str) -> None:
    document = parse("a.md", text)
    content = _content_lines(document, DEFAULT)
    bare_chars = sum(len(line) + 1 for number, line in enumerate(document.lines, 1) if number not in content)
    assume(content and bare_chars <= DEFAULT.target_chars)  # a longer outline is chunks of its own

    assert all(content & _lines_of(piece) for piece in chunk(document, DEFAULT))


@few
@given(markdown_documents, any_sizes)
def test_a_chunk_stands_under_the_headings_of_its_first_content(text: str, sizes: Chunking) -> None:
    document = parse("a.md", text)
    content = _content_lines(document, sizes)
    for piece in chunk(document, sizes):
        first = min(content & _lines_of(piece), default=None)

        assert first is None or piece.heading_path == _headings_above(document.blocks, first)


def _content_lines(document: ParsedDocument, sizes: Chunking) -> set[int]:
    lines: set[int] = set()
    for block in document.blocks:
        numbers = range(block.line_start, block.line_end + 1)
        size = len("\n".join(document.lines[number - 1] for number in numbers))
        if block.kind not in ("heading", "rule", "comment") or size > sizes.target_chars:
            lines.update(numbers)
    return lines


def _lines_of(piece: Piece) -> set[int]:
    return set(range(piece.line_start, piece.line_end + 1))


def _headings_above(blocks: tuple[Block, ...], line: int) -> tuple[str, ...]:
    path: dict[int, str] = {}
    for block in blocks:
        if block.kind == "heading" and block.line_start <= line:
            path = {level: text for level, text in path.items() if level < block.level} | {block.level: block.heading}
    return tuple(text for text in path.values() if text)


@pytest.mark.skipif(not CORPUS_FILES, reason="the shared corpora are not here")
def test_the_laws_hold_on_real_documentation() -> None:
    total = chars = 0
    for path in CORPUS_FILES:
        pieces = check(parse(Path(path).name, path.read_text("utf-8")), DEFAULT)
        total += len(pieces)
        chars += sum(len(piece.text) for piece in pieces)

    assert 600 < chars / total < 900
