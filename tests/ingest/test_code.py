from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.code import code_blocks
from kebab_stream.ingest.document import Block


def test_code_is_cut_before_unindented_lines_after_blank_ones() -> None:
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

    assert code_blocks(source.split("\n")) == [
        Block("text", 1, 2),
        Block("text", 4, 9),
        Block("text", 11, 13),
        Block("text", 16, 16),
    ]


def test_blank_source_has_no_blocks() -> None:
    assert code_blocks([]) == code_blocks(["", "  \t"]) == []


@given(st.lists(st.sampled_from(["", "  ", "a", "  b", "}", "\tc"])))
def test_blocks_cover_every_line_that_is_not_blank_once(lines: list[str]) -> None:
    blocks = code_blocks(lines)
    covered = [number for block in blocks for number in range(block.line_start, block.line_end + 1)]

    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)
    assert all(lines[block.line_start - 1].strip() and lines[block.line_end - 1].strip() for block in blocks)
