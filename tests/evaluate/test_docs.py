"""The page on evaluation explains every key of a report."""

import dataclasses
import re

import pytest

from kebab_stream.reports import quality
from tests.paths import ROOT

KINDS = [kind for name, kind in vars(quality).items() if name.startswith("Eval") and dataclasses.is_dataclass(kind)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_field_is_explained(kind: type) -> None:
    page = (ROOT / "docs" / "eval.md").read_text(encoding="utf-8")

    assert {field.name for field in dataclasses.fields(kind)} <= set(re.findall("`([a-z0-9_]+)`", page))
