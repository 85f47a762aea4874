"""Lines as a replay writes them, with as little in them as a comparison reads."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def answered(
    query: object, ids: Sequence[str], *, doc: str = "d", ms: float | None = None, source: str | None = None
) -> dict[str, Any]:
    """An answer with these hits."""
    hits = [
        {
            "chunk_id": one,
            "doc_id": f"{doc}{one[:1]}",
            "doc_path": f"{one}.md",
            "heading_path": ["H"],
            "score": 1 / rank,
            "snippet": f"text of {one}",
            **({"source_id": source} if source else {}),
        }
        for rank, one in enumerate(ids, start=1)
    ]
    trace = None if ms is None else {"timing": {"total_ms": ms}}
    return {"query": query, "response": {"hits": hits, "trace": trace}, "error": None}


def failed(query: object, code: str) -> dict[str, Any]:
    """An answer that is an error."""
    return {"query": query, "response": None, "error": {"code": code}}


def written(path: Path, items: Sequence[dict[str, Any]]) -> Path:
    """A file of such lines."""
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path
