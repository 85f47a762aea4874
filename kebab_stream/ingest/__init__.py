"""From folders to an index."""

from kebab_stream.ingest.given import Text
from kebab_stream.ingest.ingestion import IngestRequest
from kebab_stream.ingest.one_by_one import ingest_files, ingest_text, remove
from kebab_stream.ingest.pipeline import Progress, ingest

__all__ = ["IngestRequest", "Progress", "Text", "ingest", "ingest_files", "ingest_text", "remove"]
