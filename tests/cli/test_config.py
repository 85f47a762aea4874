"""`kebab config show` and `kebab config migrate`."""

import tomllib
from pathlib import Path

import pytest

from tests.cli.program import kebab

FILE = """\
[search]
default_k = 7
fusion_weight = 0.3

[models.embedding]
model_path = "models/mine"

[[workspace.sources]]
id = "노트"
root = "notes"
exclude = ["drafts/", "*.\\"tmp\\""]
"""
OLD = '[search]\nhybrid_fusion = "rrf"  # as before\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "c.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_each_value_comes_with_its_origin(file: Path, tmp_path: Path) -> None:
    (report,) = kebab(
        "config",
        "show",
        "--json",
        "--readonly",
        "--config",
        str(file),
        data_dir=tmp_path,
        extra={"KEBAB_SEARCH_RRF_K": "9"},
    ).lines

    names = (
        "readonly",
        "storage.data_dir",
        "search.default_k",
        "search.rrf_k",
        "search.snippet_chars",
        "models.llm.model",
    )
    assert report["path"] == str(file)
    assert [tuple(report["values"][name].values()) for name in names] == [
        (True, "flag"),
        (str(tmp_path), "environment"),
        (7, "file"),
        (9, "environment"),
        (220, "default"),
        (None, "default"),
    ]
    assert report["values"]["workspace.sources"]["value"][0]["root"] == str(tmp_path / "notes")


def test_what_is_shown_is_a_config_file_that_gives_the_same_settings(file: Path, tmp_path: Path) -> None:
    shown = kebab("config", "show", "--config", str(file))
    copy = tmp_path / "elsewhere" / "copy.toml"
    copy.parent.mkdir()
    copy.write_bytes(shown.out)
    again = kebab("config", "show", "--config", str(copy))

    assert shown.status == again.status == 0
    assert tomllib.loads(again.out.decode()) == tomllib.loads(shown.out.decode())
    assert "default_k = 7  # from the file\n" in shown.out.decode()
    assert 'id = "노트"\n' in shown.out.decode()


def test_without_a_file_the_defaults_are_shown() -> None:
    done = kebab("config", "show")

    assert done.out.startswith(b"# no config file\nreadonly = false\n")
    assert b"# from" not in done.out


def test_settings_that_cannot_be_used_are_an_error(file: Path) -> None:
    file.write_text("[search]\ndefault_k = 0\n")

    done = kebab("config", "show", "--json", "--config", str(file))

    assert (done.status, done.error["code"]) == (2, "config_invalid")


def test_migrate_changes_the_file_once(file: Path) -> None:
    file.write_text(OLD)

    first = kebab("config", "migrate", "--config", str(file))
    (second,) = kebab("config", "migrate", "--json", "--config", str(file)).lines

    assert first.out == b"search.hybrid_fusion is search.fusion now\n"
    assert first.err == f"the file as it was is {file}.backup-1\n".encode()
    assert file.read_text() == OLD.replace("hybrid_fusion", "fusion")
    assert (second["written"], second["renames"]) == (False, [])


def test_a_dry_run_prints_the_difference(file: Path) -> None:
    file.write_text(OLD)

    done = kebab("config", "migrate", "--dry-run", "--readonly", "--config", str(file))

    assert b'-hybrid_fusion = "rrf"  # as before\n+fusion = "rrf"  # as before\n' in done.out
    assert file.read_text() == OLD


def test_what_nobody_knows_is_told(file: Path) -> None:
    file.write_text("[rag]\nscore_gate = 0.3\n")

    done = kebab("config", "migrate", "--config", str(file))

    assert (done.status, done.err) == (0, b"not known, and left as they are: rag\n")


def test_readonly_keeps_the_file(file: Path) -> None:
    file.write_text(f"readonly = true\n{OLD}")

    done = kebab("config", "migrate", "--json", "--config", str(file))

    assert (done.status, done.error["code"]) == (1, "readonly_mode")
    assert "hybrid_fusion" in file.read_text()


def test_a_file_that_was_named_must_be_there_the_default_one_need_not(tmp_path: Path) -> None:
    named = kebab("config", "migrate", "--json", "--config", str(tmp_path / "nowhere.toml"))
    (default,) = kebab("config", "migrate", "--json", extra={"XDG_CONFIG_HOME": str(tmp_path)}).lines

    assert (named.status, named.error["code"]) == (2, "config_not_found")
    assert default["written"] is False
    assert list(tmp_path.iterdir()) == []


def test_config_alone_says_what_it_can_do() -> None:
    done = kebab("config", "--json")

    assert (done.status, done.error["code"]) == (2, "invalid_input")
    assert "kebab config show" in done.error["hint"]
