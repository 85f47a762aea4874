from kebab_stream.ingest.document import Block
from kebab_stream.ingest.plain import paragraphs


def test_paragraphs_are_separated_by_blank_lines() -> None:
    assert list(paragraphs(["", "a", "b", " \t", "c", ""])) == [Block("text", 2, 3), Block("text", 5, 5)]


def test_lines_left_out_separate_paragraphs_too() -> None:
    assert list(paragraphs(["a", "b", "c", "d"], [1, 3, 4])) == [Block("text", 1, 1), Block("text", 3, 4)]


def test_a_blank_text_has_no_paragraphs() -> None:
    assert list(paragraphs([])) == list(paragraphs(["", " "])) == []
