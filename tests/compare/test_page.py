"""The page of a comparison."""

import re
from html.parser import HTMLParser
from pathlib import Path

from kebab_stream.compare import compare
from kebab_stream.compare.page import page
from tests.compare.lines import answered, failed, written

EVIL = "<script>alert('x')</script>\x1b[31m & \u202e"


def shown(tmp_path: Path) -> str:
    a = [answered({"query": EVIL}, ["a", EVIL], ms=1.25), failed({"query": "b"}, "timeout")]
    b = [answered({"query": EVIL}, ["c"]), answered({"query": "b"}, [])]
    return page(compare(written(tmp_path / "a", a), written(tmp_path / "b", b)))


class Tags(HTMLParser):
    """Whether elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_and_runs_nothing(tmp_path: Path) -> None:
    html = shown(tmp_path)
    tags = Tags()
    tags.feed(html)

    assert tags.open == []
    assert not tags.seen & {"script", "img", "link", "iframe"}
    assert not re.search(r"https?:|url\(|@import", html)
    assert "Content-Security-Policy" in html


def test_texts_are_escaped_and_controls_visible(tmp_path: Path) -> None:
    html = shown(tmp_path)

    assert "<script" not in html
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;\\x1b[31m &amp; \\u202e" in html
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", html)


def test_the_page_says_what_the_report_says(tmp_path: Path) -> None:
    html = shown(tmp_path)

    assert "2 queries, 1 answered by both, 0 of these identical" in html
    assert "<td>1</td><td>1.2</td>" in html
    assert "The queries that changed most" in html
    assert "not among the first of B" in html
    assert "failed queries" in html
    assert "Latencies are told" not in html


def test_the_page_leaves_out_what_was_not_there_and_says_why(tmp_path: Path) -> None:
    a = [answered("q", ["a"], source="left")]
    b = [answered("q", ["b", "a"], source="right")]
    b[0]["response"]["hits"][0]["snippet"] = "word " * 100
    html = page(compare(written(tmp_path / "a", a), written(tmp_path / "b", b)))

    assert "failed queries" not in html
    assert "Latencies are told" in html
    assert "the longest answer has 1 hits in A, 2 in B" in html
    assert "<code>left/a.md › H</code>" in html
    assert "word…</p>" in html
