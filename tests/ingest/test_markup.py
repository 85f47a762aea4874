import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.markup import Token, attributes, decoded, tokens


class Oracle(HTMLParser):
    """What the standard library makes of a page, with the place of each part."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=False)
        self.seen: list[tuple[str, str, int, int]] = []
        self.feed(source)
        self.close()

    def note(self, kind: str, value: str) -> None:
        line, column = self.getpos()
        self.seen.append((kind, value, line, column))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.note("start", tag)

    def handle_endtag(self, tag: str) -> None:
        self.note("end", tag)


_names = st.sampled_from(["p", "DIV", "h1", "b", "x-y", "td"])
_attributes = st.sampled_from(["", " class=a", ' a="b>c" d', " e='<p>'", "\n  id = 'x y'"])
_pieces = st.one_of(
    st.builds("<{}{}>".format, _names, _attributes),
    st.builds("</{}>".format, _names),
    st.sampled_from(["text", "글\n", " &amp; ", "<!-- <p> -->", "<!DOCTYPE html>", "1 < 2 ", "<br/>", "a\nb"]),
)


@given(st.lists(_pieces, max_size=20).map("".join))
def test_tags_of_a_proper_page_are_those_that_the_standard_library_sees(source: str) -> None:
    seen = []
    for token in tokens(source):
        if token.kind != "text":
            before = source[: token.position]
            seen.append((token.kind, token.value, before.count("\n") + 1, len(before) - before.rfind("\n") - 1))

    expected = [one for one in Oracle(source).seen if one[1] != "br"]
    assert [one for one in seen if one[1] != "br"] == expected


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("a<b>c</b>", ["a", "b", "c", "/b"]),
        ("a <!-- <p> --> b <!--> c <!---> d", ["a ", " b ", " c ", " d"]),
        ("a <!-- never closed <p>b", ["a ", " never closed ", "p", "b"]),
        ("<?xml version='1.0'?><!DOCTYPE x [ ]>a</>b</ c>d", ["a", "b", "d"]),
        ("1 < 2 <= 3 <> 4 << 5 <", ["1 < 2 <= 3 <> 4 << 5 <"]),
        ("<script>if (a<b) x('<p>')</SCRIPT >y", ["script", "/script", "y"]),
        ("<style>p{}<b>", ["style"]),
        ("<?xml?><script/><p>x", ["script", "p", "x"]),
        ("<p title='>'>x<p title=\"'>\">y<p title=don't>z", ["p", "x", "p", "y", "p", "z"]),
        ('<p title="never closed>x<p>y', ["p", "x", "p", "y"]),
        ("x<![CDATA[a <b> c]]>y<![CDATA[z", ["x", "a <b> c", "y<![CDATA[z"]),
        ("a<b", ["a<b"]),
    ],
)
def test_pages_as_they_are_found_are_read_as_they_are_meant(source: str, parts: list[str]) -> None:
    assert ["/" * (token.kind == "end") + token.value for token in tokens(source)] == parts


def test_attributes_are_read_when_they_are_asked_for() -> None:
    (tag,) = tokens("<IMG ALT='a &quot;b&quot;' src=x/y.png hidden data-x = \"1 2\" alt=second>")

    assert tag == Token("start", "img", 0, " ALT='a &quot;b&quot;' src=x/y.png hidden data-x = \"1 2\" alt=second")
    assert attributes(tag.attributes) == {"alt": 'a "b"', "src": "x/y.png", "hidden": "", "data-x": "1 2"}


def test_character_references_are_decoded_but_never_fail() -> None:
    assert decoded("&lt;&#xAC00;&#44033;&nbsp;&AMP; &unknown; & &#0;") == "<가각\xa0& &unknown; & \ufffd"
    assert decoded(f"&#{'9' * 5000};") == f"&#{'9' * 5000};"


@given(st.text(st.sampled_from("<>/!-?[]=\"' ab\n&;p")))
def test_any_source_is_read_and_places_ascend(source: str) -> None:
    places = [token.position for token in tokens(source)]

    assert places == sorted(places)
    assert all(source[token.position :].startswith(token.value) for token in tokens(source) if token.kind == "text")


HOSTILE = {
    "comments": "<!--",
    "comments that nearly end": "<!--x--",
    "declarations": "<!",
    "instructions": "<?",
    "character data": "<![CDATA[",
    "end tags": "</",
    "end tags with names": "</a ",
    "start tags": "<a ",
    "quotation marks": '<a b="',
    "quotation marks in turn": '<a =">"',
    "apostrophes": "<a b='>\"",
    "scripts": "<script>",
    "script ends": "<script></scrip",
    "signs": "<",
    "equals": "<a =",
    "references": "&#",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("end", ["", ">"])
def test_hostile_pages_take_linear_time(piece: str, end: str) -> None:
    source = piece * 50_000 + end
    start = time.process_time()
    for token in tokens(source):
        decoded(token.value)

    assert time.process_time() - start < 2
