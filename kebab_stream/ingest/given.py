"""Documents given by themselves: a file by its path, or a text. They need no folder to be scanned.

A file in the folder of a source is a document of that source, the same as a scan would make it. Any other file, and
every text, becomes a stored copy: a document of a source without a folder, which stays until it is removed.
"""

import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from time import time_ns

from kebab_stream.config import Config, Source
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.ingest.ignore import IGNORE_FILES, excluded_by, is_ignored, read_rules, rules_above
from kebab_stream.ingest.media import media_of, size_limit
from kebab_stream.ingest.prepare import Prepared
from kebab_stream.ingest.read import open_regular
from kebab_stream.ingest.walk import SourceFile, repository_of
from kebab_stream.model import FILES, TEXTS, TRUST_LEVELS, TrustLevel

_NAME_BYTES = 200
_WITH_DIGEST = re.compile(r"(?:.* )?(?![0-9]{8}$)[0-9a-f]{8}")
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f/\\]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text that is no file, and what its giver says of it."""

    data: bytes
    title: str
    name: str | None = None
    """A file name; its ending tells the kind of text. By default the title, as Markdown."""
    tags: tuple[str, ...] = ()
    """Besides those in its front matter."""
    source_type: str | None = None
    """By default what its front matter says, or else `notes`."""
    trust_level: TrustLevel = "secondary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A document to take in."""

    source: Source
    file: SourceFile
    data: bytes
    text: Text | None = None
    warnings: tuple[str, ...] = ()

    def named(self, prepared: Prepared) -> Prepared:
        """The document with what the giver says of it, which its front matter cannot take back."""
        text = self.text
        if text is None:
            return prepared
        named = with_given_fields(prepared, title=_clean(text.title), tags=text.tags, trust_level=text.trust_level)
        source_type = text.source_type or prepared.document.source_type
        return replace(named, document=replace(named.document, source_type=source_type))


def with_given_fields(prepared: Prepared, *, title: str, tags: Sequence[str], trust_level: TrustLevel) -> Prepared:
    """A prepared text with this title, these tags besides its own, and no more trust than it was given."""
    document = prepared.document
    every_tag = tuple(sorted({*tags, *document.tags}))  # as the store gives them back
    least = min(trust_level, document.trust_level, key=TRUST_LEVELS.index)
    return replace(prepared, document=replace(document, title=title, tags=every_tag, trust_level=least))


def given_file(path: Path, sources: Sequence[Source], config: Config, *, copies_allowed: bool = True) -> Given:
    """A file to take in.

    Args:
        path: links in it are followed first; what counts is where the file really is.
        sources: the innermost of these whose folder holds the file gets it.
        copies_allowed: whether a file outside of them all may become a stored copy.

    Raises:
        InvalidInputError: there is no such file, it is no document by its kind or size, it is one of kebab's own, or
            it is outside and may not be.
        StorageError: it cannot be read.
    """
    real = _real_file(path)
    if real.is_relative_to(os.path.realpath(config.storage.data_dir)):
        raise _refused(path, "is in the folder where kebab keeps its own files", "index another file")
    if media_of(real.name) is None:
        raise _refused(path, "is a kind of file that is not indexed", "see the list of kinds in docs/ingest.md")
    data, status = _content(real, path, size_limit(real.name, config.ingest.max_file_bytes))
    source = _innermost(real, sources)
    if source is None and not copies_allowed:
        raise _refused(path, "is outside all known sources", "give its text instead, or ingest its folder first")
    root = Path("/") if source is None else Path(os.path.realpath(source.root))
    doc_path = unicodedata.normalize("NFC", real.relative_to(root).as_posix())
    return Given(
        source=source or Source(id=FILES, root=root),
        file=SourceFile(doc_path, real, status.st_size, status.st_mtime_ns, repository_of(real.parent)),
        data=data,
        warnings=_warnings(doc_path, source, root) if source else (),
    )


def given_text(text: Text, config: Config) -> Given:
    """A text to take in.

    Raises:
        InvalidInputError: it or its title is blank, it is too large, or its name is no file name of a known kind.
    """
    if not text.title.strip():
        raise InvalidInputError("the title is empty", "say what the text is with --title", {"title": text.title})
    if not text.data.strip():
        raise InvalidInputError("the text is empty", "pipe it in: `kebab ingest-stdin --title TITLE < FILE`")
    _check_size(len(text.data), config.ingest.max_file_bytes, "the text")
    label = text.source_type
    if label is not None and (not label.strip() or label != label.strip() or "," in label):
        raise InvalidInputError(
            f"source type {label!r} is blank, has a comma, or has a space at one of its ends",
            "give another label: filters split labels at commas",
            {"source_type": label},
        )
    source = Source(id=TEXTS, root=Path("/"), trust_level=text.trust_level)
    name = _name_from(text.title) if text.name is None else _checked_name(text.name)
    file = SourceFile(name, Path("/") / name, len(text.data), time_ns())
    return Given(source=source, file=file, data=text.data, text=text)


def _name_from(title: str) -> str:
    """A file name for a title: the same one for the same title, so that a new text of that title replaces the old.

    Another one for another title: where the title itself is not the name, or looks as if it had a digest, it gets one.
    """
    name = _NOT_IN_NAMES.sub(" ", _clean(title)).strip(" .")
    if len(name.encode()) > _NAME_BYTES or name != _clean(title) or _WITH_DIGEST.fullmatch(name):
        digest = hashlib.blake2b(title.encode(errors="replace"), digest_size=4).hexdigest()
        digest = f"a{digest[1:]}" if digest.isdecimal() else digest  # a date at the end of a title looks like none
        name = f"{name.encode(errors='replace')[:_NAME_BYTES].decode(errors='ignore')} {digest}".strip()
    return f"{name}.md"


def _checked_name(given: str) -> str:
    name = unicodedata.normalize("NFC", given)
    if not name or PurePosixPath(name).name != name or name in (".", "..") or _NOT_IN_NAMES.search(name):
        raise InvalidInputError(f"{given!r} is no file name", "give a name without folders", {"name": given})
    if len(name.encode()) > _NAME_BYTES:
        raise InvalidInputError(f"the name has more than {_NAME_BYTES} bytes", "give a shorter one", {"name": name})
    if media_of(name) in (None, ("pdf", None)):
        raise InvalidInputError(f"{name!r} is no kind of text", "give a name such as notes.md", {"name": name})
    return name


def _clean(title: str) -> str:
    return unicodedata.normalize("NFC", " ".join(title.split()))


def _real_file(path: Path) -> Path:
    try:
        if "\0" in str(path):
            raise _refused(path, "has a zero byte in its name", "give the path of a file")
        str(path).encode()
        real = Path(os.path.realpath(path, strict=True))
        str(real).encode()
    except UnicodeEncodeError:
        raise _refused(path, "has a name that is not UTF-8", "rename it") from None
    except OSError as error:
        raise _refused(path, (error.strerror or str(error)).lower(), "give the path of a file") from error
    return real


def _content(real: Path, path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    try:
        if not stat.S_ISREG(real.lstat().st_mode):
            raise _refused(path, "is no regular file", "give the path of a file")
        with open(real, "rb", opener=open_regular) as file:  # Path.open takes no opener
            status = os.fstat(file.fileno())
            data = file.read(limit + 1)
            _check_size(max(status.st_size, len(data)), limit, str(path))
            return data, status
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}", None, {"path": str(path)}) from error


def _check_size(size: int, limit: int, what: str) -> None:
    if size > limit:
        raise InvalidInputError(
            f"{what} has {size} bytes, more than the {limit} that ingest.max_file_bytes allows",
            "split it, or raise ingest.max_file_bytes",
            {"bytes": size, "max_file_bytes": limit},
        )


def _innermost(real: Path, sources: Sequence[Source]) -> Source | None:
    holding = [source for source in sources if real.is_relative_to(os.path.realpath(source.root))]
    return max(holding, key=lambda source: (len(os.path.realpath(source.root)), source.id), default=None)


def _warnings(doc_path: str, source: Source, root: Path) -> tuple[str, ...]:
    """What a scan of the source would pass the file over for: an explicit wish outweighs it."""
    names = doc_path.split("/")
    paths = ["/".join(names[: count + 1]) for count in range(len(names))]
    if any(name.startswith(".") for name in names):
        return (f"{doc_path} is hidden; it was ingested because you named it",)
    excluded = excluded_by(source.exclude, source.id)
    folders = ["", *(f"{path}/" for path in paths[:-1])]
    try:
        rules = rules_above(root)
        rules += [read_rules(root / folder / name, folder) for folder in folders for name in IGNORE_FILES]
    except OSError as error:
        return (f"{error.filename} cannot be read; {doc_path} was ingested because you named it",)
    for path in paths:
        is_folder = path != doc_path
        here = [rule for rule in rules if path.startswith(rule.base)]
        if excluded.verdict(path, is_folder=is_folder) or is_ignored(here, path, is_folder=is_folder):
            return (f"{doc_path} is ignored or excluded in its source; it was ingested because you named it",)
    return ()


def _refused(path: Path, problem: str, hint: str) -> InvalidInputError:
    return InvalidInputError(f"{path}: {problem}", hint, {"path": str(path).encode(errors="replace").decode()})
