"""`kebab reset`."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import COMMAND, environment, kebab
from tests.index.test_lock import held_elsewhere


@pytest.fixture
def data_dir(fixture_data: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(fixture_data, tmp_path / "data"))


def on_a_terminal(data_dir: Path, answer: bytes, *arguments: str) -> tuple[int, str]:
    """Exit status and what is shown when a person answers."""
    master, slave = pty.openpty()
    try:
        with subprocess.Popen(
            [*COMMAND, "reset", *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment(data_dir)
        ) as process:
            os.write(master, answer)
            status = process.wait(timeout=60)
        return status, os.read(master, 65536).decode()
    finally:
        os.close(slave)
        os.close(master)


def test_nothing_is_left_and_a_search_says_so(data_dir: Path) -> None:
    done = kebab("reset", "--yes", "--json", data_dir=data_dir)
    search = kebab("search", "coffee", "--json", data_dir=data_dir)
    again = kebab("reset", "--yes", "--json", data_dir=data_dir)

    assert (done.lines[0]["removed"][0], done.lines[0]["folder_removed"]) == ("kebab.sqlite", True)
    assert (search.status, search.error["code"]) == (2, "not_indexed")
    assert (again.status, again.lines[0]["removed"]) == (0, [])
    assert not data_dir.exists()


def test_a_person_is_asked_and_says_yes(data_dir: Path) -> None:
    status, shown = on_a_terminal(data_dir, b"yes\n")

    assert (status, data_dir.exists()) == (0, False)
    assert f"from {data_dir}" in shown
    assert "documents" in shown


@pytest.mark.parametrize("answer", [b"y\n", b"\n", b"no\n", b"\x04"])
def test_any_other_answer_removes_nothing(data_dir: Path, answer: bytes) -> None:
    status, shown = on_a_terminal(data_dir, answer)

    assert status == 1
    assert "nothing was removed" in shown
    assert (data_dir / "kebab.sqlite").exists()
    assert not (data_dir / "write.pid").exists()


def test_where_nobody_can_be_asked_it_needs_to_be_told(data_dir: Path) -> None:
    piped = kebab("reset", "--json", data_dir=data_dir, stdin=b"yes\n")
    status, shown = on_a_terminal(data_dir, b"yes\n", "--json")

    assert (piped.status, piped.error["code"], status) == (2, "invalid_input", 2)
    assert "--yes" in piped.error["hint"]
    assert '"invalid_input"' in shown
    assert (data_dir / "kebab.sqlite").exists()


@pytest.mark.parametrize("variable", [False, True])
def test_readonly_refuses(data_dir: Path, variable: bool) -> None:
    arguments = [] if variable else ["--readonly"]

    done = kebab("reset", "--yes", "--json", *arguments, data_dir=data_dir, extra={"KEBAB_READONLY": str(variable)})

    assert (done.status, done.error["code"]) == (1, "readonly_mode")
    assert (data_dir / "kebab.sqlite").exists()


def test_a_running_writer_is_not_robbed_of_its_index(data_dir: Path) -> None:
    with held_elsewhere(data_dir) as writer:
        done = kebab("reset", "--yes", "--json", data_dir=data_dir)

    assert (done.status, done.error["code"], done.error["details"]) == (2, "index_locked", {"pid": writer.pid})
    assert (data_dir / "kebab.sqlite").exists()


def test_the_folder_is_the_one_that_the_loaded_config_names(data_dir: Path, fixture_data: Path, tmp_path: Path) -> None:
    default = tmp_path / "xdg" / "kebab"
    shutil.copytree(fixture_data, default)
    config = tmp_path / "c.toml"
    config.write_text(f'[storage]\ndata_dir = "{data_dir}"\n')

    done = kebab("reset", "--yes", "--config", str(config), extra={"XDG_DATA_HOME": str(tmp_path / "xdg")})

    assert done.status == 0
    assert (data_dir.exists(), config.exists(), (default / "kebab.sqlite").exists()) == (False, True, True)


def test_a_config_file_and_notes_in_the_data_folder_stay(tmp_path: Path) -> None:
    data = tmp_path / "kebab"
    (data / "notes").mkdir(parents=True)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.md").write_text("# Alpha\n")
    (data / "config.toml").write_text(f'[storage]\ndata_dir = "{data}"\n')
    (data / "notes" / "b.md").write_text("# Beta\n")
    config = ["--config", str(data / "config.toml")]
    kebab("ingest", str(tmp_path / "source"), *config)

    done = kebab("reset", "--yes", *config)

    assert sorted(path.name for path in data.iterdir()) == ["config.toml", "notes"]
    assert (data / "notes" / "b.md").exists()
    assert (tmp_path / "source" / "a.md").exists()
    assert done.err == b"2 other files and folders in it were left alone\n"


def test_a_link_to_the_data_folder_stays_and_so_does_what_is_not_ours_behind_it(data_dir: Path, tmp_path: Path) -> None:
    (data_dir / "mine.txt").write_text("mine")
    (tmp_path / "link").symlink_to(data_dir)

    done = kebab("reset", "--yes", data_dir=tmp_path / "link")

    assert done.status == 0
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in data_dir.iterdir()] == ["mine.txt"]


def test_a_store_that_cannot_be_read_is_what_a_reset_is_for(data_dir: Path) -> None:
    (data_dir / "kebab.sqlite").write_bytes(b"damaged")

    (report,) = kebab("reset", "--yes", "--json", data_dir=data_dir).lines

    assert (report["documents"], report["folder_removed"]) == (None, True)


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    done = kebab("reset", data_dir=tmp_path / "data")

    assert (done.status, list(tmp_path.iterdir())) == (0, [])


def test_the_lock_of_a_run_that_committed_nothing_goes_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "write.lock").touch()

    kebab("reset", "--yes", data_dir=tmp_path / "data")

    assert list(tmp_path.iterdir()) == []
