import os
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from kebab_stream.errors import ConfigInvalidError, StorageError
from kebab_stream.ingest import walk as walk_module
from kebab_stream.ingest.walk import SKIP_MEANINGS, Skip, SkipReason, Walk, is_gone, walk
from tests.paths import SHARED

VAULT = SHARED / "data" / "torture" / "markdown" / "vault"


def write(root: Path, *paths: str, text: str = "text\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


def scan(root: Path, exclude: Sequence[str] = (), max_file_bytes: int = 1000) -> Walk:
    return walk(root, exclude=exclude, max_file_bytes=max_file_bytes)


def counts(found: Walk) -> dict[str, int]:
    return dict(Counter(skip.reason for skip in found.skips))


def paths_of(root: Path, exclude: Sequence[str] = ()) -> list[str]:
    return [file.doc_path for file in scan(root, exclude).files]


def test_documents_are_found_by_the_bytes_of_their_paths(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a.md", "B.MD", "가/나.txt", "a-b/x.py", "README", "Makefile")

    assert paths_of(tmp_path) == ["B.MD", "Makefile", "README", "a-b/x.py", "a.md", "a/z.md", "b.md", "가/나.txt"]


def test_a_file_is_described_by_place_size_and_time(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md", text="12345")
    os.utime(tmp_path / "a/b.md", ns=(1, 1_700_000_000_123_456_789))
    (file,) = scan(tmp_path).files

    assert (file.doc_path, file.path, file.size) == ("a/b.md", tmp_path / "a/b.md", 5)
    assert file.mtime_ns == (tmp_path / "a/b.md").stat().st_mtime_ns


def test_an_empty_root_has_no_files(tmp_path: Path) -> None:
    assert scan(tmp_path) == Walk((), (), is_empty=True)


@pytest.mark.parametrize("name", ["a.md", ".hidden", "photo.png", "folder/", "pipe"])
def test_a_root_with_anything_in_it_is_not_empty(tmp_path: Path, name: str) -> None:
    if name.endswith("/"):
        (tmp_path / name).mkdir()
    elif name == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        write(tmp_path, name)

    assert not scan(tmp_path).is_empty


def test_what_is_passed_over_is_listed_by_reason(tmp_path: Path) -> None:
    write(tmp_path, ".git/config", ".hidden.md", ".obsidian/x.md", ".z/y.md", "x.png", "out/x.md", "tmp/a.md", "ok.md")
    write(tmp_path, "big.md", text="x" * 1001)
    write(tmp_path, "blob", text="a\0b")
    write(tmp_path, "utf16")
    (tmp_path / "utf16").write_bytes("글".encode("utf-16"))
    write(tmp_path, ".gitignore", text="out/\n")
    found = scan(tmp_path, exclude=["/tmp"])

    assert [file.doc_path for file in found.files] == ["ok.md", "utf16"]
    assert found.skips == (
        Skip("binary", "blob"),
        Skip("excluded", "tmp"),
        *(Skip("hidden", name) for name in (".git", ".gitignore", ".hidden.md", ".obsidian", ".z")),
        Skip("ignored", "out"),
        Skip("too_large", "big.md"),
        Skip("unsupported", "x.png"),
    )
    assert found.no_documents() == {"big.md", "blob", "x.png"}


def test_every_reason_has_a_meaning_in_alphabetical_order() -> None:
    assert list(SKIP_MEANINGS) == sorted(get_args(SkipReason))


def test_ignore_files_count_from_their_folders_and_kebabignore_decides(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "draft.md", "sub/a.md", "sub/draft.md", "sub/keep/draft.md", "out/keep.md")
    write(tmp_path, ".gitignore", text="draft.md\nout/\n!out/keep.md\n")
    write(tmp_path, "sub/.gitignore", text="/a.md\n!draft.md\n")
    write(tmp_path, "sub/keep/.kebabignore", text="*.md\n")

    assert paths_of(tmp_path) == ["a.md", "sub/draft.md"]


def test_kebabignore_goes_before_gitignore(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    write(tmp_path, ".gitignore", text="a.md\n")
    write(tmp_path, ".kebabignore", text="!a.md\nb.md\n")

    assert paths_of(tmp_path) == ["a.md"]


def test_nothing_brings_back_what_the_configuration_excludes(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "sub/b.md", "sub/c.md")
    write(tmp_path, ".kebabignore", text="!sub/\n!*.md\n")

    assert paths_of(tmp_path, exclude=["sub/b.md"]) == ["a.md", "sub/c.md"]
    assert paths_of(tmp_path, exclude=["sub/"]) == ["a.md"]


def test_a_bad_exclusion_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalidError):
        scan(tmp_path, exclude=["!"])


def test_links_are_passed_over_wherever_they_lead(tmp_path: Path) -> None:
    write(tmp_path, "secret.md", "root/real.md", "root/folder/x.md", "root/.private/y.md", "root/out/z.md")
    root = tmp_path / "root"
    (root / ".kebabignore").write_text("out/")
    targets = ("real.md", "../secret.md", ".", "folder", ".private/y.md", "out/z.md", "nowhere.md", "link-7.md")
    for number, target in enumerate(targets):
        (root / f"link-{number}.md").symlink_to(target)
    found = scan(root)

    assert [file.doc_path for file in found.files] == ["folder/x.md", "real.md"]
    assert counts(found) == {"hidden": 2, "ignored": 1, "symlink": len(targets)}


def test_the_data_folder_is_passed_over_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path, "real/data/index/1/manifest.json", "real/sub/data/a.md", "real/data2/a.md", "real/data.md")
    (tmp_path / "link").symlink_to("real")
    found = walk(tmp_path / "link", max_file_bytes=1000, data_dir=tmp_path / "real" / "data")

    assert [file.doc_path for file in found.files] == ["data.md", "data2/a.md", "sub/data/a.md"]
    assert found.skips == (Skip("data_folder", "data"),)


@pytest.mark.parametrize("linked", [False, True])
def test_a_file_knows_the_nearest_folder_with_git_in_it(tmp_path: Path, linked: bool) -> None:
    decomposed = unicodedata.normalize("NFD", "메모")
    write(tmp_path, f"{decomposed}/root/a.md", f"{decomposed}/root/sub/inner/b/c.md", f"{decomposed}/root/sub/d.md")
    root = tmp_path / decomposed / "root"
    (tmp_path / decomposed / ".git").mkdir()
    (root / "sub" / "inner" / ".git").touch()  # a work tree or submodule has a file there
    if linked:
        (tmp_path / "link").symlink_to(root)
        root = tmp_path / "link"

    assert {file.doc_path: file.repo for file in scan(root).files} == {
        "a.md": "메모",
        "sub/d.md": "메모",
        "sub/inner/b/c.md": "inner",
    }
    (root / ".git").mkdir()
    assert scan(root).files[0].repo == "root"


def test_a_file_in_no_repository_has_none(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md")
    (tmp_path / "a.git").mkdir()

    assert [file.repo for file in scan(tmp_path).files] == [None]


def test_the_root_itself_may_be_a_link_and_hidden(tmp_path: Path) -> None:
    write(tmp_path, ".notes/a.md")
    (tmp_path / ".link").symlink_to(".notes")

    assert paths_of(tmp_path / ".link") == paths_of(tmp_path / ".notes") == ["a.md"]


def test_names_are_normalised_and_only_one_of_two_equal_ones_is_kept(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "한글")
    write(tmp_path, f"{decomposed}.md", f"폴더/{decomposed}.md", "폴더/한글.md")
    if len(list((tmp_path / "폴더").iterdir())) == 1:
        pytest.skip("this file system normalises names")
    found = scan(tmp_path)

    assert [file.doc_path for file in found.files] == ["폴더/한글.md", "한글.md"]
    assert found.files[0].path.name == f"{decomposed}.md"
    assert found.skips == (Skip("duplicate_name", "폴더/한글.md"),)


def test_names_that_are_no_text_are_passed_over(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.md")).touch()
    except OSError:
        pytest.skip("this file system refuses such names")

    assert scan(tmp_path).skips == (Skip("bad_name", "a\ufffd.md"),)


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / "pipe")

    assert counts(scan(tmp_path)) == {"unsupported": 2}


@pytest.mark.timeout(10)
def test_an_ignore_file_that_is_a_pipe_does_not_stop_the_walk(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / ".gitignore")

    assert paths_of(tmp_path) == ["a.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_passed_over_and_its_files_are_not_gone(tmp_path: Path) -> None:
    write(tmp_path, "closed/a.md", "b.md")
    (tmp_path / "closed").chmod(0)
    try:
        found = scan(tmp_path)
        gone = is_gone(tmp_path, "closed/a.md")
    finally:
        (tmp_path / "closed").chmod(0o700)

    assert found.skips == (Skip("unreadable", "closed"),)
    assert not gone


def test_a_root_that_is_missing_or_no_folder_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "file.md")
    for root in (tmp_path / "nowhere", tmp_path / "file.md"):
        with pytest.raises(StorageError, match="cannot read the folder"):
            scan(root)


def test_deep_folders_are_walked(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 300)
    write(tmp_path, f"{deep}/x.md")

    assert paths_of(tmp_path) == [f"{deep}/x.md"]


# --- proof of absence ------------------------------------------------------------------------------------


def test_only_what_is_not_there_is_gone(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "폴더")
    write(tmp_path, "a.md", ".hidden.md", f"{decomposed}/한글.md")

    assert not any(is_gone(tmp_path, path) for path in ("a.md", ".hidden.md", "폴더/한글.md"))
    assert all(is_gone(tmp_path, path) for path in ("b.md", "a.md/x.md", "폴더/b.md", "sub/a.md"))


def test_a_link_or_a_folder_in_the_place_of_a_file_is_no_file(tmp_path: Path) -> None:
    write(tmp_path, "real.md", "real/a.md")
    (tmp_path / "link.md").symlink_to("real.md")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "root").symlink_to(".")

    assert all(is_gone(tmp_path, path) for path in ("link.md", "link/a.md", "real"))
    assert not is_gone(tmp_path / "root", "real/a.md")


def test_what_the_system_will_not_tell_is_not_gone(tmp_path: Path) -> None:
    assert not is_gone(tmp_path, "x" * 10_000)


def test_nothing_is_gone_when_the_root_is_missing(tmp_path: Path) -> None:
    assert not is_gone(tmp_path / "nowhere", "a.md")


@pytest.mark.skipif(not VAULT.exists(), reason="the shared data sets are not here")
def test_the_vault_is_walked() -> None:
    found = walk(VAULT, max_file_bytes=1_000_000)

    assert len(found.files) == 36
    assert counts(found) == {"hidden": 1, "too_large": 2}


def test_a_pdf_waits_for_the_extra_that_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.PDF", text="%PDF-1.4 \0")
    assert [file.doc_path for file in scan(tmp_path).files] == ["a.PDF"]

    monkeypatch.setattr(walk_module, "can_read_pdf", lambda: False)
    found = scan(tmp_path)
    assert (found.files, found.skips) == ((), (Skip("needs_extra", "a.PDF"),))
    assert found.no_documents() == set()  # one that was indexed stays


def test_a_pdf_may_be_ten_times_as_large_as_other_files(tmp_path: Path) -> None:
    write(tmp_path, "a.pdf", "a.txt", text="x" * 1001)
    write(tmp_path, "b.pdf", text="x" * 10_001)

    assert [file.doc_path for file in scan(tmp_path, max_file_bytes=1000).files] == ["a.pdf"]
    assert scan(tmp_path, max_file_bytes=1000).skips == (Skip("too_large", "a.txt"), Skip("too_large", "b.pdf"))


def test_rules_above_the_root_count_in_a_work_tree_of_git(tmp_path: Path) -> None:
    files = ("docs/a.md", "docs/_build/b.md", "docs/sub/c.md", "docs/kept.md", "docs/sub/draft.md")
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    (tmp_path / ".gitignore").write_text("_build/\n/docs/sub/c.md\nkept.md\n/a.md\n")
    (tmp_path / ".kebabignore").write_text("draft.md\n")
    (tmp_path / "docs" / ".gitignore").write_text("!kept.md\n")
    outside = [file.doc_path for file in walk(tmp_path / "docs", max_file_bytes=100).files]
    (tmp_path / ".git").mkdir()
    inside = [file.doc_path for file in walk(tmp_path / "docs", max_file_bytes=100).files]

    assert outside == ["_build/b.md", "a.md", "kept.md", "sub/c.md", "sub/draft.md"]
    assert inside == ["a.md", "kept.md"]


def test_a_folder_that_is_ignored_itself_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "a.md").write_text("text")

    assert [file.doc_path for file in walk(tmp_path / "build", max_file_bytes=100).files] == ["a.md"]
