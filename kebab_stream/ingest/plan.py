"""What an ingest has to do: each source's files beside what is known of them."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kebab_stream.config import Ingest, Source
from kebab_stream.index.rows import FileStamp
from kebab_stream.ingest.prepare import signature_of
from kebab_stream.ingest.walk import SourceFile, is_gone, walk
from kebab_stream.model import DocId


@dataclass(frozen=True, slots=True)
class ToRead:
    """A file that is new, or may have changed."""

    source: Source
    file: SourceFile
    known: FileStamp | None


@dataclass(slots=True)
class Plan:
    """What is to be done, over all sources."""

    to_read: list[ToRead] = field(default_factory=list)
    unchanged: int = 0
    gone: list[DocId] = field(default_factory=list)
    """Documents whose file is proven to be absent."""
    skipped: Counter[str] = field(default_factory=Counter)
    skipped_examples: dict[str, list[str]] = field(default_factory=dict)


def add_source(plan: Plan, source: Source, known: Mapping[str, FileStamp], settings: Ingest, *, data_dir: Path) -> None:
    """Scan one source and add what is to be done.

    The data folder may lie in a source; what is in it is no document.

    Raises:
        StorageError: the root is missing or cannot be read; nothing can be said of its files then.
    """
    found = walk(source.root, exclude=source.exclude, max_file_bytes=settings.max_file_bytes)
    signature = signature_of(source, settings.chunking)
    own_files = os.path.realpath(data_dir) + os.sep
    for file in found.files:
        if str(file.path).startswith(own_files):
            continue
        stamp = known.get(file.doc_path)
        if stamp and (stamp.size, stamp.mtime_ns, stamp.signature) == (file.size, file.mtime_ns, signature):
            plan.unchanged += 1
        else:
            plan.to_read.append(ToRead(source, file, stamp))
    plan.gone.extend(_gone(source, known, found.files))
    plan.skipped.update(found.skipped)
    for reason, examples in found.skipped_examples.items():
        plan.skipped_examples.setdefault(reason, []).extend(examples)


def _gone(source: Source, known: Mapping[str, FileStamp], files: Sequence[SourceFile]) -> list[DocId]:
    """Documents of this source whose file is proven to be absent; one that was merely passed over is not."""
    present = {file.doc_path for file in files}
    return [stamp.doc_id for path, stamp in known.items() if path not in present and is_gone(source.root, path)]
