import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.document import Block
from kebab_stream.ingest.html import html_page
from tests.ingest.strategies import few

PAGE = """<!DOCTYPE html>
<html lang="ko-KR"><head>
<meta name="keywords" content="검색, b ,,b">
<meta property="article:published_time" content="2024-05-06T07:08:09Z">
<title>제목 &amp; 글</title><style>x{}</style>
<script>if (a<b) document.write("<p>no</p>")</script>
</head><body><nav><ul><li>menu</ul></nav>
<h1 id=x>큰
<em>제목</em><a class=headerlink href="#x">¶</a></h1><p>첫 문단
둘째   줄 <b>굵게</b>&nbsp;&lt;tag&gt;<br>새 줄
<ul>
<li>하나
<li><p>둘</p>
</ul>
<table><caption>표</caption><tr><th>a<th>b</tr>
<tr><td><p>1</p></td>
<td><img alt="그림" src=x></td></tr></table>
<pre><code class="language-py">
def f():

    return "&lt;"

</code></pre>
tail <p hidden>secret<p>seen<button>Copy</button>
</body></html>
"""


def test_a_page_is_the_lines_that_a_reader_sees_and_where_they_are() -> None:
    page = html_page(PAGE)

    assert list(zip(page.file_lines, page.lines, strict=True)) == [
        (8, "큰 제목"),
        (8, ""),
        (9, "첫 문단"),
        (10, "둘째 줄 굵게 <tag>"),
        (10, "새 줄"),
        (10, ""),
        (12, "- 하나"),
        (13, "- 둘"),
        (13, ""),
        (15, "표"),
        (15, "a | b"),
        (16, "1 | 그림"),
        (16, ""),
        (19, "def f():"),
        (19, ""),
        (21, '    return "<"'),
        (21, ""),
        (24, "tail"),
        (24, ""),
        (24, "seen"),
    ]
    assert page.blocks == [
        Block("heading", 1, 1, 1, "큰 제목"),
        Block("text", 3, 5),
        Block("text", 7, 7),
        Block("text", 8, 8),
        Block("table", 10, 12),
        Block("fence", 14, 16),
        Block("text", 18, 18),
        Block("text", 20, 20),
    ]
    assert (page.title, page.lang, page.tags, page.created) == (
        "제목 & 글",
        "ko",
        ("검색", "b"),
        "2024-05-06T07:08:09Z",
    )


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("plain text", ["plain text"]),
        ("<p>a<p>b", ["a", "", "b"]),
        ("a <b>b</b><i>c</i> d", ["a bc d"]),
        ("<p>a\n\n   b\n", ["a", "b"]),
        ("<div><div>a</div></div><div>b", ["a", "", "b"]),
        ("a<hr>b", ["a", "", "b"]),
        ("<blockquote>q</blockquote>r", ["q", "", "r"]),
        ("<dl><dt>t<dd>d</dl>", ["t", "d"]),
        ("<ul><li>a<ul><li>b</ul><li></ul>c", ["- a", "- b", "", "c"]),
        ("<table><tr><td><td>x<tr><td>y<td>", ["| x", "y |"]),
        ("<table><tr><td>a\nb<div>c</div><td>d</table>e", ["a b c | d", "", "e"]),
        ("<table><tr><td><pre>a\n b</pre></table>", ["a", " b"]),
        ("<pre>\n\n a\n\n\tb &lt; c  \n\n</pre>", [" a", "", "\tb < c"]),
        ("<pre>a<br>b</pre>", ["a", "b"]),
        ("<pre>a&#10;b</pre>", ["a b"]),
        ("<p>x<img alt='y  z'>w", ["x y z w"]),
        ("<title>T</title>a<title>b</title>", ["ab"]),
        ("<select><option>a</select><svg><text>b</text></svg><noscript>c</noscript>d", ["d"]),
        ("<div aria-hidden=true>a<div>b</div>c</div>d", ["d"]),
        ("<p class=hidden data-hidden=1>a", ["a"]),
        ("<nav>never closed <p>a", ["never closed", "", "a"]),
        ("<h2>a<p>b", ["a", "", "b"]),
        ("<h1></h1><p></p>a", ["a"]),
        ("1 < 2 & 3", ["1 < 2 & 3"]),
        ("\r\na\rb\r\n", ["a", "b"]),
    ],
)
def test_elements_become_lines(source: str, lines: list[str]) -> None:
    assert html_page(source).lines == lines


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title> A\n B </title><h1>H", "A B"),
        ("<title></title><h2>no</h2><h1>H</h1>", "H"),
        ("<title>A<body>text", "A"),
        ("<svg><title>icon</title></svg><p>x", ""),
    ],
)
def test_the_title_is_that_of_the_head_or_the_first_top_heading(source: str, title: str) -> None:
    assert html_page(source).title == title


def test_the_levels_of_headings_are_theirs() -> None:
    page = html_page("".join(f"<H{level}>t{level}</H{level}>" for level in range(1, 7)))

    assert [(block.kind, block.level, block.heading) for block in page.blocks] == [
        ("heading", level, f"t{level}") for level in range(1, 7)
    ]


def test_a_page_without_text_is_what_its_description_says() -> None:
    page = html_page("<html>\n<meta name=Description content='What the\npage is'><div id=app></div>")

    assert (page.lines, page.file_lines, page.blocks) == (["What the page is"], [2], [Block("text", 1, 1)])
    assert html_page("<meta name=description content=x><p>y").lines == ["y"]


def test_xhtml_is_read_as_well() -> None:
    source = (
        '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="fr"><head><script src="x"/>'
        "<title>T</title></head>\n<body><p>a<br/>b</p><![CDATA[ c ]]></body></html>"
    )
    page = html_page(source)

    assert (page.title, page.lang, page.lines) == ("T", "fr", ["a", "b", "", "c"])


_names = st.sampled_from(
    ["p", "div", "li", "ul", "table", "tr", "td", "th", "h1", "h2", "pre", "b", "br", "nav", "title", "img", "caption"]
)
_pieces = st.one_of(
    st.builds("<{}>".format, _names),
    st.builds("</{}>".format, _names),
    st.sampled_from(["word", "글 ", "\n", "\n\n", " ", "&lt;", "&nbsp;", "<p hidden>", "<img alt=x>", "|", "\0", "<"]),
)


@few
@given(st.lists(_pieces, max_size=60).map("".join) | st.text())
def test_every_line_of_any_page_is_in_one_block_and_lines_ascend(source: str) -> None:
    page = html_page(source)
    covered = [number for block in page.blocks for number in range(block.line_start, block.line_end + 1)]

    assert covered == sorted(set(covered))
    assert all(number in covered for number, line in enumerate(page.lines, 1) if line.strip())
    assert all(page.lines[number - 1].strip() for block in page.blocks for number in (block.line_start, block.line_end))
    assert not any("\n" in line or "\r" in line for line in page.lines)
    assert page.file_lines == sorted(page.file_lines)
    assert len(page.file_lines) == len(page.lines)


@given(st.lists(st.sampled_from(["", "<p>", "<b>", "</p>", "<div>", "<ul><li>"]), min_size=1, max_size=20))
def test_each_line_is_where_its_text_stands_in_the_file(tags: list[str]) -> None:
    source = "\n".join(f"{tag}word{number}" for number, tag in enumerate(tags, 1))
    page = html_page(source)

    found = {line.lstrip("- "): place for line, place in zip(page.lines, page.file_lines, strict=True) if line}
    assert found == {f"word{number}": number for number in range(1, len(tags) + 1)}


HOSTILE = {
    "nested": "<div>x" * 50_000 + "</div>" * 50_000,
    "never closed": "<b><i><div>" * 50_000,
    "tables": "<table><tr><td>a" * 30_000,
    "cells": "<td>" * 100_000,
    "paragraphs in a cell": "<table><td>" + "<p>x" * 100_000,
    "lists": "<ul><li>" * 50_000,
    "headings": "<h1>" * 100_000,
    "left out": "<nav>" * 50_000 + "<svg>" * 50_000,
    "one attribute": "<a x='" + "y" * 2_000_000 + "'>z",
    "attributes": "<a " + "b=c " * 300_000 + ">z",
    "pictures": ("<img alt='" + "a" * 1000 + "'>") * 2000,
    "zeros": "\0" * 500_000,
    "blank lines": "<pre>" + "\n" * 200_000 + "x",
    "numbers": "&#" + "1" * 500_000 + ";",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_pages_take_linear_time(source: str) -> None:
    start = time.process_time()
    html_page(source)

    assert time.process_time() - start < 6
