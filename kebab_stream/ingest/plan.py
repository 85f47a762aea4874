"""What an ingest has to do: each source's files beside what is known of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from kebab_stream.config import Ingest, Source
from kebab_stream.errors import StorageError
from kebab_stream.index.rows import FileStamp
from kebab_stream.ingest.media import size_limit
from kebab_stream.ingest.prepare import signature_of
from kebab_stream.ingest.walk import Skip, SourceFile, Walk, is_gone, walk
from kebab_stream.model import DocId
from kebab_stream.reports.ingest import FileProblem

_UNCHANGED = "nothing was changed; if the folder is on a disk that is not mounted, mount it"

_UNREADABLE_RULES = "cannot be read, so all that is in its folder was passed over: what it ignores is not known"


@dataclass(frozen=True, slots=True)
class ToRead:
    """A file that is new, or may have changed."""

    source: Source
    file: SourceFile
    known: FileStamp | None
    is_copy: bool = False
    """Whether the store has the only copy of it."""


@dataclass(slots=True)
class Plan:
    """What is to be done, over all sources."""

    to_read: list[ToRead] = field(default_factory=list)
    unchanged: int = 0
    gone: list[DocId] = field(default_factory=list)
    """Documents whose file is proven to be absent, or to be no document any more."""
    skips: list[Skip] = field(default_factory=list)
    problems: list[FileProblem] = field(default_factory=list)


def add_source(plan: Plan, source: Source, known: Mapping[str, FileStamp], settings: Ingest, *, data_dir: Path) -> None:
    """Scan one source and add what is to be done.

    The data folder may lie in a source; what is in it is no document.

    Raises:
        StorageError: the root is missing or cannot be read, or is empty although documents of it are known, as the
            folder is where a disk is not mounted; nothing can be said of its files then.
    """
    found = _walked(source, settings, data_dir)
    if found.is_empty and known:
        raise StorageError(
            f"the folder {source.root} is empty, but {len(known)} of its documents are indexed",
            f"{_UNCHANGED}; to remove its documents, put any file into it, a hidden one will do, and ingest again",
            {"path": str(source.root), "source_id": source.id, "documents": len(known)},
        )
    for file in found.files:
        stamp = known.get(file.doc_path)
        signature = signature_of(source, settings.chunking, file)
        if stamp and (stamp.size, stamp.mtime_ns, stamp.signature) == (file.size, file.mtime_ns, signature):
            plan.unchanged += 1
        else:
            plan.to_read.append(ToRead(source, file, stamp))
    plan.gone.extend(_gone(source, known, found, settings.max_file_bytes))
    plan.skips.extend(found.skips)
    plan.problems.extend(
        FileProblem(source_id=source.id, path=skip.doc_path, message=_UNREADABLE_RULES)
        for skip in found.skips
        if skip.reason == "unreadable_rules"
    )


def add_copies(plan: Plan, source_id: str, known: Mapping[str, FileStamp], settings: Ingest) -> None:
    """Add the stored copies that were parsed and cut by other versions or settings."""
    source = Source(id=source_id, root=Path("/"))
    for doc_path, stamp in known.items():
        file = SourceFile(doc_path, source.root / doc_path, stamp.size, stamp.mtime_ns)
        if stamp.signature != signature_of(source, settings.chunking, file):
            plan.to_read.append(ToRead(source, file, stamp, is_copy=True))


def _walked(source: Source, settings: Ingest, data_dir: Path) -> Walk:
    try:
        return walk(
            source.root,
            exclude=source.exclude,
            max_file_bytes=settings.max_file_bytes,
            data_dir=data_dir.resolve(),
            source_id=source.id,
        )
    except StorageError as error:
        raise StorageError(
            error.message,
            f"{_UNCHANGED}; if it was moved, run `kebab ingest NEW_FOLDER --source-id {quote(source.id)}`, or"
            " correct the config file if it is there; to remove its documents, make it again with any file in it",
            error.details | {"source_id": source.id},
        ) from error


def _gone(source: Source, known: Mapping[str, FileStamp], found: Walk, max_file_bytes: int) -> list[DocId]:
    """Documents of this source that there are no more. A file that was merely passed over is still one.

    So is a file that was indexed when larger ones were allowed: narrower settings remove nothing.
    """
    present = {file.doc_path for file in found.files}
    no_documents = found.no_documents()
    return [
        stamp.doc_id
        for path, stamp in known.items()
        if path not in present
        and ((path in no_documents and stamp.size <= size_limit(path, max_file_bytes)) or is_gone(source.root, path))
    ]
