"""Which files of a source root become documents, and which are passed over and why.

Reads names, sizes and times; looks into a file only where its name does not tell whether it is a text.
"""

import codecs
import os
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Literal

from kebab_stream.errors import StorageError
from kebab_stream.ingest.ignore import IGNORE_FILES, Rules, excluded_by, is_ignored, read_rules, rules_above
from kebab_stream.ingest.media import has_extension, media_of, size_limit
from kebab_stream.ingest.pdf import can_read_pdf

SkipReason = Literal[
    "bad_name",
    "binary",
    "data_folder",
    "duplicate_name",
    "excluded",
    "hidden",
    "ignored",
    "needs_extra",
    "symlink",
    "too_large",
    "unreadable",
    "unreadable_rules",
    "unsupported",
]

SKIP_MEANINGS: Mapping[SkipReason, str] = {
    "bad_name": "The name is not UTF-8.",
    "binary": "It is no text: there is a zero byte in it.",
    "data_folder": "The folder in which kebab keeps its index.",
    "duplicate_name": "Another file has the same name, but for Unicode normalisation.",
    "excluded": "By `exclude` of its source.",
    "hidden": "The name begins with a dot.",
    "ignored": "By `.gitignore` or `.kebabignore`.",
    "needs_extra": "A PDF, and the extra `pdf`, which reads it, is not installed.",
    "symlink": "A symbolic link; only the folder of a source itself may be one.",
    "too_large": "It has more bytes than `ingest.max_file_bytes`; a PDF, more than ten times as many.",
    "unreadable": "A folder that cannot be listed, or whose files the system does not describe.",
    "unreadable_rules": "A `.gitignore` or `.kebabignore` that cannot be read, and with it all that is in its folder.",
    "unsupported": "A kind of file that is not indexed, by its extension; or no regular file.",
}

_NO_DOCUMENTS: frozenset[SkipReason] = frozenset({"binary", "too_large", "unsupported"})
_SNIFF_BYTES = 8192


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest."""

    doc_path: str
    """Relative to the source root, POSIX, NFC."""
    path: Path
    size: int
    mtime_ns: int
    repo: str | None = None
    """The name of the Git work tree that it is in, NFC."""


@dataclass(frozen=True, slots=True, order=True)
class Skip:
    """A file or folder that was passed over."""

    reason: SkipReason
    doc_path: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What a source root holds."""

    files: tuple[SourceFile, ...]
    """By doc_path, in the order of its UTF-8 bytes."""
    skips: tuple[Skip, ...]
    """By reason and path; a folder is one."""
    is_empty: bool
    """Whether there is nothing in the root, not even a folder or a hidden file."""

    def no_documents(self) -> set[str]:
        """Paths of files that are there, but that by their kind, size or content are no documents."""
        return {skip.doc_path for skip in self.skips if skip.reason in _NO_DOCUMENTS}


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    base: str
    """Relative POSIX path, NFC, ending in `/`; empty for the root."""
    rules: tuple[Rules, ...]
    repo: str | None


_Found = SourceFile | _Folder | Skip


def walk(
    root: Path,
    *,
    exclude: Sequence[str] = (),
    max_file_bytes: int,
    data_dir: Path | None = None,
    source_id: str = "",
) -> Walk:
    """Find the documents below a root; the same files give the same answer in the same order, always.

    Args:
        root: an existing folder, or a link to one. No link below it is followed.
        exclude: gitignore patterns, from the root.
        max_file_bytes: larger files are passed over, PDFs if they are ten times larger.
        data_dir: a folder to pass over, without links in its path.
        source_id: what a message calls the source of the patterns.

    Raises:
        ConfigInvalidError: a pattern in `exclude` is none.
        StorageError: the root is missing, no folder, or cannot be listed. It never counts as empty.
    """
    scan = _Scan(excluded_by(exclude, source_id), max_file_bytes, data_dir)
    files: list[SourceFile] = []
    skips: list[Skip] = []
    root_folder = _root_folder(root)
    folders = [root_folder] if isinstance(root_folder, _Folder) else []
    skips += [root_folder] if isinstance(root_folder, Skip) else []
    for folder in folders:  # which grows on the way
        for found in scan.folder(folder):
            match found:
                case SourceFile():
                    files.append(found)
                case _Folder():
                    folders.append(found)
                case Skip():
                    skips.append(found)
    is_empty = not files and not skips and len(folders) == 1
    files, duplicates = _without_duplicates(files)
    return Walk(tuple(files), tuple(sorted(skips + duplicates)), is_empty)


def is_gone(root: Path, doc_path: str) -> bool:
    """True only on proof: the root is there, can be read, and has no file at this path. A link is no file.

    A file that was passed over is not gone, nor is one in a folder that cannot be read.
    """
    places = [root]
    names = doc_path.split("/")
    try:
        root.lstat()
        for number, name in enumerate(names, 1):
            is_kind = S_ISREG if number == len(names) else S_ISDIR
            spellings = {name, unicodedata.normalize("NFD", name)}
            places = [place / spelling for place in places for spelling in spellings if _is(place / spelling, is_kind)]
    except OSError:
        return False
    return not places


def _is(path: Path, is_kind: Callable[[int], bool]) -> bool:
    try:
        return is_kind(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _root_folder(root: Path) -> _Folder | Skip:
    try:
        real = root.resolve(strict=True)
    except OSError as error:
        raise _unreadable_root(root, error) from error
    try:
        rules = tuple(rules_above(real))
    except OSError as error:
        return Skip("unreadable_rules", _text_of(os.path.relpath(error.filename, real)))
    return _Folder(real, "", rules, repository_of(real.parent))


def repository_of(folder: Path) -> str | None:
    """The name of the Git work tree that a folder is in, NFC."""
    folders = (folder, *folder.parents)
    return next((_name_of(each) for each in folders if os.path.lexists(each / ".git")), None)


def _name_of(folder: Path) -> str | None:
    return _text_of(folder.name) or None


def _text_of(name: str) -> str:
    """A name in NFC, with U+FFFD for bytes that are not UTF-8."""
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _unreadable_root(root: Path, error: OSError) -> StorageError:
    problem = (error.strerror or str(error)).lower()
    return StorageError(
        f"cannot read the folder {root}: {problem}", "check the path; nothing was changed", {"path": str(root)}
    )


def _without_duplicates(files: list[SourceFile]) -> tuple[list[SourceFile], list[Skip]]:
    """Of files whose paths differ in Unicode normalisation only, keep the first by its raw bytes."""
    files.sort(key=lambda file: (file.doc_path.encode(), os.fsencode(file.path)))
    kept: list[SourceFile] = []
    skips: list[Skip] = []
    for file in files:
        if kept and kept[-1].doc_path == file.doc_path:
            skips.append(Skip("duplicate_name", file.doc_path))
        else:
            kept.append(file)
    return kept, skips


@dataclass(frozen=True, slots=True)
class _Scan:
    excluded: Rules
    max_file_bytes: int
    data_dir: Path | None

    def folder(self, folder: _Folder) -> Iterator[_Found]:
        """Everything in one folder."""
        try:
            with os.scandir(folder.path) as listing:
                entries = list(listing)
        except OSError as error:
            if not folder.base:
                raise _unreadable_root(folder.path, error) from error
            yield Skip("unreadable", folder.base.rstrip("/"))
            return
        names = {entry.name for entry in entries}
        try:
            own = [read_rules(folder.path / name, folder.base) for name in IGNORE_FILES if name in names]
        except OSError as error:
            yield Skip("unreadable_rules", folder.base + Path(error.filename).name)
            return
        here = replace(
            folder,
            rules=folder.rules + tuple(rule for rule in own if rule.patterns),
            repo=_name_of(folder.path) if ".git" in names else folder.repo,
        )
        for entry in entries:
            doc_path = folder.base + _text_of(entry.name)
            try:
                yield self._entry(entry, doc_path, here)
            except OSError:
                yield Skip("unreadable", doc_path)

    def _entry(self, entry: os.DirEntry[str], doc_path: str, folder: _Folder) -> _Found:
        is_folder = entry.is_dir(follow_symlinks=False)
        reason = self._skip_by_path(entry, doc_path, folder.rules, is_folder=is_folder)
        if reason:
            return Skip(reason, doc_path)
        if is_folder:
            return replace(folder, path=Path(entry.path), base=doc_path + "/")
        status = entry.stat(follow_symlinks=False)
        reason = self._skip_by_content(entry, status)
        if reason:
            return Skip(reason, doc_path)
        return SourceFile(doc_path, Path(entry.path), status.st_size, status.st_mtime_ns, folder.repo)

    def _skip_by_path(
        self, entry: os.DirEntry[str], doc_path: str, rules: Sequence[Rules], *, is_folder: bool
    ) -> SkipReason | None:
        if not entry.name.isascii() and any("\udc80" <= char <= "\udcff" for char in entry.name):
            return "bad_name"
        if entry.name.startswith("."):
            return "hidden"
        if self.excluded.verdict(doc_path, is_folder=is_folder):
            return "excluded"
        if is_ignored(rules, doc_path, is_folder=is_folder):
            return "ignored"
        if entry.is_symlink():
            return "symlink"
        return "data_folder" if is_folder and Path(entry.path) == self.data_dir else None

    def _skip_by_content(self, entry: os.DirEntry[str], status: os.stat_result) -> SkipReason | None:
        media, _ = media_of(entry.name) or (None, None)
        if not S_ISREG(status.st_mode) or media is None:
            return "unsupported"
        if media == "pdf" and not can_read_pdf():
            return "needs_extra"
        if status.st_size > size_limit(entry.name, self.max_file_bytes):
            return "too_large"
        return "binary" if not has_extension(entry.name) and _is_binary(Path(entry.path)) else None


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_SNIFF_BYTES)
    return b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
