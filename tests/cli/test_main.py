"""What the edge of the command line says of arguments and surroundings that no command can work with."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kebab_stream.cli.main import run
from tests.wire import checked


def refused(capfd: pytest.CaptureFixture[str], arguments: Sequence[str]) -> Any:
    """The error that a command line ends with."""
    assert run([*arguments, "--json"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    return checked(err.encode())


def test_an_empty_path_of_a_config_file_is_not_taken_for_the_current_folder(capfd: pytest.CaptureFixture[str]) -> None:
    error = refused(capfd, ["search", "--config", "", "x"])

    assert (error["code"], error["details"]) == ("invalid_input", {"key": "config"})
    assert "'--config': expected the path of a file, got an empty text" in error["message"]


@pytest.mark.parametrize(
    ("variable", "code", "said"),
    [
        (None, "io_error", "the current folder is not there any more"),
        ("data", "config_invalid", "storage.data_dir = 'data' (KEBAB_STORAGE_DATA_DIR): expected an absolute path"),
    ],
)
def test_a_current_folder_that_was_removed_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    variable: str | None,
    code: str,
    said: str,
) -> None:
    monkeypatch.setenv("KEBAB_STORAGE_DATA_DIR", variable or str(tmp_path / "data"))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    error = refused(capfd, ["ingest", "notes"])

    assert (error["code"], said in error["message"]) == (code, True)


@pytest.mark.parametrize("arguments", [["search", "x"], ["ingest", "."], ["list"], ["reset", "--yes"]])
def test_a_file_in_the_place_of_the_data_folder_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    (tmp_path / "data").write_text("mine")
    monkeypatch.setenv("KEBAB_STORAGE_DATA_DIR", str(tmp_path / "data"))

    error = refused(capfd, arguments)

    assert (error["code"], error["hint"]) == ("io_error", "set storage.data_dir to a folder")
    assert f"{tmp_path / 'data'}: it is no folder" in error["message"]
