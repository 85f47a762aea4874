"""`kebab doctor`."""

import re
import shutil
from pathlib import Path

from tests.cli.program import kebab
from tests.cli.test_human import on_a_terminal


def test_people_get_a_line_for_each_check(fixture_data: Path) -> None:
    done = kebab("doctor", data_dir=fixture_data)

    lines = done.out.decode().splitlines()
    assert (done.status, done.err) == (0, b"")
    assert all(re.match(r"(ok|warn|fail|skipped) +[a-z_]+ +\S", line) for line in lines)
    assert re.search(r"^ok +store +\d+ documents, \d+ chunks", done.out.decode(), re.MULTILINE)


def test_colours_are_for_terminals_that_want_them(fixture_data: Path) -> None:
    assert "\x1b[32mok" in on_a_terminal(fixture_data, "doctor")
    assert "\x1b" not in on_a_terminal(fixture_data, "doctor", extra={"NO_COLOR": "1"})


def test_a_failing_check_is_exit_status_3_and_its_hint_is_told(fixture_data: Path, tmp_path: Path) -> None:
    data = shutil.copytree(fixture_data, tmp_path / "data")
    next(data.glob("index/*/manifest.json")).unlink()

    people = kebab("doctor", data_dir=data)
    program = kebab("doctor", "--json", data_dir=data)

    (report,) = program.lines
    assert (people.status, program.status, report["healthy"]) == (3, 3, False)
    assert re.search(r"^fail +index .*missing\n +hint: run `kebab ingest --rebuild-index`", people.out.decode(), re.M)
    assert people.err == program.err == b""


def test_broken_settings_are_a_failing_check_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("no toml")

    broken = kebab("doctor", "--json", "--config", str(tmp_path / "c.toml"))
    missing = kebab("doctor", "--json", "--config", str(tmp_path / "nowhere.toml"))
    variable = kebab("doctor", "--json", extra={"KEBAB_SEARCH_K": "5"})

    codes = [done.lines[0]["checks"][0]["details"]["code"] for done in (broken, missing, variable)]
    assert codes == ["config_invalid", "config_not_found", "config_invalid"]
    assert {done.status for done in (broken, missing, variable)} == {3}


def test_it_looks_where_the_config_file_says(fixture_data: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(f'[storage]\ndata_dir = "{fixture_data}"\n')

    (report,) = kebab("doctor", "--json", "--readonly", "--config", str(tmp_path / "c.toml")).lines

    details = {check["name"]: check["details"] for check in report["checks"]}
    assert details["config"]["path"] == str(tmp_path / "c.toml")
    assert details["data_folder"]["path"] == str(fixture_data)


def test_an_empty_place_is_no_failure_and_stays_empty(tmp_path: Path) -> None:
    done = kebab("doctor", data_dir=tmp_path / "data")

    assert done.status == 0
    assert list(tmp_path.iterdir()) == []


def test_names_of_files_are_safe_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "c\x1b[31m.toml").write_text("")

    done = kebab("doctor", "--config", str(tmp_path / "c\x1b[31m.toml"), data_dir=tmp_path / "data")

    assert b"\x1b" not in done.out
    assert b"c\\x1b[31m.toml" in done.out
