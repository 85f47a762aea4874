import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Chunking
from kebab_stream.ingest.chunk import chunk
from kebab_stream.ingest.document import Block
from kebab_stream.ingest.markdown import heading_text, markdown_blocks
from kebab_stream.ingest.parse import parse
from kebab_stream.ingest.read import split_lines
from tests.ingest.strategies import few, markdown_documents, markdown_noise
from tests.paths import SHARED

SPEC = SHARED / "data" / "torture" / "markdown" / "spec_examples.jsonl"


def blocks_of(text: str) -> list[Block]:
    return markdown_blocks(split_lines(text))


def test_every_kind_of_block_has_its_file_lines() -> None:
    text = """\
# One #

Two
===

Three *bold*
and a line
---
paragraph
goes on

```py
# no heading

```

| a |
|---|
| b |

<!-- note -->

<div>

***

    code

[ref]: /url
"""

    assert blocks_of(text) == [
        Block("heading", 1, 1, 1, "One"),
        Block("heading", 3, 4, 1, "Two"),
        Block("heading", 6, 8, 2, "Three bold and a line"),
        Block("text", 9, 10),
        Block("fence", 12, 15),
        Block("table", 17, 19),
        Block("comment", 21, 21),
        Block("html", 23, 23),
        Block("rule", 25, 25),
        Block("fence", 27, 27),
        Block("text", 29, 29),
    ]


def test_a_comment_with_text_after_it_is_no_mere_comment() -> None:
    assert blocks_of("<!-- a --> text\n\n<!-- b\n\nc -->\n") == [Block("html", 1, 1), Block("comment", 3, 5)]


def test_lists_and_quotes_are_taken_apart_and_their_headings_are_text() -> None:
    text = "- # item\n  more\n\n  ```\n  x\n  ```\n-\n- last\n\n> # quoted\n> text\n> > deeper\n"

    assert blocks_of(text) == [
        Block("text", 1, 1),
        Block("text", 2, 2),
        Block("fence", 4, 6),
        Block("text", 7, 7),
        Block("text", 8, 8),
        Block("text", 10, 10),
        Block("text", 11, 11),
        Block("text", 12, 12),
    ]


def test_an_unclosed_fence_ends_at_its_last_line_that_is_not_blank() -> None:
    assert blocks_of("a\n\n```\n# x\n\n\n") == [Block("text", 1, 1), Block("fence", 3, 4)]


def test_lines_of_nothing_but_unicode_spaces_are_blank() -> None:
    assert blocks_of("\u00a0\n\n\u3000\na\n\u00a0\n") == [Block("text", 4, 4)]


def test_mdx_has_components_in_place_of_html_and_modules_that_are_no_content() -> None:
    text = """\
import X from './x'
export const a = {
  b: 1
}

# Title <X kind="new" />

<X prop={`text ${a.b}`}>
# Inside
      ### Far inside
text {a.b}
</X>

{/* a
note */}

<!-- note -->

{a.b}
import is a word here
"""

    assert markdown_blocks(split_lines(text), mdx=True) == [
        Block("comment", 1, 4),
        Block("heading", 6, 6, 1, "Title"),
        Block("text", 8, 8),
        Block("heading", 9, 9, 1, "Inside"),
        Block("heading", 10, 10, 3, "Far inside"),
        Block("text", 11, 12),
        Block("comment", 14, 15),
        Block("comment", 17, 17),
        Block("text", 19, 20),
    ]
    assert blocks_of(text)[0].kind == "text"


def test_no_chunk_of_mdx_is_modules_alone() -> None:
    text = "import X from 'x'\n\n# A\n\ntext\n\n# B\n\nmore"

    assert [piece.text for piece in chunk(parse("a.MDX", text), Chunking())] == [
        text[: text.index("\n\n# B")],
        "# B\n\nmore",
    ]


def test_front_matter_is_not_looked_at() -> None:
    assert markdown_blocks(["---", "title: x", "---", "# A"], skip=3) == [Block("heading", 4, 4, 1, "A")]


def test_nesting_without_end_leaves_no_line_out() -> None:
    text = "".join("  " * depth + "- x\n" for depth in range(500)) + "\n# After\n"
    covered = [number for block in blocks_of(text) for number in range(block.line_start, block.line_end + 1)]

    assert covered == [*range(1, 501), 502]
    assert blocks_of(text)[-1].heading == "After"


@pytest.mark.parametrize(("depth", "kind"), [(8, "fence"), (9, "text")])
def test_quotes_in_quotes_are_taken_apart_up_to_eight(depth: int, kind: str) -> None:
    assert blocks_of(">" * depth + " ```\n\n# After") == [Block(kind, 1, 1), Block("heading", 3, 3, 1, "After")]  # type: ignore[arg-type]  # a kind


def test_a_definition_of_more_than_twenty_lines_is_text() -> None:
    text = "[a]: /u 'x\n" + "y\n" * 18 + "{}\n\n# [b][a]\n"

    assert blocks_of(text.format("z'")) == [Block("text", 1, 20), Block("heading", 22, 22, 1, "b")]
    assert blocks_of(text.format("y\nz'")) == [Block("text", 1, 21), Block("heading", 23, 23, 1, "[b][a]")]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("plain", "plain"),
        ("**bold** and _it_ and `a_b`", "bold and it and a_b"),
        ("[link](http://x.y/z_z) ![그림](a.png)", "link 그림"),
        ("snake_case_name", "snake_case_name"),
        ("A \\* B &amp; C", "A * B & C"),
        ("computed() {#computed}", "computed()"),
        ("Title { #id .class }", "Title"),
        ("Title {: .no_toc}", "Title"),
        ("Title {/* #anchor */}", "Title"),
        ('useId() <sup class="badge" data-text="3.5+" /> {#useid}', "useId()"),
        ('{{% heading "whatsnext" %}}', "whatsnext"),
        ('{{< tip text="파드" id="pod" >}}와 {{< skew x >}} {#a}', "파드와"),
        ("{{< x >}} {{ msg }}", "{{ msg }}"),
        ("{{< x >}}", "{{< x >}}"),
        ("~~old~~ 🎉 :tada: 👩‍👩‍👧 <!-- note -->", "old 🎉 :tada: 👩‍👩‍👧"),
        ("Props {size}", "Props {size}"),
        ("v-model <sup>3.4+</sup>", "v-model 3.4+"),
        ("`Vec<T>`", "Vec<T>"),
        ("<T>", "<T>"),
        ("two\nlines", "two lines"),
        ("x" * 1000, "x" * 200),
        ("", ""),
    ],
)
def test_headings_read_as_they_are_shown(source: str, text: str) -> None:
    assert heading_text(source) == text


@few
@given(markdown_documents | markdown_noise, st.booleans())
def test_blocks_are_in_order_and_cover_every_line_that_is_not_blank_once(text: str, mdx: bool) -> None:
    lines = split_lines(text)
    blocks = markdown_blocks(lines, mdx=mdx)
    covered = [number for block in blocks for number in range(block.line_start, block.line_end + 1)]

    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)
    assert all(lines[block.line_start - 1].strip() and lines[block.line_end - 1].strip() for block in blocks)


# --- the headings of the CommonMark and GFM examples, as their HTML has them -------------------------------


class TopHeadings(HTMLParser):
    """Collects headings outside of lists and quotes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self.depth = 0
        self.level = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag in ("ul", "ol", "blockquote")
        if re.fullmatch("h[1-6]", tag) and not self.depth:
            self.level = int(tag[1])
            self.found.append((self.level, ""))
        if tag == "img" and self.level:
            self.handle_data(dict(attrs).get("alt") or "")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in ("ul", "ol", "blockquote")
        if tag == f"h{self.level}":
            self.level = 0

    def handle_data(self, data: str) -> None:
        if self.level:
            level, text = self.found[-1]
            self.found[-1] = (level, text + data)


def spec_examples() -> Iterator[dict[str, str]]:
    for line in SPEC.read_text("utf-8").splitlines():
        example = json.loads(line)
        if example["ext"] in ("", "table") and "<h" not in example["markdown"]:
            yield example


@pytest.mark.skipif(not SPEC.exists(), reason="the shared data sets are not here")
def test_headings_are_those_of_the_specification() -> None:
    wrong = []
    for example in spec_examples():
        expected = TopHeadings()
        expected.feed(example["html"])
        wanted = [(level, " ".join(text.split())) for level, text in expected.found]
        found = [(block.level, block.heading) for block in blocks_of(example["markdown"]) if block.level]
        if found != wanted:
            wrong.append((example["suite"], example["n"], example["markdown"], wanted, found))

    assert wrong == []
