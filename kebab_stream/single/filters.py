"""Filters as data: one table that serves flags, item keys, SQL and help texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from kebab_stream.model import TRUST_LEVELS

MEDIA = ("markdown", "text", "code", "html", "rst", "pdf", "notebook", "other")
_MEDIA_ALIASES = {"md": "markdown"}
_TEXTS = "text or an array of texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterDef:
    """One filter: how it is given and what it means in SQL."""

    name: str
    """Field of `Filters` and key of a bulk item; the flag is the same with dashes."""
    metavar: str
    values: Literal["one", "many", "list"]
    """One value; repeatable; repeatable or a comma list (on the command line only)."""
    help: str
    accepts: str
    """What JSON may bring, as the end of the sentence "expected …"."""
    sql: str | None = None
    """Condition on documents, `{}` in the place of a subquery for the values; None where SQL cannot say it."""
    convert: Callable[[object], Sequence[object]] | None = None
    """From one value to what the condition compares with."""
    known: str | None = None
    """Query for all values that occur, where a value that does not is worth a hint."""

    @property
    def flag(self) -> str:
        """The option of the command line."""
        return "--" + self.name.replace("_", "-")


def _levels_from(level: object) -> Sequence[object]:
    return TRUST_LEVELS[TRUST_LEVELS.index(level) :]


FILTERS: tuple[FilterDef, ...] = (
    FilterDef(
        name="tag",
        metavar="TAG",
        values="many",
        help="keep documents with this tag; repeatable, any of them",
        accepts=f"{_TEXTS}, each an exact tag",
        sql="doc_no IN (SELECT doc_no FROM tags WHERE tag IN {})",
        known="SELECT DISTINCT tag FROM tags",
    ),
    FilterDef(
        name="lang",
        metavar="LANG",
        values="one",
        help="keep this natural language: ko, en, ja, …",
        accepts="text, a language such as ko or en",
        sql="lang IN {}",
        known="SELECT DISTINCT lang FROM documents",
    ),
    FilterDef(
        name="doc_id",
        metavar="ID",
        values="one",
        help="keep this document",
        accepts="text, the doc_id of a hit",
        sql="lower(hex(doc_id)) IN {}",
    ),
    FilterDef(
        name="path_glob",
        metavar="GLOB",
        values="one",
        help="keep paths like this: * and ? stay inside a folder, ** does not; [a-z], [!a], {a,b}",
        accepts="text, a pattern for the whole doc_path",
    ),
    FilterDef(
        name="trust_min",
        metavar="LEVEL",
        values="one",
        help="keep this trust or more: generated < secondary < primary",
        accepts="primary, secondary or generated",
        sql="trust_level IN {}",
        convert=_levels_from,
    ),
    FilterDef(
        name="media",
        metavar="MEDIA",
        values="list",
        help=f"keep these kinds of file: {', '.join(MEDIA)}; md means markdown",
        accepts=f"{_TEXTS}, such as markdown or code",
        sql="media IN {}",
        known="SELECT DISTINCT media FROM documents",
        convert=lambda value: (_MEDIA_ALIASES.get(str(value), value),),
    ),
    FilterDef(
        name="code_lang",
        metavar="LANG",
        values="list",
        help="keep source code in these languages: python, rust, …",
        accepts=_TEXTS,
        sql="code_lang IN {}",
        known="SELECT DISTINCT code_lang FROM documents",
    ),
    FilterDef(
        name="repo",
        metavar="REPO",
        values="list",
        help="keep these repositories",
        accepts=_TEXTS,
        sql="repo IN {}",
        known="SELECT DISTINCT repo FROM documents",
    ),
    FilterDef(
        name="source",
        metavar="ID",
        values="list",
        help="keep these sources",
        accepts=f"{_TEXTS}, each a source_id",
        sql="source_id IN {}",
        known="SELECT DISTINCT source_id FROM documents",
    ),
    FilterDef(
        name="source_type",
        metavar="TYPE",
        values="list",
        help="keep these source types",
        accepts=_TEXTS,
        sql="source_type IN {}",
        known="SELECT DISTINCT source_type FROM documents",
    ),
    FilterDef(
        name="ingested_after",
        metavar="TIME",
        values="one",
        help="keep what was indexed at or after this RFC 3339 time or date",
        accepts="a date (2026-01-31) or an RFC 3339 date-time with an offset (2026-01-31T09:00:00+09:00)",
        sql="indexed_at >= {}",
        convert=lambda value: (value.timestamp(),),  # type: ignore[attr-defined]  # a datetime with an offset
    ),
    FilterDef(
        name="must",
        metavar="TEXT",
        values="many",
        help="keep chunks that contain this text; repeatable, all of them",
        accepts=f"{_TEXTS}, all of which a chunk contains",
    ),
    FilterDef(
        name="must_not",
        metavar="TEXT",
        values="many",
        help="drop chunks that contain this text; repeatable",
        accepts=f"{_TEXTS}, none of which a chunk contains",
    ),
)

CHUNK_FILTERS = tuple(each for each in FILTERS if each.name in ("must", "must_not"))
DOCUMENT_FILTERS = tuple(each for each in FILTERS if each not in CHUNK_FILTERS)
"""What looks at the text of a chunk, and what looks at the document it is from."""
