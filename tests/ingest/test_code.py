import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.code import code_blocks
from kebab_stream.ingest.document import Block
from kebab_stream.ingest.grammars import GRAMMARS, load
from tests.ingest.code_samples import SOURCES

UNKNOWN = "cobol"
"""A language without a grammar."""


def test_code_without_a_grammar_is_cut_before_unindented_lines_after_blank_ones() -> None:
    source = """\
import a
import b

# about f
@cache
def f():
    x = 1

    return x

class C {

};


function g() {
"""

    assert code_blocks(source.split("\n"), UNKNOWN) == [
        Block("text", 1, 2),
        Block("text", 4, 9),
        Block("text", 11, 13),
        Block("text", 16, 16),
    ]


def test_code_with_a_grammar_is_cut_at_its_definitions() -> None:
    assert code_blocks(["x = 1", "def f(): pass", "y = 2"], "python") == [
        Block("text", 1, 1),
        Block("text", 2, 2, symbol="f"),
        Block("text", 3, 3),
    ]


def test_a_header_of_cpp_is_read_as_such_although_its_name_says_c() -> None:
    source = "#pragma once\nnamespace a {\nclass B {\n  void c() {\n  }\n};\n}\n"

    assert [block.symbol for block in code_blocks(source.split("\n"), "c")] == [None, "a.B", "a.B.c"]


@pytest.mark.parametrize("missing", ["tree_sitter", "tree_sitter_python"])
def test_without_the_extra_code_is_cut_as_of_an_unknown_language(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = SOURCES["python"].split("\n")
    monkeypatch.setitem(sys.modules, missing, None)  # an import fails now
    load.cache_clear()
    found = code_blocks(lines, "python")
    load.cache_clear()

    assert found == code_blocks(lines, UNKNOWN)


def test_blank_source_has_no_blocks() -> None:
    for language in (None, UNKNOWN, "python", "yaml"):
        assert code_blocks([], language) == code_blocks(["", "  \t"], language) == []


def test_every_document_of_a_yaml_file_is_known_by_its_kind_and_name() -> None:
    source = """\
# License
---
apiVersion: v1
kind: Service  # a comment
metadata:
  # another
  labels:
    name: wrong
  name: "web-1"

spec: {}

---
kind: Deployment
metadata:
  name: web
  template:
    name: other
---
kind: List
items:
  - metadata:
      name: not-this
---
metadata:
name: no-child
kind: X
"""

    assert code_blocks(source.split("\n"), "yaml") == [
        Block("comment", 1, 1),
        Block("text", 2, 9, symbol="Service/web-1"),
        Block("text", 11, 11, symbol="Service/web-1"),
        Block("text", 13, 18, symbol="Deployment/web"),
        Block("text", 19, 23),
        Block("text", 24, 27),
    ]


def test_a_yaml_file_without_kinds_is_cut_at_the_margin() -> None:
    source = "on: push\n\njobs:\n  a:\n\n    b: 1\n--- # next\nc: 2\n"

    assert code_blocks(source.split("\n"), "yaml") == [
        Block("text", 1, 1),
        Block("text", 3, 6),
        Block("text", 7, 8),
    ]


code_lines = st.lists(st.sampled_from(["", "  ", "a", "  b", "}", "\tc", "---", "kind: a", "metadata:", "  name: x"]))


@given(code_lines, st.sampled_from([None, UNKNOWN, "yaml", *GRAMMARS]))
def test_blocks_cover_every_line_that_is_not_blank_once(lines: list[str], language: str | None) -> None:
    blocks = code_blocks(lines, language)
    covered = [number for block in blocks for number in range(block.line_start, block.line_end + 1)]

    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)
    assert all(lines[block.line_start - 1].strip() and lines[block.line_end - 1].strip() for block in blocks)
