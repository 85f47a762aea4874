"""From folders to an index."""

from kebab_stream.ingest.ingestion import IngestRequest
from kebab_stream.ingest.pipeline import Phase, Progress, ingest

__all__ = ["IngestRequest", "Phase", "Progress", "ingest"]
