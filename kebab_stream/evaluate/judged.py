"""Judged queries: what is asked, and what should be found."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kebab_stream.errors import InvalidInputError
from kebab_stream.model import SearchQuery
from kebab_stream.reports.quality import EvalKind


@dataclass(frozen=True, slots=True)
class Question:
    """One query with its judgements."""

    id: str
    query: SearchQuery
    grades: Mapping[str, int]
    """How relevant each judged target is; more than 0 is relevant, and at least one is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSet:
    """The queries of a set that can be evaluated, in the order of the file, and what was left out."""

    name: str
    path: Path
    kind: EvalKind
    questions: tuple[Question, ...]
    unjudged: int = 0
    """Queries without a relevant target."""
    unknown_queries: int = 0
    """Judged queries that the set does not have."""


def bad_line(path: Path, line: int, problem: str, hint: str | None = None) -> InvalidInputError:
    """The error for a line, from 1, of a file."""
    return InvalidInputError(f"{path}:{line}: {problem}", hint, {"path": str(path), "line": line})
