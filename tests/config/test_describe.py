"""What is written about the settings is what the table says."""

import re
import tomllib
from pathlib import Path
from typing import Any

from kebab_stream.config import Config
from kebab_stream.config.describe import commented_config, configuration_markdown
from kebab_stream.config.settings import KEYS
from tests.config.loading import DEFAULT, load
from tests.paths import ROOT


def uncommented(text: str) -> str:
    return re.sub(r"^#(?=\w)", "", text, flags=re.MULTILINE)


def test_the_commented_file_changes_nothing(file: Path) -> None:
    assert load(commented_config(), file=file) == Config(path=file, storage=DEFAULT.storage)


def test_the_commented_file_shows_every_key_with_its_default(file: Path) -> None:
    text = uncommented(commented_config())

    assert load(text, file=file) == Config(path=file, storage=DEFAULT.storage)
    for key in KEYS.values():
        table: Any = tomllib.loads(text)
        for part in key.name.split("."):
            table = table[part]
        assert table == key.default
        assert f"# {key.help}\n# Accepts {key.accepts}.\n" in commented_config()


def test_the_source_in_the_commented_file_can_be_used(file: Path) -> None:
    text = re.sub(r"^#   ", "", commented_config(), flags=re.MULTILINE)

    assert [source.id for source in load(text, file=file).workspace.sources] == ["notes"]


def test_the_documentation_is_what_the_table_says() -> None:
    written = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")

    assert written == configuration_markdown(), "run `make generated`"


def test_the_example_in_the_documentation_can_be_used(file: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", configuration_markdown(), re.DOTALL)

    config = load(example, file=file, environ={"PROJECTS": "/projects"})

    assert [source.root for source in config.workspace.sources] == [Path("/home/ada/notes"), Path("/projects/handbook")]
