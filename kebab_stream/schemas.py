"""JSON schemas (draft 2020-12) of every wire object and of a bulk item, generated from the classes themselves.

Only generating and tests import this: it needs pydantic.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter

from kebab_stream import model
from kebab_stream.reports import answers, housekeeping, ingest, lookup, offline, quality
from kebab_stream.wire import SearchItem

DIALECT = "https://json-schema.org/draft/2020-12/schema"

WIRE_OBJECTS: tuple[type, ...] = (
    model.SearchResponse,
    model.SearchHit,
    model.LineCitation,
    model.PageCitation,
    model.CodeCitation,
    model.ErrorRecord,
    model.WarningRecord,
    model.BulkSearchItem,
    model.BulkSearchSummary,
    model.BulkSearchResponse,
    ingest.IngestReport,
    ingest.IngestProgress,
    ingest.DocumentReport,
    ingest.RemovalReport,
    housekeeping.InitResult,
    housekeeping.DoctorReport,
    housekeeping.SchemaReport,
    housekeeping.ResetReport,
    housekeeping.ConfigReport,
    housekeeping.MigrationReport,
    housekeeping.CompletionScript,
    lookup.FetchResult,
    lookup.DocSummary,
    lookup.TagSummary,
    lookup.SourceSummary,
    lookup.InspectResult,
    quality.EvalReport,
    answers.Answer,
    offline.ReplayReport,
    offline.ReplayProgress,
    offline.CompareReport,
)


def schema_files() -> Iterator[tuple[str, dict[str, Any]]]:
    """(file name, schema) of everything that belongs into `schemas/`."""
    yield "citation.v1.schema.json", _schema(model.Citation, "citation.v1")
    for kind in WIRE_OBJECTS:
        name = kind.__dataclass_fields__["schema_version"].default  # type: ignore[attr-defined]  # all have one
        if name != "citation.v1":
            yield f"{name}.schema.json", _schema(kind, name)
    yield "search_item.v1.schema.json", {"$schema": DIALECT, "$id": "search_item.v1", **SearchItem.model_json_schema()}


def _schema(kind: Any, name: str) -> dict[str, Any]:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return {"$schema": DIALECT, "$id": name, **adapter.json_schema(mode="serialization")}
