"""`kebab ingest`, as a user runs it."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import COMMAND, environment, kebab
from tests.ingest.test_preparing import is_running
from tests.wire import checked


def test_the_report_counts_what_happened(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Alpha\n\nfirst words\n")
    (notes / "b.md").write_text("# Beta\n\nsecond words\n")
    data = tmp_path / "data"

    first = kebab("ingest", str(notes), "--json", data_dir=data)
    (notes / "a.md").write_text("# Alpha\n\nother words\n")
    (notes / "b.md").unlink()
    second = kebab("ingest", "--json", data_dir=data)
    third = kebab("ingest", "--json", data_dir=data)

    kinds = ("new", "updated", "unchanged", "deleted", "documents", "changed")
    reports = [tuple(done.lines[0][kind] for kind in kinds) for done in (first, second, third)]
    assert reports == [(2, 0, 0, 0, 2, True), (0, 1, 0, 1, 1, True), (0, 0, 1, 0, 1, False)]
    assert (first.err, first.status) == (b"", 0)


def test_people_get_a_summary_and_no_progress_bar_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Alpha\n")

    done = kebab("ingest", str(tmp_path / "notes"), data_dir=tmp_path / "data")

    assert done.out.startswith(b"1 new, 0 updated, 0 unchanged, 0 deleted")
    assert done.err == b""


def test_readonly_refuses_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    flag = kebab("--readonly", "ingest", str(tmp_path / "notes"), "--json", data_dir=tmp_path / "data")
    variable = kebab(
        "ingest", str(tmp_path / "notes"), "--json", data_dir=tmp_path / "data", extra={"KEBAB_READONLY": "1"}
    )

    assert (flag.status, flag.error["code"]) == (1, "readonly_mode")
    assert (variable.status, variable.error["code"]) == (1, "readonly_mode")
    assert not (tmp_path / "data").exists()


def test_a_folder_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    done = kebab("ingest", str(tmp_path / "nowhere"), "--json", data_dir=tmp_path / "data")

    assert (done.status, done.error["code"]) == (2, "invalid_input")
    assert "nowhere" in done.error["message"]


def test_ingest_here_and_search_just_work_without_any_setting(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Alpha\n\nnothing is configured\n")
    home = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}

    assert kebab("ingest", ".", cwd=tmp_path, extra=home).status == 0
    assert b"a.md" in kebab("search", "configured", cwd=tmp_path, extra=home).out


def test_errors_of_files_are_told_even_when_quiet(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bad.md").write_bytes(b"\xff\xfe\xff")

    done = kebab("ingest", str(tmp_path / "notes"), "--quiet", data_dir=tmp_path / "data")

    assert done.status == 0
    assert b", 1 errors in " in done.out
    assert b"notes/bad.md" in done.err


def test_an_empty_path_is_not_the_current_folder(tmp_path: Path) -> None:
    done = kebab("ingest", "", "--json", data_dir=tmp_path / "data", cwd=tmp_path)

    assert (done.status, done.error["code"]) == (2, "invalid_input")


# --- progress and Ctrl-C ---------------------------------------------------------------------------------


def test_progress_comes_as_lines_on_stderr_and_ends_after_the_commit(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(40):
        (tmp_path / "notes" / f"{number}.md").write_text(f"note {number}")
    done = kebab("ingest", str(tmp_path / "notes"), "--json", "--progress", data_dir=tmp_path / "data")

    told = [checked(line) for line in done.err.splitlines()]
    assert [state["phase"] for state in told] == ["scan", "read", "read", "commit", "done"]
    assert [(state["done"], state["total"]) for state in told if state["phase"] == "read"] == [(32, 40), (40, 40)]
    assert sorted(state["elapsed_ms"] for state in told) == [state["elapsed_ms"] for state in told]
    (report,) = done.lines
    assert report["new"] == 40
    assert not kebab("ingest", "--json", data_dir=tmp_path / "data").err


def test_ctrl_c_keeps_what_is_complete_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(2000):
        (tmp_path / "notes" / f"{number:04}.md").write_text(f"# {number}\n\n" + "some words of a note. " * 100)
    started = subprocess.Popen(
        [*COMMAND, "ingest", str(tmp_path / "notes"), "--json", "--progress"],
        env=environment(tmp_path / "data", {"KEBAB_INGEST_PROCESSES": "2"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert started.stderr
    for line in started.stderr:
        if checked(line)["phase"] == "read":
            break
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    parsing = [int(pid) for pid in children.read_text().split()] if children.exists() else []
    started.send_signal(signal.SIGINT)
    out, _ = started.communicate(timeout=60)

    assert not any(map(is_running, parsing))
    report = checked(out.removesuffix(b"\n"))
    assert started.returncode == 130
    assert report["interrupted"]
    assert 0 < report["new"] < 2000
    assert report["new"] + report["not_reached"] == 2000
    again = kebab("ingest", "--json", data_dir=tmp_path / "data").lines[0]
    assert (again["new"], again["unchanged"]) == (report["not_reached"], report["new"])


# --- documents one by one --------------------------------------------------------------------------------


def test_a_file_and_a_text_are_found_and_removed_again(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    (tmp_path / "a.md").write_text("# Apples\n\nabout apples\n")
    (file,) = kebab("ingest-file", str(tmp_path / "a.md"), "--json", data_dir=data_dir).lines
    stdin = "배에 대하여\n".encode()
    (text,) = kebab("ingest-stdin", "--title", "배", "--tag", "과일", "--json", data_dir=data_dir, stdin=stdin).lines

    assert (file["status"], text["status"]) == ("new", "new")
    (found,) = kebab("search", "배에", "--tag", "과일", "--json", data_dir=data_dir).lines
    assert [hit["doc_id"] for hit in found["hits"]] == [text["doc_id"]]
    (gone,) = kebab("remove", file["doc_id"], "배.md", "--json", data_dir=data_dir).lines
    assert gone["documents"] == [f"_files/{file['doc_path']}", "_stdin/배.md"]
    (none,) = kebab("search", "배에", "--json", data_dir=data_dir).lines
    assert none["hits"] == []


def test_people_are_told_what_became_of_each_document(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / ".hidden.md").write_text("hidden")
    kebab("ingest", str(tmp_path / "notes"), data_dir=data_dir)
    done = kebab("ingest-file", str(tmp_path / "notes" / ".hidden.md"), data_dir=data_dir)

    assert done.out.decode().startswith("new  ")
    assert done.out.decode().endswith("  notes/.hidden.md\n")
    assert b"because you named it" in done.err
    assert b"comes back" in kebab("remove", "notes/.hidden.md", data_dir=data_dir).err


def test_people_are_told_of_copies_that_went(tmp_path: Path) -> None:
    data_dir, notes = tmp_path / "data", tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("apple")
    kebab("ingest-file", str(notes / "a.md"), data_dir=data_dir)
    done = kebab("ingest", str(notes), data_dir=data_dir)

    assert b"stored copies replaced by documents of the folders of their files: 1" in done.err
    assert done.out.startswith(b"1 new, 0 updated, 0 unchanged, 1 deleted")


def test_a_text_that_is_too_large_is_not_said_to_have_the_size_that_was_read(tmp_path: Path) -> None:
    extra = {"KEBAB_INGEST_MAX_FILE_BYTES": "1000"}
    done = kebab("ingest-stdin", "--title", "T", "--json", data_dir=tmp_path, stdin=b"x" * 5000, extra=extra)

    assert done.error["message"] == "the text has more than the 1000 bytes that ingest.max_file_bytes allows"


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["ingest-file", "missing.md"], 2, "invalid_input"),
        (["ingest-file", ""], 2, "invalid_input"),
        (["ingest-file"], 2, "invalid_input"),
        (["ingest-stdin"], 2, "invalid_input"),
        (["ingest-stdin", "--title", " "], 2, "invalid_input"),
        (["ingest-stdin", "--title", "T", "--tag", ""], 2, "invalid_input"),
        (["ingest-stdin", "--title", "T", "--name", "../x.md"], 2, "invalid_input"),
        (["ingest-stdin", "--title", "T", "--trust-level", "high"], 2, "invalid_input"),
        (["remove"], 2, "invalid_input"),
        (["remove", "x"], 2, "not_indexed"),
        (["--readonly", "ingest-file", "x.md"], 1, "readonly_mode"),
        (["--readonly", "ingest-stdin", "--title", "T"], 1, "readonly_mode"),
        (["--readonly", "remove", "x"], 1, "readonly_mode"),
    ],
)
def test_what_cannot_be_done_one_by_one_has_its_code(
    tmp_path: Path, arguments: list[str], status: int, code: str
) -> None:
    done = kebab(*arguments, "--json", data_dir=tmp_path / "data", stdin=b"text", cwd=tmp_path)

    assert (done.status, done.error["code"], done.out) == (status, code, b"")
    assert not (tmp_path / "data" / "kebab.sqlite").exists()
