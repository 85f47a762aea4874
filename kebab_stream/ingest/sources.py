"""Which folders an ingest scans: the configured ones, those given by path, and those known from before."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from kebab_stream.config import Config, Source
from kebab_stream.errors import InvalidInputError
from kebab_stream.index.rows import SourceRow


def sources_to_scan(
    config: Config, paths: Sequence[Path], known: Sequence[SourceRow], *, source_id: str | None = None
) -> list[Source]:
    """The sources of one ingest, by id.

    Args:
        paths: folders given on the command line; without any, all configured and all known sources are scanned.
        known: what the store has.
        source_id: the name for the one path given, instead of its folder's name.

    Raises:
        InvalidInputError: a path is no folder, a name belongs to another root, or there is nothing to scan.
    """
    configured = _configured(config)
    if paths:
        chosen = [_source_at(path, source_id, configured) for path in paths]
    else:
        ids = {source.id for source in configured}
        chosen = configured + [_known_source(row) for row in known if row.source_id not in ids]
    if not chosen:
        raise InvalidInputError(
            "no folder to ingest", "give one: `kebab ingest PATH`, or set workspace.root in the config file"
        )
    _refuse_other_roots(chosen, known)
    return sorted(chosen, key=lambda source: source.id)


def _configured(config: Config) -> list[Source]:
    sources = list(config.workspace.sources)
    root = config.workspace.root
    if root is not None and all(source.root != root for source in sources):
        sources.append(Source(id=_name_of(root), root=root))
    return sources


def _source_at(path: Path, source_id: str | None, configured: Sequence[Source]) -> Source:
    root = path.resolve()
    if not root.is_dir():
        problem = "is not a folder" if root.exists() else "does not exist"
        raise InvalidInputError(f"{path}: {problem}", "give a folder to ingest", {"path": str(path)})
    for source in configured:
        if source.root.resolve() == root and source_id in (None, source.id):
            return source
    return Source(id=source_id or _name_of(root), root=root)


def _known_source(row: SourceRow) -> Source:
    return Source(
        id=row.source_id,
        root=Path(row.root),
        exclude=row.exclude,
        trust_level=row.trust_level,
        source_type=row.source_type,
    )


def _name_of(root: Path) -> str:
    # Filters split source names at commas.
    return unicodedata.normalize("NFC", root.name).replace(",", "_") or "root"


def _refuse_other_roots(chosen: Sequence[Source], known: Sequence[SourceRow]) -> None:
    roots = {row.source_id: Path(row.root) for row in known}
    for source in chosen:
        other = roots.setdefault(source.id, source.root)
        if other.resolve() != source.root.resolve():
            raise InvalidInputError(
                f"source {source.id!r} is {other}, and cannot be {source.root} as well",
                f"give {source.root} another name with --source-id",
                {"source_id": source.id, "roots": [str(other), str(source.root)]},
            )
