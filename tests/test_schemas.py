"""The files in `schemas/` say what the code says."""

import json

import pytest
from jsonschema import Draft202012Validator

from kebab_stream.schemas import schema_files
from tests.paths import ROOT

GENERATED = dict(schema_files())


def test_there_is_a_file_for_each_wire_object_and_no_other() -> None:
    assert {path.name for path in (ROOT / "schemas").iterdir()} == set(GENERATED)


@pytest.mark.parametrize("name", GENERATED)
def test_a_file_is_what_the_code_generates(name: str) -> None:
    assert json.loads((ROOT / "schemas" / name).read_text(encoding="utf-8")) == GENERATED[name], "run `make generated`"


@pytest.mark.parametrize("name", GENERATED)
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(GENERATED[name])


def test_budgets_are_said_to_be_approximate() -> None:
    truncated = GENERATED["search_response.v1.schema.json"]["properties"]["truncated"]
    max_tokens = GENERATED["search_item.v1.schema.json"]["properties"]["max_tokens"]

    assert "approximation" in truncated["description"]
    assert "approximation" in max_tokens["description"]
