"""Patterns of ignore files; git itself is the judge."""

import itertools
import random
import subprocess
import warnings
from pathlib import Path

import pytest

from kebab_stream.ingest.ignore import Rules, is_ignored, read_rules
from kebab_stream.ingest.wildmatch import wildmatch

PIECES = (
    *("a", "b", "é", "]", "-", "A", "*", "**", "?", "/", "**/", "/**", "\\", "\\*", "\\]", "\\/", " ", "\\ ", "!", "#"),
    *(
        "[ab]",
        "[!a]",
        "[^a]",
        "[a-]",
        "[]a]",
        "[!]a]",
        "[a-c]",
        "[c-a]",
        "[a--b]",
        "[[a]",
        "[a&&b]",
        "[\\]]",
        "[a\\-c]",
    ),
    *("[[:alpha:]]", "[[:upper:]]", "[![:lower:]]", "[[:punct:]-a]", "[[:no:]]", "[[:a]", "[[:]", "[a", "[", "[é]"),
)
NAMES = ("a", "b", "c", "ab", "A", "é", "ébé", "-", "]", "[", "a]", "*", "a b", "a ", "#a", "!a", "\\", "&", "aab", "")
PATHS = (*NAMES[:-1], *("a/b", "a/a", "a/b/c", "b/ab", "b/a/a", "ab/b", "A/é/b", "a/b/a/b"))
KNOWN_ODD = (
    "a**/b",
    "**",
    "**/",
    "/**",
    "a/**",
    "a/**/",
    "**/b",
    "a/**/b",
    "*/",
    "***/b",
    "/",
    "//",
    "\\",
    "!",
    "a\\",
    "b\r",
    "a\r!b",
    "*\r!b",
    "a\rb\r",
)


def random_patterns(count: int) -> list[str]:
    """The same ones each time."""
    source = random.Random(7)
    made = ("".join(source.choices(PIECES, k=source.randint(1, 5))) for _ in itertools.repeat(0))
    return [*KNOWN_ODD, *PIECES, *itertools.islice(made, count)]


def ignored_by_git(root: Path, patterns: list[str]) -> list[set[str]]:
    """Of PATHS, which ones each pattern makes git ignore."""
    try:
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("git is not installed")
    for number, pattern in enumerate(patterns):
        (root / f"d{number}").mkdir()
        (root / f"d{number}" / ".gitignore").write_bytes(pattern.encode() + b"\n")
    asked = "".join(f"d{number}/{path}\0" for number in range(len(patterns)) for path in PATHS)
    answer = subprocess.run(
        ["git", "-C", str(root), "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z"],
        input=asked.encode(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    found = set(answer.split("\0"))
    return [{path for path in PATHS if f"d{number}/{path}" in found} for number in range(len(patterns))]


def is_ignored_in(rules: list[Rules], path: str) -> bool:
    names = path.split("/")
    folders = ["/".join(names[:count]) for count in range(1, len(names))]
    return any(is_ignored(rules, folder, is_folder=True) for folder in folders) or is_ignored(
        rules, path, is_folder=False
    )


def test_git_ignores_the_same_paths(tmp_path: Path) -> None:
    patterns = random_patterns(250)
    expected = ignored_by_git(tmp_path, patterns)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [
            {path for path in PATHS if is_ignored_in([read_rules(tmp_path / f"d{number}" / ".gitignore", "")], path)}
            for number in range(len(patterns))
        ]

    assert [(pattern, ours) for pattern, ours in zip(patterns, found, strict=True)] == list(
        zip(patterns, expected, strict=True)
    )
    assert sum(map(len, expected)) > len(patterns)  # there is something to see


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 100 + "b", "a" * 255),
        ("/" + "*a" * 100 + "b/c", "a" * 255 + "/c"),
        ("**/a/" * 50 + "b", "a/" * 2000 + "a"),
        ("**/*a*/" * 50 + "b", "aaa/" * 1000 + "a"),
        ("**/**/" * 50 + "b", "a/" * 2000 + "a"),
    ],
)
def test_many_stars_take_no_time(pattern: str, path: str) -> None:
    compiled = wildmatch(pattern)

    assert compiled
    assert not compiled.matches(path.encode(), is_folder=False)


@pytest.mark.parametrize("line", ["!", "/", "\\", "[a", "[[:no:]]", "a[", "b\\", "[/]"])
def test_what_nothing_can_match_is_no_pattern(line: str) -> None:
    with pytest.raises(ValueError, match=r"nothing|no such|no end"):
        wildmatch(line)


@pytest.mark.parametrize("line", ["", "  ", "# comment"])
def test_blank_lines_and_comments_are_none(line: str) -> None:
    assert wildmatch(line) is None
