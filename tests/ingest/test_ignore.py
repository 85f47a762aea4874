import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab_stream.errors import ConfigInvalidError
from kebab_stream.ingest.ignore import Rules, excluded_by, is_ignored, read_rules
from kebab_stream.ingest.walk import walk


def ignored(path: str, *rules: Rules, is_folder: bool = False) -> bool:
    return is_ignored(rules, path, is_folder=is_folder)


def test_the_last_matching_pattern_decides() -> None:
    rules = Rules.of(["*.md", "!keep.md"])

    assert ignored("a/x.md", rules)
    assert not ignored("a/keep.md", rules)


def test_deeper_rules_go_before_outer_ones_and_count_from_their_folder() -> None:
    outer, inner = Rules.of(["*.md"]), Rules.of(["!/x.md"], "a/")

    assert not ignored("a/x.md", outer, inner)
    assert ignored("a/b/x.md", outer, inner)


def test_patterns_for_folders_leave_files_alone() -> None:
    assert ignored("build", Rules.of(["build/"]), is_folder=True)
    assert not ignored("build", Rules.of(["build/"]))
    assert not ignored("build", Rules.of(["build/**"]), is_folder=True)


def test_a_pattern_for_every_folder_matches_at_any_depth() -> None:
    assert ignored("a/b", Rules.of(["*/"]), is_folder=True)
    assert not ignored("a/b.md", Rules.of(["*/"]))
    assert ignored("a/b", Rules.of(["a/**/"]), is_folder=True)
    assert not ignored("a", Rules.of(["a/**/"]), is_folder=True)


def test_patterns_match_whatever_the_normalisation() -> None:
    assert ignored("\ud55c\uae00.md", Rules.of(["\u1112\u1161\u11ab\u1100\u1173\u11af.md"]))


@pytest.mark.parametrize("pattern", ["!", "\\", "[z-a"])
def test_an_exclusion_that_is_no_pattern_is_named(pattern: str) -> None:
    with pytest.raises(ConfigInvalidError) as caught:
        excluded_by(["*.md", pattern], "notes")

    assert caught.value.details == {"pattern": pattern, "source_id": "notes"}
    assert "source 'notes'" in str(caught.value)


def test_lines_of_an_ignore_file_that_are_no_pattern_count_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / ".gitignore"
    path.write_bytes(b"\xef\xbb\xbf*.md\r\n[z-a\r\n!\n# no.txt\n\xff\n")
    rules = read_rules(path, "")

    assert ignored("x.md", rules)
    assert not ignored("no.txt", rules)


def test_an_ignore_file_that_is_a_folder_has_no_rules(tmp_path: Path) -> None:
    assert read_rules(tmp_path, "") == Rules.of([])


def test_lines_of_an_ignore_file_end_where_git_ends_them(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes("a\u2028b.md\r\nb.md\rc.md\r".encode())
    rules = read_rules(tmp_path / ".gitignore", "")

    names = ("a\u2028b.md", "a", "b.md", "c.md", "b.md\rc.md")
    assert [ignored(name, rules) for name in names] == [True, False, False, False, True]


def test_an_ignore_file_that_is_a_pipe_has_no_rules(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")

    assert read_rules(tmp_path / ".gitignore", "") == Rules.of([])


# --- git itself is the judge -------------------------------------------------------------------------------

PATHS = ("a.md", "b.md", "a/a.md", "a/b.md", "a/b/a.md", "b/a.md", "b/c/a.md", "b/c/d.md")
_names = st.sampled_from(["a", "b", "c", "a.md", "b.md", "d.md", "*", "*.md", "?", "**", "[ab]", "[!a]*"])
_patterns = st.builds(
    lambda negated, anchored, parts, is_folder: negated + anchored + "/".join(parts) + is_folder,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(_names, min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)
_ignore_files = st.dictionaries(
    st.sampled_from(["", "a", "b", "b/c"]), st.lists(_patterns, min_size=1, max_size=4), max_size=3
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    try:
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("git is not installed")
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    return root


@given(_ignore_files)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_ignored_is_what_git_ignores(repository: Path, ignore_files: dict[str, list[str]]) -> None:
    for old in repository.rglob(".gitignore"):
        old.unlink()
    for folder, patterns in ignore_files.items():
        (repository / folder / ".gitignore").write_text("\n".join(patterns) + "\n")
    listed = subprocess.run(
        [
            "git",
            "-C",
            str(repository),
            "-c",
            "core.excludesFile=",
            "ls-files",
            "-oz",
            "--exclude-per-directory=.gitignore",
        ],
        check=True,
        capture_output=True,
    ).stdout.decode()

    found = walk(repository, max_file_bytes=100)

    assert {file.doc_path for file in found.files} == {path for path in listed.split("\0") if path.endswith(".md")}
