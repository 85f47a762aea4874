"""`kebab init`."""

from pathlib import Path

from tests.cli.program import kebab


def test_it_writes_a_file_that_the_program_reads(tmp_path: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path)}

    done = kebab("init", extra=home)

    path = tmp_path / "kebab" / "config.toml"
    assert (done.status, done.out.decode().strip()) == (0, str(path))
    path.write_text(path.read_text(encoding="utf-8").replace("#default_k = ", "default_q = "), encoding="utf-8")
    broken = kebab("search", "x", "--json", extra=home)
    assert (broken.status, broken.error["code"]) == (2, "config_invalid")
    assert "default_k" in str(broken.error)


def test_a_file_that_is_there_stays_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("this is not TOML")

    kept = kebab("init", "--config", str(path), "--json")
    replaced = kebab("init", "--config", str(path), "--force")

    assert (kept.status, kept.error["code"]) == (2, "invalid_input")
    assert replaced.status == 0
    assert path.read_text(encoding="utf-8").startswith("#")


def test_readonly_in_the_file_keeps_the_file(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("readonly = true\n", encoding="utf-8")

    done = kebab("init", "--config", str(path), "--force", "--json")

    assert (done.status, done.error["code"], path.read_text(encoding="utf-8")) == (
        1,
        "readonly_mode",
        "readonly = true\n",
    )


def test_the_result_is_a_wire_object(tmp_path: Path) -> None:
    (result,) = kebab("init", "--config", str(tmp_path / "new.toml"), "--json").lines

    assert result["path"] == str(tmp_path / "new.toml")
