"""JSON lines of the program, each checked against the schema file that its schema_version names."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.paths import ROOT


def checked(line: bytes | str) -> Any:
    """The value of one JSON line, after its schema accepted it."""
    value = json.loads(line)
    _validator(value["schema_version"]).validate(value)
    return value


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema)
