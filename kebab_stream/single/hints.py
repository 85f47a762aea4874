"""Advice that goes with an answer: what the caller would not see otherwise."""

import re
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kebab_stream.analyser import query_terms, terms
from kebab_stream.index.generation import Generation
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import Filters
from kebab_stream.single.filters import FILTERS, FilterDef
from kebab_stream.single.mask import nothing_allowed_hint, values_of
from kebab_stream.single.validate import shown

_PUNCTUATION_AROUND = re.compile(r"^\W+|\W+$")
_MAX_NAMED = 5
"""Words or values that one hint names; a pasted page has too many."""


def missing_words_hint(generation: Generation, query: str) -> str | None:
    """Names the words looked for that occur in no document, in whatever form the index knows words."""
    wanted = frozenset(query_terms(query))
    words = dict.fromkeys(_PUNCTUATION_AROUND.sub("", word) for word in query.split())
    missing = list(islice((word for word in words if _is_missing(generation, wanted, word)), _MAX_NAMED + 1))
    if not missing:
        return None
    names = ", ".join(shown(word) for word in missing[:_MAX_NAMED])
    return f"no document has {names}" + (" and other words" if len(missing) > _MAX_NAMED else "")


def filter_hint(snapshot: Snapshot, filters: Filters, allowed: NDArray[np.bool_] | None) -> str | None:
    """Names the filter values that no document has, or else the filters that let nothing through."""
    if allowed is None:
        return None
    absent = (text for definition in FILTERS for text in _absent(snapshot, definition, filters))
    if named := list(islice(absent, _MAX_NAMED)):
        return "; ".join(named)
    if allowed.any():
        return None
    hints = (nothing_allowed_hint(snapshot, filters), _source_in_glob_hint(snapshot, filters.path_glob))
    return "; ".join(filter(None, hints))


def _source_in_glob_hint(snapshot: Snapshot, glob: str | None) -> str | None:
    """For a glob that begins with the name of a source: paths are shown as `SOURCE/path`, but a glob is without."""
    sources = [source.source_id for source in snapshot.store.sources()]
    # A source may be called as the beginning of another.
    for source in sorted(sources, key=len, reverse=True):
        if glob is not None and glob.startswith(f"{source}/"):
            rest = glob.removeprefix(f"{source}/")
            return f"{shown(source)} is a source, not a folder in one: --source {source} --path-glob {shown(rest)}"
    return None


def _absent(snapshot: Snapshot, definition: FilterDef, filters: Filters) -> Iterator[str]:
    """A sentence for each value of a filter that no document has."""
    values = values_of(definition, filters)
    if not values or definition.known is None:
        return
    known = {str(value) for (value,) in snapshot.store.rows(definition.known) if value is not None}
    for value in values:
        if value not in known:
            from difflib import get_close_matches  # late: only mistakes need it

            close = get_close_matches(str(value), sorted(known), 1)
            nearest = f", the closest is {shown(close[0])}" if close else ""
            yield f"no document has the {definition.name} {shown(value)}{nearest}"


def _is_missing(generation: Generation, wanted: frozenset[str], word: str) -> bool:
    found = wanted.intersection(terms(word))
    return bool(found) and not any(generation.lexical.document_frequency(term) for term in found)
