"""The page on reading commands explains every key of what they write."""

import dataclasses
import re

import pytest

from kebab_stream import reports
from tests.paths import ROOT


@pytest.mark.parametrize(
    "kind",
    [
        reports.FetchResult,
        reports.NeighbourChunk,
        reports.DocSummary,
        reports.TagSummary,
        reports.SourceSummary,
        reports.InspectResult,
        reports.ChunkSummary,
        reports.IndexedTerm,
    ],
    ids=lambda kind: kind.__name__,
)
def test_every_field_is_explained(kind: type) -> None:
    page = (ROOT / "docs" / "fetch.md").read_text(encoding="utf-8")
    page = re.sub("```.*?```", "", page, flags=re.DOTALL)

    assert {field.name for field in dataclasses.fields(kind)} <= set(re.findall("`([a-z_]+)`", page))
