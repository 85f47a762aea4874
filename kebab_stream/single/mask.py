"""Filters applied: which chunks may be returned at all, known before any of them is ranked."""

import unicodedata

import numpy as np
from numpy.typing import NDArray

from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import Filters
from kebab_stream.single.filters import FILTERS
from kebab_stream.single.glob import glob_pattern


def allowed_chunks(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_] | None:
    """(n_chunks,) False for the chunks that a filter excludes; None where nothing is filtered.

    Raises:
        InvalidInputError: the glob is malformed.
    """
    if filters == Filters():
        return None
    where, parameters = _condition(filters)
    rows = snapshot.store.rows(f"SELECT doc_id, doc_path FROM documents{where}", parameters)  # noqa: S608
    if filters.path_glob is not None:
        pattern = glob_pattern(filters.path_glob)
        rows = [row for row in rows if pattern.match(row[1])]
    mask = snapshot.generation.chunks_of(row[0] for row in rows)
    if filters.must or filters.must_not:
        _keep_by_text(snapshot, filters, mask)
    return mask


def fold(text: str) -> str:
    """How texts are compared: NFKC, case folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _condition(filters: Filters) -> tuple[str, list[object]]:
    conditions: list[str] = []
    parameters: list[object] = []
    for definition in FILTERS:
        given = getattr(filters, definition.name)
        if definition.sql is None or given in (None, ()):
            continue
        values: list[object] = list(given) if isinstance(given, tuple) else [given]
        if definition.convert is not None:
            values = [converted for value in values for converted in definition.convert(value)]
        conditions.append(definition.sql.format(",".join("?" * len(values))))
        parameters.extend(values)
    return (" WHERE " + " AND ".join(conditions) if conditions else ""), parameters


def _keep_by_text(snapshot: Snapshot, filters: Filters, mask: NDArray[np.bool_]) -> None:
    """Clear the mask where a chunk's text lacks what it must, or has what it must not, contain."""
    wanted = [fold(text) for text in filters.must]
    unwanted = [fold(text) for text in filters.must_not]
    for number, (text,) in enumerate(snapshot.store.rows("SELECT text FROM chunks ORDER BY chunk_id")):
        if mask[number]:
            folded = fold(text)
            mask[number] = all(part in folded for part in wanted) and not any(part in folded for part in unwanted)
