"""Reading the file: what is missing, unreadable or no TOML says so, and where."""

from pathlib import Path

import pytest

from kebab_stream.config import load_config
from kebab_stream.errors import ConfigInvalidError, ConfigNotFoundError
from tests.config.loading import HOME


def test_a_missing_file_given_by_name_is_config_not_found(tmp_path: Path) -> None:
    with pytest.raises(ConfigNotFoundError) as caught:
        load_config(Path("nothing.toml"), environ=HOME, cwd=tmp_path)

    assert str(caught.value) == "config file nothing.toml does not exist"
    assert caught.value.code == "config_not_found"


def test_a_path_through_a_file_is_config_not_found(file: Path) -> None:
    file.touch()

    with pytest.raises(ConfigNotFoundError):
        load_config(file / "config.toml", environ=HOME)


def test_a_relative_file_is_found_from_the_current_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('storage.data_dir = "data"')
    monkeypatch.chdir(file.parent)

    config = load_config(Path(file.name), environ=HOME)

    assert (config.path, config.storage.data_dir) == (file, file.parent / "data")


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalidError, match="cannot be read: Is a directory"):
        load_config(tmp_path, environ=HOME)


def test_an_unreadable_default_file_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".config/kebab/config.toml").mkdir(parents=True)

    with pytest.raises(ConfigInvalidError, match="cannot be read"):
        load_config(None, environ={"HOME": str(tmp_path)})


def test_a_file_name_with_a_nul_is_refused() -> None:
    with pytest.raises(ConfigInvalidError, match="null byte"):
        load_config(Path("a\0b"), environ=HOME)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[search]\ndefault_k 5", r"is not valid TOML: .*\(at line 2, column 11\)"),
        (b"[search]\n\ndefault_k = ", r"is not valid TOML: .*\(at line 3, column 13\)"),
        (b"[search", r"is not valid TOML: .*\(at line 1, column 8\)"),
        (b"search.default_k = 5\nsearch.default_k = 6", r"is not valid TOML: .*\(at line 2, column 21\)"),
        ("# 한글\n# 한".encode() + b"\xff", r"is not UTF-8 \(at line 2, column 4\)"),
        (b"\xef\xbb\xbfa\xff", r"is not UTF-8 \(at line 1, column 2\)"),
        (b"a = " + b"[" * 100_000, "is not usable TOML: nested too deeply"),
        (b"a = " + b"1" * 10_000, "a number is too long"),
        (b"#" * (1 << 20) + b"\n", "is larger than 1048576 bytes"),
    ],
)
def test_a_file_that_is_no_toml_says_where(file: Path, content: bytes, problem: str) -> None:
    file.write_bytes(content)

    with pytest.raises(ConfigInvalidError, match=problem) as caught:
        load_config(file, environ=HOME)

    assert str(caught.value).startswith(f"config file {file} ")


def test_a_byte_order_mark_and_windows_line_ends_are_fine(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf[search]\r\ndefault_k = 5\r\n")

    assert load_config(file, environ=HOME).search.default_k == 5
