"""`kebab ingest`, as a user runs it."""

from pathlib import Path

from tests.cli.program import kebab


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
    (tmp_path / "notes" / "bad.md").write_bytes(b"caf\xe9\n")

    done = kebab("ingest", str(tmp_path / "notes"), "--quiet", data_dir=tmp_path / "data")

    assert done.status == 0
    assert b", 1 errors in " in done.out
    assert b"notes/bad.md" in done.err


def test_an_empty_path_is_not_the_current_folder(tmp_path: Path) -> None:
    done = kebab("ingest", "", "--json", data_dir=tmp_path / "data", cwd=tmp_path)

    assert (done.status, done.error["code"]) == (2, "invalid_input")
