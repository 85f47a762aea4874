"""`kebab compare`."""

import re
from pathlib import Path

from tests.cli.program import kebab
from tests.cli.test_start_up import HEAVY, loaded
from tests.compare.lines import answered, failed, written


def test_two_modes_are_compared(fixture_data: Path, tmp_path: Path) -> None:
    for mode in ("lexical", "hybrid"):
        queries = b"".join(
            b'{"query":"%s","mode":"%s","trace":true}\n' % (text, mode.encode())
            for text in (b"coffee", b"backup", b"tea")
        )
        done = kebab("search", "--bulk", "--json", stdin=queries, data_dir=fixture_data)
        (tmp_path / mode).write_bytes(done.out)
    done = kebab("compare", "lexical", "hybrid", "--json", "--k", "5", "--html", "page.html", cwd=tmp_path)

    (report,) = done.lines
    assert (done.status, done.err) == (0, b"")
    assert (report["queries"], report["compared"], report["k"]) == (3, 3, 5)
    assert 0 < report["rbo"] <= 1
    assert report["a"]["latency"]["p50_ms"] > 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_people_get_tables(tmp_path: Path) -> None:
    a = written(tmp_path / "a", [answered({"query": "커피\x1b[31m"}, "ab", ms=1), failed({"query": "b"}, "timeout")])
    b = written(tmp_path / "b", [answered({"query": "커피\x1b[31m"}, "cb"), answered({"query": "b"}, "")])
    done = kebab("compare", str(a), str(b))

    text = done.out.decode()
    assert (done.status, done.err) == (0, b"")
    assert re.search(r"^queries +2$", text, re.M)
    assert re.search(r"^mean overlap@10 +0\.5000$", text, re.M)
    assert re.search(r"^first hit of A lost +1$", text, re.M)
    assert re.search(r"^failed in A only +1$", text, re.M)
    assert re.search(r"^A +1\.0 +1\.0 +1\.0$", text, re.M)
    assert re.search(r"^0\.\d{3} +0\.500 +1 +커피\\x1b\[31m +a\.md +c\.md$", text, re.M)


def test_pages_of_two_lengths_and_of_several_sources_are_told_apart(tmp_path: Path) -> None:
    a = written(tmp_path / "a", [answered({"query": "q"}, "ab", source="left")])
    b = written(tmp_path / "b", [answered({"query": "q"}, "abc", source="left")])
    c = written(tmp_path / "c", [answered({"query": "q"}, "ca", source="right")])
    longer, other = kebab("compare", str(a), str(b)), kebab("compare", str(a), str(c))

    assert "the longest answer has 2 hits in A, 3 in B: a longer page of the same ranking" in longer.out.decode()
    assert re.search(r"q +a\.md +a\.md$", longer.out.decode(), re.M)
    assert "longest" not in other.out.decode()
    assert re.search(r"q +left/a\.md +right/c\.md$", other.out.decode(), re.M)


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    written(tmp_path / "a", [answered({"query": "a"}, "a")])
    written(tmp_path / "b", [])
    shorter = kebab("compare", "a", "b", "--json", cwd=tmp_path)
    missing = kebab("compare", "a", "none", "--json", cwd=tmp_path)
    depth = kebab("compare", "a", "a", "--k", "0", "--json", cwd=tmp_path)
    unwritable = kebab("compare", "a", "a", "--html", "none/page.html", "--json", cwd=tmp_path)

    own = kebab("compare", "a", "a", "--html", "a", "--json", cwd=tmp_path)

    codes = [done.error["code"] for done in (shorter, missing, depth, own, unwritable)]
    assert codes == ["invalid_input"] * 4 + ["io_error"]
    assert (tmp_path / "a").read_bytes().startswith(b'{"query"')
    assert shorter.error["message"] == "b ends before line 1, the other goes on"
    assert (shorter.status, shorter.out) == (2, b"")


def test_comparing_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    path = str(written(tmp_path / "a", [answered({"query": "a"}, "a")]))
    helped, _ = loaded("compare", "--help", data_dir=tmp_path)
    compared, loops = loaded("compare", path, path, "--json", data_dir=tmp_path)

    assert (helped & HEAVY, compared & HEAVY, loops) == (set(), {"numpy"}, [])
