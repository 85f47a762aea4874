"""Path globs match whole paths, and no glob makes matching slow."""

import itertools
from functools import cache
from time import perf_counter
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kebab_stream.errors import InvalidInputError
from kebab_stream.single.glob import glob_pattern


def matches(glob: str, path: str) -> bool:
    return glob_pattern(glob).match(path) is not None


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("a.md", "a.md"),
        ("*.md", "a.md"),
        ("*.md", ".md"),
        ("*", "a"),
        ("**", "a/b/c.md"),
        ("**/*.md", "a.md"),
        ("**/*.md", "a/b/c.md"),
        ("**/b.md", "a/b.md"),
        ("docs/**", "docs/a/b.md"),
        ("docs/**/b.md", "docs/b.md"),
        ("docs/**/b.md", "docs/x/y/b.md"),
        ("**/docs/**/b.md", "docs/b.md"),
        ("**/**/b.md", "b.md"),
        ("do**md", "docs/a/b.md"),
        ("***.md", "docs/a.md"),
        ("a/**b", "a/x/b"),
        ("?.md", "가.md"),
        ("[abc].md", "b.md"),
        ("[a-c]x", "bx"),
        ("[!a]x", "bx"),
        ("[^a]x", "^x"),
        ("[]a]x", "]x"),
        ("[!]a]x", "bx"),
        ("[a-]x", "-x"),
        ("[-a]x", "-x"),
        ("[a-c-e]x", "ex"),
        ("[a-c-e]x", "-x"),
        ("[가-힣]*", "하나"),
        ("[&&~~||--]", "|"),
        ("[[]x", "[x"),
        ("[{]x", "{x"),
        ("[,]x", ",x"),
        ("[*]x", "*x"),
        ("[\\]x", "\\x"),
        ("[!z-a]", "x"),
        ("{a,b}.md", "b.md"),
        ("{a,b/{c,d}}.md", "b/d.md"),
        ("{a}.md", "a.md"),
        ("a{,b}.md", "a.md"),
        ("a{,b}.md", "ab.md"),
        ("{*.md,**/*.py}", "a/b.py"),
        ("{docs,**}/x", "x"),
        ("x/{**/a,b}", "x/a"),
        ("{[,],b}x", ",x"),
        ("{ab,a}*b", "ab"),
        ("a,b}", "a,b}"),
        ("a]b", "a]b"),
        ("a.b+c(d)|e$^", "a.b+c(d)|e$^"),
        ("\\*", "\\x"),
        ("한글/*.md", normalize("NFC", "한글/가.md")),
        (normalize("NFD", "한글/가*.md"), normalize("NFC", "한글/가나.md")),
        (normalize("NFD", "[가-나].md"), "가.md"),
        ("a\nb", "a\nb"),
        ("*", "a\nb"),
    ],
)
def test_these_match(glob: str, path: str) -> None:
    assert matches(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("", "a"),
        ("a", "a/b"),
        ("a", "xa"),
        ("a", "a\n"),
        ("a.md", "aXmd"),
        ("a.md", "A.md"),
        ("*", "a/b"),
        ("*.md", "a/b.md"),
        ("*/*", "a/b/c"),
        ("?", "/"),
        ("?", ""),
        ("a?b", "a/b"),
        ("a[/]b", "a/b"),
        ("a[!x]b", "a/b"),
        ("a[+-9]b", "a/b"),
        ("**/b", "ab"),
        ("docs/**", "docs"),
        ("docs/**/b", "docsb"),
        ("a**/b", "ab"),
        ("[a-c]", "d"),
        ("[!a-c]", "b"),
        ("[z-a]", "z"),
        ("[^a]", "b"),
        ("{a,b}", "c"),
        ("{a,b}", "a,b"),
        ("{a,b}", "{a,b}"),
        ("{}", "{}"),
        ("[A]", "a"),
    ],
)
def test_these_do_not_match(glob: str, path: str) -> None:
    assert not matches(glob, path)


@pytest.mark.parametrize(
    ("glob", "bracket"),
    [
        ("[", "["),
        ("a[bc", "["),
        ("[]", "["),
        ("[!]", "["),
        ("{a,[b}", "["),
        ("{", "{"),
        ("a{b,c", "{"),
        ("{a,{b}", "{"),
    ],
)
def test_an_unclosed_bracket_is_refused_with_the_glob_and_a_way_out(glob: str, bracket: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        glob_pattern(glob)

    assert caught.value.message == f"path_glob {glob!r}: `{bracket}` is never closed"
    assert caught.value.details == {"key": "path_glob", "value": glob}
    assert caught.value.hint
    assert matches(f"[{bracket}]", bracket)  # as the hint says


@pytest.mark.parametrize("glob", ["{a,b}" * 30, "{{a,b}{a,b}}" * 20, "x" * 30_000, "{" * 30_000, "{,}" * 16])
def test_a_glob_that_stands_for_too_much_is_refused_at_once(glob: str) -> None:
    started = perf_counter()
    with pytest.raises(InvalidInputError) as caught:
        glob_pattern(glob)

    assert len(caught.value.message) < 200
    assert perf_counter() - started < 1


@pytest.mark.parametrize(
    "glob",
    [
        "**/*a" * 40,
        "**/*a**/*a**/*a**/*a**/*a**/*a**/*a**/*a**/*a**/*a**/*ab",
        "**" * 60 + "b",
        "*a" * 60 + "b",
        "**/" * 60 + "b",
        "**/?" * 30 + "b",
        "**a*" * 30 + "b",
        "{**/a,*a}" * 9 + "b",
    ],
)
@pytest.mark.parametrize("path", ["a" * 400, "a/" * 200 + "a", "/".join(["aaaa"] * 80)])
def test_no_glob_makes_matching_slow(glob: str, path: str) -> None:
    pattern = glob_pattern(glob)
    started = perf_counter()
    pattern.match(path)

    assert perf_counter() - started < 1


# --- an independent reference: braces by recursion, stars by trying every length --------------------------


def expanded(glob: str) -> list[str]:
    """The globs that one with braces, but without classes, stands for."""
    close = glob.find("}")
    if close < 0:
        return [glob]
    opening = glob.rindex("{", 0, close)
    before, inside, after = glob[:opening], glob[opening + 1 : close], glob[close + 1 :]
    return list(itertools.chain(*(expanded(before + one + after) for one in inside.split(","))))


def reference(glob: str, path: str) -> bool:
    """Whether a glob without braces matches."""

    @cache
    def match(at: int, place: int) -> bool:
        if at == len(glob):
            return place == len(path)
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            starts = [end + 1 for end in range(place, len(path)) if path[end] == "/"]
            return any(match(at + 3, start) for start in [place, *starts])
        if glob.startswith("**", at):
            return any(match(at + 2, end) for end in range(place, len(path) + 1))
        if glob[at] == "*":
            ends = itertools.takewhile(lambda end: end == place or path[end - 1] != "/", range(place, len(path) + 1))
            return any(match(at + 1, end) for end in ends)
        fits = place < len(path) and (glob[at] == path[place] or (glob[at] == "?" and path[place] != "/"))
        return fits and match(at + 1, place + 1)

    return match(0, 0)


plain_globs = st.lists(st.sampled_from(["a", "b", "/", "*", "?", "**", "**/", "/**/", "ab", "*a"]), max_size=9).map(
    "".join
)
braces = st.recursive(
    plain_globs,
    lambda parts: st.tuples(plain_globs, st.lists(parts, min_size=1, max_size=3), plain_globs).map(
        lambda three: f"{three[0]}{{{','.join(three[1])}}}{three[2]}"
    ),
    max_leaves=5,
)
paths = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=6).map("/".join)


@given(plain_globs, paths)
@example("**/*a*/b", "a/ba/b/ab/b")
def test_stars_match_as_if_every_length_had_been_tried(glob: str, path: str) -> None:
    assert matches(glob, path) == reference(glob, path)


@given(braces, st.lists(paths, min_size=1, max_size=6))
def test_braces_match_what_any_of_their_alternatives_matches(glob: str, some: list[str]) -> None:
    alternatives = expanded(glob)

    assert [matches(glob, path) for path in some] == [
        any(reference(one, path) for one in alternatives) for path in some
    ]


@given(st.text("ab/*?[]!^-{},\\가é", max_size=30), paths)
def test_any_text_is_a_pattern_or_refused(glob: str, path: str) -> None:
    try:
        pattern = glob_pattern(glob)
    except InvalidInputError:
        return
    pattern.match(path)


@given(paths, paths)
def test_a_path_in_classes_matches_itself_only(path: str, another: str) -> None:
    glob = "".join(char if char == "/" else f"[{char}]" for char in path)

    assert matches(glob, path)
    assert matches(glob, another) == (path == another)
