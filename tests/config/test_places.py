"""Where settings and data are, and how paths are written."""

import os
import pwd
from pathlib import Path

import pytest

from kebab_stream.config import default_config_path, load_config
from kebab_stream.config.places import xdg_dir
from kebab_stream.errors import ConfigInvalidError
from tests.config.loading import DEFAULT, HOME, load, refusal


def test_without_anything_the_defaults_hold() -> None:
    assert load() == DEFAULT


def test_the_default_file_is_read_when_it_exists(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    path = default_config_path(environ)
    path.parent.mkdir(parents=True)
    path.write_text("search.default_k = 7")

    config = load_config(None, environ=environ)

    assert path == tmp_path / ".config/kebab/config.toml"
    assert (config.path, config.search.default_k) == (path, 7)


def test_xdg_variables_move_the_config_file_and_the_data_folder() -> None:
    environ = {**HOME, "XDG_CONFIG_HOME": "/etc/xdg", "XDG_DATA_HOME": "/srv/data"}

    assert default_config_path(environ) == Path("/etc/xdg/kebab/config.toml")
    assert load_config(None, environ=environ).storage.data_dir == Path("/srv/data/kebab")


@pytest.mark.parametrize("value", ["", "relative/folder"])
def test_empty_and_relative_xdg_variables_do_not_count(value: str) -> None:
    assert xdg_dir({**HOME, "XDG_CACHE_HOME": value}, "XDG_CACHE_HOME") == Path("/home/ada/.cache")


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "here"}])
def test_without_a_usable_home_variable_the_account_decides(environ: dict[str, str]) -> None:
    assert xdg_dir(environ, "XDG_STATE_HOME") == Path.home() / ".local/state"


def test_the_places_do_not_depend_on_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")

    assert default_config_path(HOME) == Path("/home/ada/.config/kebab/config.toml")
    assert load() == DEFAULT


def test_an_unknown_home_folder_is_an_error_that_names_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda uid: {}[uid])

    with pytest.raises(ConfigInvalidError, match="home folder is unknown") as caught:
        xdg_dir({}, "XDG_DATA_HOME")

    assert caught.value.hint == "set HOME to an absolute path"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("~", "/home/ada"),
        ("~/kebab", "/home/ada/kebab"),
        ("a/~", "/home/ann/a/~"),
        ("${PLACE}/x${N}", "/mnt/x1"),
        ("${XDG_DATA_HOME}/k", "/home/ada/.local/share/k"),
        ("plain", "/home/ann/plain"),
        (".", "/home/ann"),
        ("/abs/a$b", "/abs/a$b"),
        ("한글 폴더", "/home/ann/한글 폴더"),
    ],
)
def test_paths_are_expanded_and_absolute(text: str, expected: str) -> None:
    environ = {"KEBAB_STORAGE_DATA_DIR": text, "PLACE": "/mnt", "N": "1"}

    assert load(environ=environ).storage.data_dir == Path(expected)


def test_a_relative_variable_in_the_file_is_relative_to_the_file(file: Path) -> None:
    assert (
        load('workspace.root = "${SUB}"', file=file, environ={"SUB": "notes"}).workspace.root == file.parent / "notes"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("${NOWHERE}/x", "the environment variable 'NOWHERE' is not set or empty"),
        ("${EMPTY}/x", "the environment variable 'EMPTY' is not set or empty"),
        ("${}", "the environment variable '' is not set or empty"),
        ("a/${HOME", "`${` without a closing `}`"),
        ("$HOME/x", "write ${HOME} for the variable HOME"),
        ("~no-such-user/x", "there is no user 'no-such-user'"),
    ],
)
def test_a_path_that_cannot_be_expanded_says_why(text: str, problem: str) -> None:
    error = refusal(environ={"KEBAB_WORKSPACE_ROOT": text, "EMPTY": ""})

    assert str(error) == f"workspace.root = {text!r} (KEBAB_WORKSPACE_ROOT): expected a path ({problem})"


@pytest.mark.parametrize("bad", ["a\nb", "a\0b", "a\udcffb"])
def test_a_variable_inside_a_path_cannot_bring_in_what_a_path_may_not_hold(bad: str) -> None:
    error = refusal(environ={"KEBAB_STORAGE_DATA_DIR": "${X}", "X": bad})

    assert "expected a path in UTF-8 without control characters" in str(error)
    assert str(error).isprintable()


def test_another_users_home_is_expanded() -> None:
    account = pwd.getpwuid(os.getuid())

    assert load(environ={"KEBAB_STORAGE_DATA_DIR": f"~{account.pw_name}/x"}).storage.data_dir == (
        Path(account.pw_dir) / "x"
    )


def test_parent_folders_are_followed_through_symbolic_links(tmp_path: Path) -> None:
    (tmp_path / "real/inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real/inner")

    config = load(overrides={"workspace.root": "link/../notes"}, cwd=tmp_path)

    assert config.workspace.root == (tmp_path / "real/notes").resolve()


def test_a_relative_path_in_a_removed_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert load_config(None, environ=HOME) == DEFAULT
    with pytest.raises(ConfigInvalidError, match="an absolute path, as the current folder is not there any more"):
        load_config(None, environ=HOME, overrides={"workspace.root": "notes"})
