"""The page on reading commands explains every key of what they write."""

import dataclasses
import re

import pytest

from kebab_stream.reports import lookup
from tests.paths import ROOT


@pytest.mark.parametrize(
    "kind",
    [
        lookup.FetchResult,
        lookup.NeighbourChunk,
        lookup.DocSummary,
        lookup.TagSummary,
        lookup.SourceSummary,
        lookup.InspectResult,
        lookup.ChunkSummary,
        lookup.IndexedTerm,
    ],
    ids=lambda kind: kind.__name__,
)
def test_every_field_is_explained(kind: type) -> None:
    page = (ROOT / "docs" / "fetch.md").read_text(encoding="utf-8")
    page = re.sub("```.*?```", "", page, flags=re.DOTALL)

    assert {field.name for field in dataclasses.fields(kind)} <= set(re.findall("`([a-z_]+)`", page))
