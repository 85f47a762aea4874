"""Which folders an ingest scans: the configured ones, those given by path, and those known from before."""

import os
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kebab_stream.config import Config, Source
from kebab_stream.errors import InvalidInputError
from kebab_stream.index.rows import SourceRow
from kebab_stream.ingest.identity import doc_id_of
from kebab_stream.model import COPIES, DocId


def sources_to_scan(
    config: Config, paths: Sequence[Path], known: Sequence[SourceRow], *, source_id: str | None = None
) -> list[Source]:
    """The sources of one ingest, by id, each once.

    Args:
        paths: folders given on the command line; without any, all configured and all known sources are scanned.
            A folder that is configured or known keeps its id and settings.
        known: what the store has.
        source_id: the name for the one path given, instead of its folder's name. It may be that of a source whose
            folder is no longer there, as may that of a configured source: the folder was moved.

    Raises:
        InvalidInputError: a path is no folder, a folder is for kebab's own data, a name belongs to another root, or
            there is nothing to scan.
    """
    configured = _configured(config)
    stored = _stored(known)
    all_known = known_sources(config, known)
    chosen = [_source_at(path, source_id, all_known) for path in paths] if paths else all_known
    if not chosen:
        raise InvalidInputError(
            "no folder to ingest", "give one: `kebab ingest PATH`, or set workspace.root in the config file"
        )
    named = {source.id for source in config.workspace.sources} | {source_id}
    _refuse_other_roots(chosen, [source for source in stored if not (source.id in named and _is_gone(source.root))])
    _refuse_other_roots(chosen, configured)
    _refuse_data_folder(chosen, config.storage.data_dir)
    _refuse_names_of_copies(chosen)
    return sorted({source.id: source for source in chosen}.values(), key=lambda source: source.id)


def known_sources(config: Config, known: Sequence[SourceRow]) -> list[Source]:
    """The configured sources, and those in the store besides; not the ones of stored copies, which are no folders."""
    configured = _configured(config)
    ids = {source.id for source in configured}
    return configured + [source for source in _stored(known) if source.id not in ids]


def ids_in_sources(path: str, sources: Sequence[Source]) -> list[DocId]:
    """The ids that a file has as a document of each of these sources whose folder holds it.

    Args:
        path: of the file itself, no link in it; from `/`, without that, NFC.
    """
    found = []
    for source in sources:
        root = unicodedata.normalize("NFC", os.path.realpath(source.root)).strip("/")
        base = f"{root}/" if root else ""
        if path.startswith(base):
            found.append(doc_id_of(source.id, path[len(base) :]))
    return found


def _stored(known: Sequence[SourceRow]) -> list[Source]:
    return [_source_of(row) for row in known if row.source_id not in COPIES]


def source_row(source: Source) -> SourceRow:
    """What the store remembers of a source."""
    return SourceRow(
        source_id=source.id,
        root=str(source.root),
        exclude=source.exclude,
        trust_level=source.trust_level,
        source_type=source.source_type,
    )


def _source_of(row: SourceRow) -> Source:
    return Source(
        id=row.source_id,
        root=Path(row.root),
        exclude=row.exclude,
        trust_level=row.trust_level,
        source_type=row.source_type,
    )


def _configured(config: Config) -> list[Source]:
    sources = list(config.workspace.sources)
    root = config.workspace.root
    if root is not None and not any(_same(source.root, root) for source in sources):
        sources.append(Source(id=_name_of(root), root=root))
    return sources


def _source_at(path: Path, source_id: str | None, known: Sequence[Source]) -> Source:
    root = Path(os.path.realpath(path))
    problem = _why_no_folder(root)
    if problem:
        raise InvalidInputError(f"{path}: {problem}", "give a folder to ingest", {"path": str(path)})
    for source in known:
        if _same(source.root, root) and source_id in (None, source.id):
            return source
    if source_id is None:
        return Source(id=_name_of(root), root=root)
    checked = _checked(source_id)
    moved = next((source for source in known if source.id == checked), Source(id=checked, root=root))
    return replace(moved, root=root)


def _why_no_folder(path: Path) -> str | None:
    try:
        str(path).encode()
        return None if stat.S_ISDIR(path.stat().st_mode) else "is not a folder"
    except UnicodeEncodeError:
        return "its full path is not UTF-8"
    except OSError as error:
        return (error.strerror or str(error)).lower()


def _same(path: Path, other: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def _name_of(root: Path) -> str:
    """The name of a folder, as filters can be given it: they split names at commas and strip them."""
    return unicodedata.normalize("NFC", root.name).replace(",", "_").strip() or "root"


def _checked(source_id: str) -> str:
    if not source_id.strip() or source_id != source_id.strip() or "," in source_id:
        raise InvalidInputError(
            f"source id {source_id!r} is blank, has a comma, or has a space at one of its ends",
            "give another name: filters split names at commas",
            {"id": source_id},
        )
    return unicodedata.normalize("NFC", source_id)


def _is_gone(root: Path) -> bool:
    """True on proof only."""
    try:
        root.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _refuse_other_roots(chosen: Sequence[Source], owners: Sequence[Source]) -> None:
    for number, source in enumerate(chosen):
        for owner in (*owners, *chosen[:number]):
            if owner.id == source.id and not _same(owner.root, source.root):
                raise InvalidInputError(
                    f"source {source.id!r} is {owner.root}, and cannot be {source.root} as well",
                    f"give {source.root} another name with --source-id; or, if the folder was moved there and"
                    f" {owner.root} is gone, this name with --source-id, or a new root in the config file",
                    {"source_id": source.id, "roots": [str(owner.root), str(source.root)]},
                )


def _refuse_names_of_copies(chosen: Sequence[Source]) -> None:
    for source in chosen:
        if source.id in COPIES:
            raise InvalidInputError(
                f"source {source.id!r} is for documents given one by one, and cannot be {source.root}",
                "give the folder another name with --source-id, or in the config file",
                {"source_id": source.id, "path": str(source.root)},
            )


def _refuse_data_folder(chosen: Sequence[Source], data_dir: Path) -> None:
    for source in chosen:
        if Path(os.path.realpath(source.root)).is_relative_to(os.path.realpath(data_dir)):
            raise InvalidInputError(
                f"{source.root} is in {data_dir}, where kebab keeps its own files",
                "index another folder, or set storage.data_dir to a folder of its own",
                {"path": str(source.root), "data_dir": str(data_dir)},
            )
