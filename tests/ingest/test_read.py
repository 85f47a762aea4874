import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.errors import InvalidInputError
from kebab_stream.ingest.read import content_hash, decode, split_lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_the_same_in_every_encoding_that_is_read(encoding: str) -> None:
    assert decode("a.md", "한글 ABC 👩\n".encode(encoding)) == "한글 ABC 👩\n"


def test_utf16_is_read_in_both_byte_orders() -> None:
    assert decode("a.md", b"\xff\xfe" + "가".encode("utf-16-le")) == "가"
    assert decode("a.md", b"\xfe\xff" + "가".encode("utf-16-be")) == "가"


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode("a.md", b"") == decode("a.md", b"\xef\xbb\xbf") == ""


@pytest.mark.parametrize(
    ("data", "problem", "offset"),
    [
        ("가나".encode("cp949"), "not_text", 0),
        (b"abc\xff", "not_text", 3),
        (b"\xef\xbb\xbfabc\xff", "not_text", 6),
        (b"\xff\xfea", "not_text", 2),
        ("가".encode() + b"\0", "binary", 3),
        (b"\xff\xfea\0\0\0", "binary", 4),
    ],
)
def test_what_is_no_text_is_refused_at_its_byte(data: bytes, problem: str, offset: int) -> None:
    with pytest.raises(InvalidInputError, match=f"byte {offset}") as caught:
        decode("a.md", data)

    assert caught.value.details == {"problem": problem, "offset": offset}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\rc\n\rd", ["a", "b", "c", "", "d"]),
        ("a\u2028b\x0bc\x0cd\x85e", ["a\u2028b\x0bc\x0cd\x85e"]),
    ],
)
def test_only_newlines_and_carriage_returns_end_a_line(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(st.lists(st.text(st.characters(exclude_characters="\r\n")), min_size=1), st.sampled_from(["\n", "\r\n", "\r"]))
def test_lines_do_not_depend_on_the_kind_of_line_end(lines: list[str], end: str) -> None:
    assert split_lines("".join(line + end for line in lines)) == lines


def test_the_hash_is_of_the_raw_bytes() -> None:
    assert content_hash(b"") == "cae66941d9efbd404e4d88758ea67670"
    assert content_hash(b"a") != content_hash(b"\xef\xbb\xbfa")
