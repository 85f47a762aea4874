"""`kebab schema`."""

import json
import shutil
from pathlib import Path

import pytest

from kebab_stream.cli.app import COMMANDS
from tests.cli.program import kebab
from tests.paths import ROOT


def test_programs_get_one_object_with_everything(fixture_data: Path) -> None:
    (report,) = kebab("schema", "--json", data_dir=fixture_data).lines

    assert report["capabilities"]["bulk_search"] is True
    assert report["limits"]["bulk_items"] == 100
    assert report["statistics"]["by_media"]["markdown"]["documents"] > 1


def test_all_commands_are_told(tmp_path: Path) -> None:
    (report,) = kebab("schema", "--json", data_dir=tmp_path / "data").lines

    assert report["commands"] == COMMANDS


def test_people_get_a_short_summary(fixture_data: Path, tmp_path: Path) -> None:
    here = kebab("schema", data_dir=fixture_data)
    nowhere = kebab("schema", data_dir=tmp_path / "data")

    assert here.out.startswith(b"program     kebab-stream ")
    assert b"\nmedia       markdown " in here.out
    assert b"\nindex       nothing was ingested yet\n" in nowhere.out
    assert (here.status, nowhere.status, list(tmp_path.iterdir())) == (0, 0, [])


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_the_schema_of_an_object_is_the_published_one(arguments: list[str]) -> None:
    done = kebab("schema", "search_hit.v1", *arguments)

    assert json.loads(done.out) == json.loads((ROOT / "schemas" / "search_hit.v1.schema.json").read_text())
    assert done.out.count(b"\n") == 1 or not arguments


def test_an_unknown_object_is_told_the_closest_one() -> None:
    done = kebab("schema", "search_hits", "--json")

    assert (done.status, done.error["code"]) == (2, "invalid_input")
    assert "search_hit.v1" in done.error["hint"]


def test_a_damaged_index_is_an_error(fixture_data: Path, tmp_path: Path) -> None:
    data = shutil.copytree(fixture_data, tmp_path / "data")
    next(data.glob("index/*/manifest.json")).unlink()

    done = kebab("schema", "--json", data_dir=data)

    assert (done.status, done.error["code"]) == (2, "index_corrupt")


def test_it_describes_the_index_that_the_config_file_names(fixture_data: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(
        f'readonly = true\n[storage]\ndata_dir = "{fixture_data}"\n[search]\ndefault_k = 7\n'
    )

    (report,) = kebab("schema", "--json", "--config", str(tmp_path / "c.toml")).lines

    assert report["statistics"]["documents"] > 0
    assert (report["defaults"]["k"], report["capabilities"]["write"]) == (7, False)
