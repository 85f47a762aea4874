"""Markdown that nobody would write, and files in every state: nothing fails, and nothing that is written is lost."""

import json
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab_stream.config import Chunking
from kebab_stream.errors import InvalidInputError
from kebab_stream.ingest.chunk import Piece, chunk
from kebab_stream.ingest.document import ParsedDocument
from kebab_stream.ingest.front_matter import front_matter
from kebab_stream.ingest.identity import ChunkIds, doc_id_of
from kebab_stream.ingest.parse import parse
from kebab_stream.ingest.read import decode
from tests.ingest.runs import Library
from tests.paths import SHARED

TORTURE = SHARED / "data" / "torture" / "markdown"
VAULT = TORTURE / "vault"
VAULT_FILES = sorted(path for path in VAULT.rglob("*") if path.is_file())
needs_data = pytest.mark.skipif(not TORTURE.exists(), reason="the shared data sets are not here")


def check(document: ParsedDocument, pieces: list[Piece]) -> None:
    """Every line of content is in a chunk, each chunk is what stands in its lines, and their ids differ."""
    lines = document.lines
    first = front_matter(lines).line_count if document.media == "markdown" else 0
    if not "".join(lines[first:]).strip():  # of a page of fields alone, these are the text
        first = 0
    written = {number for number, line in enumerate(lines, 1) if number > first and line.strip()}
    chunked = {number for piece in pieces for number in range(piece.line_start, piece.line_end + 1)}
    ids = ChunkIds(doc_id_of("notes", "a.md"))

    assert written <= chunked
    for piece in pieces:
        place = "\n".join(lines[piece.line_start - 1 : piece.line_end])
        assert piece.text == place or (piece.text in place and len(place) > Chunking().target_chars)
    assert len({ids.next(piece.text) for piece in pieces}) == len(pieces)


def spec_examples() -> Iterator[str]:
    for line in (TORTURE / "spec_examples.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)["markdown"]


@needs_data
@pytest.mark.parametrize("name", ["a.md", "a.mdx"])
def test_every_example_of_the_specifications_is_chunked_whole(name: str) -> None:
    examples = list(spec_examples())
    for text in examples:
        document = parse(name, text)
        check(document, chunk(document, Chunking()))

    assert len(examples) == 1375


@needs_data
def test_all_examples_in_one_file_are_chunked_whole() -> None:
    document = parse("a.md", "\n\n".join(spec_examples()))
    check(document, chunk(document, Chunking()))


def text_of(path: Path) -> str | None:
    try:
        return decode(path.name, path.read_bytes())
    except InvalidInputError:
        return None


@needs_data
def test_a_vault_of_odd_files_is_ingested(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    library.write({str(path.relative_to(VAULT)): path.read_bytes() for path in VAULT_FILES})
    files = {unicodedata.normalize("NFC", str(path.relative_to(VAULT))): path for path in VAULT_FILES}
    texts = {name: text_of(path) for name, path in files.items() if path.name != ".hidden.md"}
    report = library.ingest(library.root)
    chunks = library.rows(
        "SELECT doc_path, title, ordinal, text, line_start, line_end FROM documents LEFT JOIN chunks USING (doc_no)"
        " ORDER BY doc_path, ordinal"
    )
    documents = {path: parse(path, text) for path, text in texts.items() if text is not None}

    assert {path for path, *_ in chunks} == documents.keys()
    assert {problem.path for problem in report.errors} <= {path for path, text in texts.items() if text is None}
    for path, document in documents.items():
        pieces = chunk(document, Chunking())
        check(document, pieces)
        assert [row[1:] for row in chunks if row[0] == path] == [
            (document.title, ordinal, piece.text, piece.line_start, piece.line_end)
            for ordinal, piece in enumerate(pieces)
        ] or [(document.title, *4 * [None])]
    assert library.update() == f"0 0 {report.documents} 0"


@needs_data
def test_a_note_of_obsidian_has_tags_and_aliases_and_finds_its_heading(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    library.update({"note.md": (VAULT / "obsidian.md").read_bytes()})

    assert library.rows("SELECT tag FROM tags ORDER BY tag") == [
        *(("2024",), ("업무/보고",), ("태그-하나",), ("한글태그",), ("회의/주간",))
    ]
    assert library.rows("SELECT title, aliases, line_start, line_end FROM documents JOIN chunks USING (doc_no)") == [
        ("주간회의 #업무/보고 #태그-하나 #한글태그", '["주간 회의"]', 7, 21)
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blanks", ["", " \t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_front_matter_is_read_with_any_line_ends_blanks_and_byte_order_mark(
    tmp_path: Path, end: str, blanks: str, mark: str
) -> None:
    lines = [f"---{blanks}", "title: 제목", "tags: [a]", f"created: 2024-01-05{blanks}", f"---{blanks}", "본문 #b"]
    library = Library.at(tmp_path)
    library.update({"a.md": mark + end.join(lines)})

    assert library.rows("SELECT title, created, line_start, text FROM documents JOIN chunks USING (doc_no)") == [
        ("제목", "2024-01-05", 6, "본문 #b")
    ]
    assert library.rows("SELECT tag FROM tags") == [("a",), ("b",)]


HOSTILE = {
    "brackets": "[" * 100_000,
    "stars": "*a **b " * 14_000,
    "backticks": "`" * 100_000,
    "backticks of each length": "".join("`" * length + " #t " for length in range(1, 440)),
    "a line": "가나다 " * 250_000,
    "quotes on a line": ">" * 100_000,
    "quotes on all lines": ("> " * 200 + "a\n") * 250,
    "quotes that go on without marks": ">" * 60 + "a\n" + "b\n" * 5_000,
    "lists on a line": "- " * 50_000,
    "lists on all lines": ("- " * 25 + "x\n") * 500,
    "lists in lists": "".join("  " * depth + "- x\n" for depth in range(300)),
    "lists in quotes": ">" * 30 + "- " * 15 + "a\n" + "b\n" * 2_000,
    "a wide table": "|a" * 5_000 + "|\n" + "|-" * 5_000 + "|\n" + "|x" * 5_000 + "|\n",
    "a tall table": "| a | b |\n|---|---|\n" + "| x | y |\n" * 5_000,
    "a fence without end": "```\n" + "a\n" * 20_000,
    "a comment without end": "<!-- a\n" + "b\n" * 20_000,
    "comments without end": "%% a\n\n" * 4_000,
    "comment marks": "%%\n" * 10_000,
    "a tag without end": "<a " + "b " * 50_000,
    "a title without end": "[a]: /u 'x\n" + "y\n" * 20_000,
    "a label without end": "[a\n" + "b\n" * 20_000,
    "headings": "# *a **b [x]( `c {{< {# [[\n" * 2_000,
    "long headings": ("# a" + " " * 390 + "{\n") * 250,
    "tags": "#a" + "/a" * 50_000,
    "wikilinks": "[[ #a" * 20_000,
    "yaml": "---\ntags: " + "[" * 100_000 + "\n---\nx",
    "yaml without end": "---\n" + "a: b\n" * 20_000,
    "dates": "---\ndate: " + "1" * 100_000 + "\n---\nx",
    "toml": "+++\n" + "a." * 20_000 + "a = 1\ntags = " + "[" * 20_000 + "\n+++\nx",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_takes_long_to_parse(name: str) -> None:
    start = time.process_time()
    document = parse("a.md", HOSTILE[name])
    pieces = chunk(document, Chunking())

    assert time.process_time() - start < 5
    check(document, pieces)


@pytest.mark.parametrize(
    ("opening", "line", "times"),
    [("[a]: /u 'x\n", "y" * 300, 5), ("[a\n", "b" * 300, 5), (">" * 60 + "a\n", "b", 15)],
    ids=["title", "label", "quotes"],
)
def test_what_stands_before_lines_makes_them_take_a_few_times_as_long_at_most(
    opening: str, line: str, times: int
) -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        parse("a.md", text)
        return time.process_time() - start

    lines = f"{line}\n" * 10_000
    seconds("x")

    assert seconds(opening + lines) < times * max(seconds(lines) for _ in range(2))
