"""Filters applied: which chunks may be returned at all, known before any of them is ranked."""

from dataclasses import fields
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from kebab_stream.analyser import fold
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import Filters
from kebab_stream.render import to_json
from kebab_stream.single.filters import FILTERS, FilterDef
from kebab_stream.single.glob import glob_pattern
from kebab_stream.single.validate import refused, shown, unicode_text

# One variable for all values: SQLite limits how many there may be.
_VALUES = "(SELECT value FROM json_each(?))"


def allowed_chunks(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_] | None:
    """(n_chunks,) False for the chunks that a filter excludes; None where nothing is filtered.

    Raises:
        InvalidInputError: the glob is malformed, or a value is no valid Unicode.
    """
    if filters == Filters():
        return None
    where, parameters = document_condition(filters)
    rows = snapshot.store.rows(f"SELECT doc_id, doc_path FROM documents{where}", parameters)  # noqa: S608
    if filters.path_glob is not None:
        pattern = glob_pattern(filters.path_glob)
        rows = [row for row in rows if pattern.match(row[1])]
    mask = snapshot.generation.chunks_of(row[0] for row in rows)
    if filters.must or filters.must_not:
        _keep_by_text(snapshot, filters, mask)
    return mask


def nothing_allowed_hint(snapshot: Snapshot, filters: Filters) -> str:
    """Which filters let no chunk through, each taken alone; if none is to blame alone, that all together do."""
    blamed = []
    for field in fields(Filters):
        given = getattr(filters, field.name)
        allowed = allowed_chunks(snapshot, Filters(**{field.name: given}))
        if allowed is not None and not allowed.any():
            blamed.append(f"{field.name} {shown(given)}")
    return "nothing in the index passes " + (", nor ".join(blamed) or "all filters together")


def document_condition(filters: Filters) -> tuple[str, list[str]]:
    """A WHERE clause on documents, or nothing, and its parameters; `path_glob` and what looks at chunks are not in it.

    Raises:
        InvalidInputError: a value is no valid Unicode.
    """
    conditions: list[str] = []
    parameters: list[str] = []
    for definition in FILTERS:
        values = values_of(definition, filters)
        if definition.sql is not None and values:
            conditions.append(definition.sql.format(_VALUES))
            parameters.append(to_json(values).decode())
    return (" WHERE " + " AND ".join(conditions) if conditions else ""), parameters


def values_of(definition: FilterDef, filters: Filters) -> list[object]:
    """What the values given for one filter are compared as; none where it is not given."""
    given = getattr(filters, definition.name)
    if given is None:
        return []
    values = given if isinstance(given, tuple) else (given,)
    if definition.convert is not None:
        values = tuple(converted for value in values for converted in definition.convert(value))
    return [_comparable(definition.name, value) for value in values]


def _comparable(name: str, value: object) -> object:
    return normalize("NFC", unicode_text(name, value)) if isinstance(value, str) else value


def _keep_by_text(snapshot: Snapshot, filters: Filters, mask: NDArray[np.bool_]) -> None:
    """Clear the mask where a chunk's text lacks what it must, or has what it must not, contain."""
    texts = snapshot.generation.texts
    for text in filters.must:
        if not mask.any():
            return
        mask &= texts.containing(_folded("must", text))
    for text in filters.must_not:
        mask &= ~texts.containing(_folded("must_not", text))


def _folded(name: str, text: str) -> str:
    # Every chunk contains the empty text: with it, must would mean nothing and must_not everything.
    if folded := fold(text):
        return folded
    raise refused(name, text, "text that is not blank")
