"""What is to be read, what is known to be unchanged, and what is proven to be gone."""

import os
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from kebab_stream.config import Chunking, Ingest, Source
from kebab_stream.errors import StorageError
from kebab_stream.index.rows import FileStamp
from kebab_stream.ingest.identity import doc_id_of
from kebab_stream.ingest.plan import Plan, add_source
from kebab_stream.ingest.prepare import signature_of
from kebab_stream.ingest.walk import SourceFile
from tests.limits import public_folder, restricted

SETTINGS = Ingest()


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")


def stamps(source: Source, *names: str, repo: str | None = None) -> dict[str, FileStamp]:
    """What is known of files after an ingest."""
    found = {}
    for name in names:
        status = (source.root / name).stat()
        found[unicodedata.normalize("NFC", name)] = FileStamp(
            doc_id=doc_id_of(source.id, name),
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            content_hash="",
            signature=signature_of(
                source,
                SETTINGS.chunking,
                SourceFile(name, source.root / name, status.st_size, status.st_mtime_ns, repo),
            ),
        )
    return found


def plan_of(
    source: Source, known: dict[str, FileStamp], settings: Ingest = SETTINGS, data_dir: Path = Path("/data")
) -> Plan:
    plan = Plan()
    add_source(plan, source, known, settings, data_dir=data_dir)
    return plan


def skipped(plan: Plan) -> dict[str, int]:
    return dict(Counter(skip.reason for skip in plan.skips))


def to_read(plan: Plan) -> list[str]:
    return [one.file.doc_path for one in plan.to_read]


def test_new_files_are_read_in_the_order_of_their_paths(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/c.md", "가.md", "B.md")
    plan = plan_of(Source(id="s", root=tmp_path), {})

    assert to_read(plan) == ["B.md", "a/c.md", "b.md", "가.md"]
    assert [one.known for one in plan.to_read] == [None] * 4
    assert (plan.unchanged, plan.gone) == (0, [])


def test_files_with_the_size_and_time_they_had_are_not_read(tmp_path: Path) -> None:
    source = Source(id="s", root=tmp_path)
    write(tmp_path, "a.md", "b.md", "c.md")
    known = stamps(source, "a.md", "b.md", "c.md")
    (tmp_path / "b.md").write_text("longer text")
    os.utime(tmp_path / "b.md", ns=(0, known["b.md"].mtime_ns))
    os.utime(tmp_path / "c.md", ns=(0, known["c.md"].mtime_ns - 1))

    plan = plan_of(source, known)

    assert (to_read(plan), plan.unchanged, plan.gone) == (["b.md", "c.md"], 1, [])
    assert [one.known for one in plan.to_read] == [known["b.md"], known["c.md"]]


@pytest.mark.parametrize("change", [{"trust_level": "generated"}, {"source_type": "wiki"}])
def test_files_of_a_source_whose_settings_changed_are_read(tmp_path: Path, change: dict[str, str]) -> None:
    write(tmp_path, "a.md")
    known = stamps(Source(id="s", root=tmp_path), "a.md")

    assert to_read(plan_of(Source(id="s", root=tmp_path, **change), known)) == ["a.md"]  # type: ignore[arg-type]
    assert to_read(plan_of(Source(id="s", root=tmp_path, exclude=("b.md",)), known)) == []


def test_files_are_read_when_chunks_are_to_have_another_size(tmp_path: Path) -> None:
    source = Source(id="s", root=tmp_path)
    write(tmp_path, "a.md")

    assert to_read(plan_of(source, stamps(source, "a.md"), Ingest(chunking=Chunking(target_chars=800)))) == ["a.md"]
    assert to_read(plan_of(source, stamps(source, "a.md"), Ingest(max_file_bytes=100))) == []


def test_a_document_is_gone_when_its_file_or_folder_is(tmp_path: Path) -> None:
    source = Source(id="s", root=tmp_path)
    names = ("a.md", "sub/b.md", "c.md", "sub2/d.md")
    write(tmp_path, *names)
    known = stamps(source, *names)
    (tmp_path / "a.md").unlink()
    (tmp_path / "sub" / "b.md").unlink()
    (tmp_path / "sub").rmdir()
    (tmp_path / "sub2" / "d.md").unlink()
    (tmp_path / "sub2").rmdir()
    (tmp_path / "sub2").touch()  # a file where a folder was

    assert plan_of(source, known).gone == [doc_id_of("s", name) for name in ("a.md", "sub/b.md", "sub2/d.md")]


def test_files_whose_repository_changed_are_read(tmp_path: Path) -> None:
    source = Source(id="s", root=tmp_path)
    write(tmp_path, "a.md", "sub/b.md")
    known = stamps(source, "a.md", "sub/b.md")
    assert to_read(plan_of(source, known)) == []

    (tmp_path / "sub" / ".git").mkdir()
    assert to_read(plan_of(source, known)) == ["sub/b.md"]
    assert to_read(plan_of(source, known | stamps(source, "sub/b.md", repo="sub"))) == []


def test_a_document_that_is_merely_passed_over_is_not_gone(tmp_path: Path) -> None:
    names = ("ignored.md", "excluded.md", unicodedata.normalize("NFD", "한글.md"))
    source = Source(id="s", root=tmp_path)
    write(tmp_path, *names)
    known = stamps(source, *names)
    (tmp_path / ".gitignore").write_text("ignored.md")
    excluding = Source(id="s", root=tmp_path, exclude=("excluded.md", "한글.md"))

    plan = plan_of(excluding, known)

    assert (to_read(plan), plan.unchanged, plan.gone) == ([], 0, [])
    assert skipped(plan) == {"excluded": 2, "hidden": 1, "ignored": 1}


def test_a_document_whose_file_became_no_document_is_gone(tmp_path: Path) -> None:
    names = ("binary", "large.md", "link.md", "pipe.md", "folder/a.md")
    source = Source(id="s", root=tmp_path)
    write(tmp_path, *names, "real/a.md")
    known = stamps(source, *names)
    (tmp_path / "binary").write_text("a\0b")
    (tmp_path / "large.md").write_text("x" * 2000)
    for name in ("link.md", "pipe.md", "folder/a.md"):
        (tmp_path / name).unlink()
    (tmp_path / "folder").rmdir()
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "link.md").symlink_to("real/a.md")
    os.mkfifo(tmp_path / "pipe.md")

    plan = plan_of(source, known, Ingest(max_file_bytes=1000))

    assert to_read(plan) == ["real/a.md"]
    assert plan.gone == [doc_id_of("s", name) for name in names]
    assert skipped(plan) == {"binary": 1, "symlink": 2, "too_large": 1, "unsupported": 1}


def test_a_lower_limit_of_size_removes_nothing(tmp_path: Path) -> None:
    source = Source(id="s", root=tmp_path)
    write(tmp_path, "a.md")

    plan = plan_of(source, stamps(source, "a.md"), Ingest(max_file_bytes=3))

    assert (skipped(plan), plan.gone) == ({"too_large": 1}, [])


@pytest.mark.parametrize("left", ["", ".hidden", "photo.png", "folder/"])
def test_a_root_without_anything_in_it_is_an_error_while_documents_of_it_are_known(tmp_path: Path, left: str) -> None:
    root = tmp_path / "root"
    source = Source(id="s", root=root)
    write(root, "a.md", "b.md")
    known = stamps(source, "a.md", "b.md")
    (root / "a.md").unlink()
    (root / "b.md").unlink()
    if left.endswith("/"):
        (root / left).mkdir()
    elif left:
        write(root, left)

    if left:
        assert len(plan_of(source, known).gone) == 2
        return
    assert plan_of(source, {}).gone == []
    with pytest.raises(StorageError, match="is empty, but 2 of its documents are indexed") as caught:
        plan_of(source, known)
    assert caught.value.details == {"path": str(root), "source_id": "s", "documents": 2}
    assert "put any file into it" in str(caught.value.hint)


def test_a_document_in_a_folder_that_may_not_be_read_is_not_gone() -> None:
    with public_folder() as root:
        source = Source(id="s", root=root)
        write(root, "sub/a.md", "b.md")
        known = stamps(source, "sub/a.md", "b.md")
        for mode in (0, 0o444, 0o111):
            with restricted(root / "sub", mode):
                plan = plan_of(source, known)

            assert (plan.unchanged, plan.gone) == (1, [])
            assert skipped(plan) == {"unreadable": 1}


@pytest.mark.parametrize("mode", [0, 0o111])
def test_a_root_that_may_not_be_read_is_an_error_and_not_empty(mode: int) -> None:
    with public_folder() as place:
        root = place / "root"
        write(root, "a.md")
        known = stamps(Source(id="s", root=root), "a.md")
        with restricted(root, mode), pytest.raises(StorageError, match="permission denied"):
            plan_of(Source(id="s", root=root), known)


def test_a_missing_root_is_an_error_and_not_empty(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no such file or directory") as caught:
        plan_of(Source(id="my notes", root=tmp_path / "missing"), {})

    assert "`kebab ingest NEW_FOLDER --source-id 'my notes'`" in str(caught.value.hint)
    assert caught.value.details == {"path": str(tmp_path / "missing"), "source_id": "my notes"}


def test_documents_of_other_sources_are_left_alone(tmp_path: Path) -> None:
    one, two = Source(id="1", root=tmp_path / "1"), Source(id="2", root=tmp_path / "2")
    write(one.root, "a.md", "b.md")
    write(two.root, "a.md")
    known = stamps(one, "a.md", "b.md")
    (one.root / "b.md").unlink()
    plan = Plan()
    add_source(plan, one, known, SETTINGS, data_dir=tmp_path / "data")
    add_source(plan, two, {}, SETTINGS, data_dir=tmp_path / "data")

    assert plan.gone == [doc_id_of("1", "b.md")]
    assert [(one.source.id, one.file.doc_path) for one in plan.to_read] == [("2", "a.md")]


def test_what_is_in_the_data_folder_is_no_document(tmp_path: Path) -> None:
    write(tmp_path, "data/index/1/manifest.json", "data2/a.md", "data.md")
    (tmp_path / "to-data").symlink_to("data")
    (tmp_path / "to-root").symlink_to(".")

    for root in (tmp_path, tmp_path / "to-root"):
        plan = plan_of(Source(id="s", root=root), {}, data_dir=tmp_path / "to-data")

        assert to_read(plan) == ["data.md", "data2/a.md"]
        assert skipped(plan) == {"data_folder": 1, "symlink": 2}
