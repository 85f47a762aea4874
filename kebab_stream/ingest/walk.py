"""Which files of a source root become documents, and which are passed over and why.

Reads names, sizes and times; looks into a file only where its name does not tell whether it is a text.
"""

import codecs
import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from stat import S_ISREG
from typing import Literal

from kebab_stream.errors import StorageError
from kebab_stream.ingest.ignore import IGNORE_FILES, Rules, excluded_by, is_ignored, read_rules
from kebab_stream.ingest.media import has_extension, media_of

SkipReason = Literal[
    "bad_name",  # the name is not UTF-8
    "binary",  # no extension, and no text
    "duplicate_name",  # the same name as another file, but for Unicode normalisation
    "excluded",  # by the configuration
    "hidden",  # begins with a dot
    "ignored",  # by .gitignore or .kebabignore
    "symlink",  # to a folder, to nothing, or out of the root
    "too_large",
    "unreadable",
    "unsupported",  # a kind of file that is no document
]

_EXAMPLES = 3
_SNIFF_BYTES = 8192


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest."""

    doc_path: str
    """Relative to the source root, POSIX, NFC."""
    path: Path
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Walk:
    """What a source root holds."""

    files: tuple[SourceFile, ...]
    """By doc_path, in the order of its UTF-8 bytes."""
    skipped: dict[SkipReason, int]
    """How many were passed over, by reason; a folder counts once."""
    skipped_examples: dict[SkipReason, tuple[str, ...]]
    """The first three paths of each."""


@dataclass(frozen=True, slots=True)
class _Skip:
    reason: SkipReason
    doc_path: str


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    base: str
    """Relative POSIX path, NFC, ending in `/`; empty for the root."""
    rules: tuple[Rules, ...]


_Found = SourceFile | _Folder | _Skip


def walk(root: Path, *, exclude: Sequence[str] = (), max_file_bytes: int) -> Walk:
    """Find the documents below a root; the same files give the same answer in the same order, always.

    Args:
        root: an existing folder. Links below it are never followed out of it, nor into folders.
        exclude: gitignore patterns, from the root.
        max_file_bytes: larger files are passed over.

    Raises:
        ConfigInvalidError: a pattern in `exclude` is none.
        StorageError: the root is missing, no folder, or cannot be listed. It never counts as empty.
    """
    scan = _Scan(_real_root(root), excluded_by(exclude), max_file_bytes)
    files: list[SourceFile] = []
    skips: list[_Skip] = []
    folders = [_Folder(root, "", ())]
    while folders:
        for found in scan.folder(folders.pop()):
            match found:
                case SourceFile():
                    files.append(found)
                case _Folder():
                    folders.append(found)
                case _Skip():
                    skips.append(found)
    files, duplicates = _without_duplicates(files)
    paths = _by_reason([*skips, *duplicates])
    return Walk(
        tuple(files),
        {reason: len(some) for reason, some in paths.items()},
        {reason: tuple(nsmallest(_EXAMPLES, some)) for reason, some in paths.items()},
    )


def is_gone(root: Path, doc_path: str) -> bool:
    """True only on proof: the root is there, can be read, and has nothing under this path.

    A file that was passed over is not gone, nor is one in a folder that cannot be read.
    """
    places = [root]
    try:
        root.lstat()
        for name in doc_path.split("/"):
            spellings = {name, unicodedata.normalize("NFD", name)}
            places = [place / spelling for place in places for spelling in spellings if _is_there(place / spelling)]
    except OSError:
        return False
    return not places


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _real_root(root: Path) -> Path:
    try:
        return root.resolve(strict=True)
    except OSError as error:
        raise _unreadable_root(root, error) from error


def _unreadable_root(root: Path, error: OSError) -> StorageError:
    problem = (error.strerror or str(error)).lower()
    return StorageError(
        f"cannot read the folder {root}: {problem}", "check the path; nothing was changed", {"path": str(root)}
    )


def _without_duplicates(files: list[SourceFile]) -> tuple[list[SourceFile], list[_Skip]]:
    """Of files whose paths differ in Unicode normalisation only, keep the first by its raw bytes."""
    files.sort(key=lambda file: (file.doc_path.encode(), os.fsencode(file.path)))
    kept: list[SourceFile] = []
    skips: list[_Skip] = []
    for file in files:
        if kept and kept[-1].doc_path == file.doc_path:
            skips.append(_Skip("duplicate_name", file.doc_path))
        else:
            kept.append(file)
    return kept, skips


def _by_reason(skips: list[_Skip]) -> dict[SkipReason, list[str]]:
    paths: dict[SkipReason, list[str]] = {}
    for skip in sorted(skips, key=lambda skip: skip.reason):
        printable = skip.doc_path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        paths.setdefault(skip.reason, []).append(printable)
    return paths


@dataclass(frozen=True, slots=True)
class _Scan:
    real_root: Path
    excluded: Rules
    max_file_bytes: int

    def folder(self, folder: _Folder) -> Iterator[_Found]:
        """Everything in one folder."""
        try:
            with os.scandir(folder.path) as listing:
                entries = list(listing)
        except OSError as error:
            if not folder.base:
                raise _unreadable_root(folder.path, error) from error
            yield _Skip("unreadable", folder.base.rstrip("/"))
            return
        names = {entry.name for entry in entries}
        own = [read_rules(folder.path / name, folder.base) for name in IGNORE_FILES if name in names]
        rules = folder.rules + tuple(rule for rule in own if rule)
        for entry in entries:
            doc_path = folder.base + unicodedata.normalize("NFC", entry.name)
            try:
                yield self._entry(entry, doc_path, rules)
            except OSError:
                yield _Skip("unreadable", doc_path)

    def _entry(self, entry: os.DirEntry[str], doc_path: str, rules: tuple[Rules, ...]) -> _Found:
        is_link = entry.is_symlink()
        is_folder = entry.is_dir(follow_symlinks=False)
        reason = self._skip_by_path(entry.name, doc_path, rules, is_folder=is_folder)
        if reason is None and is_link:
            reason = None if self._stays_inside(entry) else "symlink"
        if reason:
            return _Skip(reason, doc_path)
        if is_folder:
            return _Folder(Path(entry.path), doc_path + "/", rules)
        status = entry.stat()
        reason = self._skip_by_content(entry, status)
        if reason:
            return _Skip(reason, doc_path)
        return SourceFile(doc_path, Path(entry.path), status.st_size, status.st_mtime_ns)

    def _skip_by_path(
        self, name: str, doc_path: str, rules: tuple[Rules, ...], *, is_folder: bool
    ) -> SkipReason | None:
        if any("\udc80" <= char <= "\udcff" for char in name):
            return "bad_name"
        if name.startswith("."):
            return "hidden"
        if self.excluded.verdict(doc_path, is_folder=is_folder):
            return "excluded"
        return "ignored" if is_ignored(rules, doc_path, is_folder=is_folder) else None

    def _stays_inside(self, entry: os.DirEntry[str]) -> bool:
        try:
            target = Path(entry.path).resolve(strict=True)
        except (OSError, RuntimeError):  # leads nowhere, or in a circle
            return False
        return target.is_file() and target.is_relative_to(self.real_root)

    def _skip_by_content(self, entry: os.DirEntry[str], status: os.stat_result) -> SkipReason | None:
        if not S_ISREG(status.st_mode) or media_of(entry.name) is None:
            return "unsupported"
        if status.st_size > self.max_file_bytes:
            return "too_large"
        return "binary" if not has_extension(entry.name) and _is_binary(Path(entry.path)) else None


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_SNIFF_BYTES)
    return b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
