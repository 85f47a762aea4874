import io
import time

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kebab_stream.ingest.document import Block
from kebab_stream.ingest.rst import Fields, plain, rst_blocks, rst_fields
from tests.ingest.strategies import few

PAGE = """\
.. _top:

=====
안내서
=====

:Author: 김
:Date: 2024-05-06

Install ``kebab``
-----------------
Run::

    pip install
      x

    y

then go on.

- item::

    literal

  text

.. code-block:: python
   :linenos:

   def f():

       return 1

.. note:: Mind the gap.

   More of it.

.. a comment
   in two lines

+---+---+
| a | b |
+---+---+

===  ===
a    b
===  ===
1    2

3    4
===  ===

>>> 1 + 1
2

----

.. list-table::

   * - a
     - b

Quoted::

> one
> two

Sub
~~~
end
"""


def kinds(text: str) -> list[tuple[str, int, int]]:
    return [(block.kind, block.line_start, block.line_end) for block in rst_blocks(text.split("\n"))]


def test_every_kind_of_block_has_its_file_lines() -> None:
    assert kinds(PAGE) == [
        ("text", 1, 1),
        ("heading", 3, 5),
        ("text", 7, 8),
        ("heading", 10, 11),
        ("text", 12, 12),
        ("fence", 14, 17),
        ("text", 19, 19),
        ("text", 21, 21),
        ("fence", 23, 23),
        ("text", 25, 25),
        ("fence", 27, 32),
        ("text", 34, 34),
        ("text", 36, 36),
        ("comment", 38, 39),
        ("table", 41, 43),
        ("table", 45, 51),
        ("fence", 53, 54),
        ("rule", 56, 56),
        ("table", 58, 61),
        ("text", 63, 63),
        ("fence", 65, 66),
        ("heading", 68, 69),
        ("text", 70, 70),
    ]


def test_headings_have_levels_by_the_order_of_their_styles() -> None:
    headings = [(block.level, block.heading) for block in rst_blocks(PAGE.split("\n")) if block.kind == "heading"]

    assert headings == [(1, "안내서"), (2, "Install kebab"), (3, "Sub")]


def test_there_are_no_more_than_six_levels() -> None:
    text = "\n\n".join(f"Title\n{mark * 5}" for mark in "=-~^+'#*")

    assert [block.level for block in rst_blocks(text.split("\n"))] == [1, 2, 3, 4, 5, 6, 6, 6]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Title\n===", [("text", 1, 2)]),
        ("Title\n====", [("heading", 1, 2)]),
        ("제목\n===", [("text", 1, 2)]),
        ("제목\n====", [("heading", 1, 2)]),
        ("a\nTitle\n=====", [("text", 1, 3)]),
        ("- a\nTitle\n=====", [("text", 1, 1), ("heading", 2, 3)]),
        ("1. Title\n========", [("heading", 1, 2)]),
        ("- Title\n-------", [("text", 1, 2)]),
        ("  Title\n  =====", [("text", 1, 2)]),
        ("====\n Title\n====", [("heading", 1, 3)]),
        ("====\nTitle\n=====", [("text", 1, 3)]),
        ("a::\n\n  x\n\n y\n\nb", [("text", 1, 1), ("fence", 3, 5), ("text", 7, 7)]),
        ("a::\n\nb", [("text", 1, 1), ("text", 3, 3)]),
        ("::\n\n  x", [("text", 1, 1), ("fence", 3, 3)]),
        ("::\n", [("text", 1, 1)]),
        ("a::\n\n \n", [("text", 1, 1)]),
        ("- a::\n\n  > q\n  > r\n\nx", [("text", 1, 1), ("fence", 3, 4), ("text", 6, 6)]),
        ("-\ta::\n\n\t> q", [("text", 1, 1), ("fence", 3, 3)]),
        ("- a::\n\n  > q\nx\n", [("text", 1, 1), ("text", 3, 4)]),
        ("- a::\n\nab> q", [("text", 1, 1), ("text", 3, 3)]),
        ("..\n\n  quote", [("comment", 1, 1), ("text", 3, 3)]),
        ("..\n  comment\n\nx", [("comment", 1, 2), ("text", 4, 4)]),
        (".. [1] note\n.. _a: b\n.. |c| replace:: d", [("text", 1, 3)]),
        ("== ==\nnever closed", [("text", 1, 2)]),
        ("", []),
        ("\n \n", []),
    ],
)
def test_what_begins_a_block_is_what_the_format_says(text: str, found: list[tuple[str, int, int]]) -> None:
    assert kinds(text) == found


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("``code`` and *emphasis*, **strong**", "code and emphasis, strong"),
        (":ref:`the text <target>` and `link <https://example.org>`_", "the text and link"),
        (":py:func:`os.open`, `phrase`_ |name|", "os.open, phrase name"),
        (r"a \*b 2 * 3 * 4", "a *b 2 * 3 * 4"),
        ("x" * 300, "x" * 200),
    ],
)
def test_a_heading_is_what_a_reader_sees(title: str, text: str) -> None:
    assert plain(title) == text


def test_fields_are_read_where_a_document_begins() -> None:
    text = "T\n=\n\n:Date: 2024-05-06\n:tags: a, b;a\n:lang: ko-KR\n.. updated: 2024/5/7\n.. title: Other\n"

    assert rst_fields(text.split("\n")) == Fields("Other", "ko", ("a", "b"), "2024-05-06", "2024-05-07")
    assert rst_fields([".. meta::", "   :keywords: x, y"]).tags == ("x", "y")
    assert rst_fields([":date: $Date$", ":param x: y"]) == Fields()


# --- docutils knows best where titles are ----------------------------------------------------------------


def titles_by_docutils(text: str) -> list[tuple[int, int, str]]:
    """(line, level, text) of all titles; empty where the levels are no tree."""
    messages = io.StringIO()
    settings = {
        "warning_stream": messages,
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "_disable_config": True,
        "doctitle_xform": False,
        "docinfo_xform": False,
        "report_level": 4,
        "halt_level": 5,
    }
    tree = publish_doctree(text, settings_overrides=settings)
    assert not messages.getvalue()
    found = []
    for title in tree.findall(nodes.title):
        level, section = 0, title.parent
        while isinstance(section, nodes.section):
            level, section = level + 1, section.parent
        assert title.line is not None
        found.append((title.line - 1, level, " ".join(title.astext().split())))
    return found


_WORDS = st.sampled_from(["검색", "Index", "``code``", "*all*", "of", "1.", "2024", "a:b"])
_texts = st.lists(_WORDS, min_size=1, max_size=4).map(" ".join)
_bodies = st.sampled_from(
    [
        "A paragraph\nof two lines.",
        "Code::\n\n    Title\n    =====\n",
        "- one\n- two\n\n  Title\n",
        "1. one\n2. two",
        "+----+\n| == |\n+----+",
        "== ==\na  b\n== ==\n1  2\n== ==",
        ".. note::\n\n   Inside::\n\n      x",
        ".. a comment\n   Title\n   =====",
        ":field: value",
        "| line\n| block",
        ">>> x\n=====",
        "    quoted",
        "term\n  definition",
        ".. code-block:: rst\n\n   Title\n   =====",
        "Quoted::\n\n> a\n> b",
        ".. _target:",
    ]
)


@st.composite
def _documents(draw: st.DrawFn) -> str:
    """Titles whose levels never skip one, with bodies between them."""
    marks = draw(st.permutations("=-~^#*+"))
    parts, level = [], 0
    for _ in range(draw(st.integers(0, 6))):
        level = draw(st.integers(1, min(level + 1, 5)))
        text = draw(_texts)
        line = marks[level] * (2 * len(text) + 1)
        parts += [f"{line}\n{text}\n{line}" if level == 1 else f"{text}\n{line}"]
        parts += draw(st.lists(_bodies, max_size=3))
    return "\n\n".join(parts) + "\n"


@few
@given(_documents())
def test_titles_are_where_docutils_has_them(text: str) -> None:
    blocks = [block for block in rst_blocks(text.split("\n")) if block.kind == "heading"]
    found = [(block.line_end - 1, block.level, block.heading) for block in blocks]

    assert found == titles_by_docutils(text)


_beginnings = st.sampled_from(["", "", "  ", "    ", "\t", "- ", "  - ", "> ", "  > ", ".. ", "   .. ", "1. ", ">>> "])
_ends = st.sampled_from(
    ["", "a", "=====", "::", "a::", "note::", "code::", "list-table::", "[1] a", "|a| raw::", "+--+"]
)
_lines = st.lists(st.builds(str.__add__, _beginnings, _ends), max_size=12).map("\n".join)
_noise = st.text(st.sampled_from("=-.:*+|> ab1가\n\t`_\\"), max_size=200)


@settings(max_examples=200, deadline=None)
@given(_documents() | _lines | _noise)
@example("- foo::\n\n  > quoted\nx\n")
@example("::\n")
def test_every_line_of_any_text_is_in_one_block(text: str) -> None:
    lines = text.split("\n")
    blocks = rst_blocks(lines)
    covered = [number for block in blocks for number in range(block.line_start, block.line_end + 1)]

    assert covered == sorted(set(covered))
    assert all(number in covered for number, line in enumerate(lines, 1) if line.strip())
    assert all(block.line_start <= block.line_end for block in blocks)
    assert all(lines[number - 1].strip() for block in blocks for number in (block.line_start, block.line_end))
    assert all(isinstance(block, Block) for block in blocks)


HOSTILE = {
    "nested": "\n".join("  " * depth + "* a\n" for depth in range(1500)),
    "directives": "\n".join(" " * depth + ".. note::\n" for depth in range(1500)),
    "titles": "".join(f"t{number}\n====\n\n" for number in range(20_000)),
    "adornments": "=\n" * 50_000,
    "transitions": "====\n" * 50_000,
    "borders": "== ==\nx\n" * 50_000,
    "literals": "a::\n\n" * 30_000,
    "quotes": "a::\n\n" + "> x\n" * 50_000,
    "items": "- a\nb\n" * 50_000,
    "one character": "`" * 100_000 + "\n====",
    "one mark": "*" * 1_000_000,
    "tabs": "\t" * 100_000 + "x::",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_documents_take_linear_time(text: str) -> None:
    start = time.process_time()
    rst_blocks(text.split("\n"))

    assert time.process_time() - start < 4
