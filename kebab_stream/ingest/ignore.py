"""Which paths of a source are passed over: `.gitignore`, `.kebabignore` and configured exclusions.

Patterns are gitignore's. A pattern counts from the folder of its file; the last matching pattern of the deepest
folder decides; what stands in an ignored folder cannot be brought back.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kebab_stream.errors import ConfigInvalidError
from kebab_stream.ingest.wildmatch import Wildmatch, wildmatch

IGNORE_FILES = (".gitignore", ".kebabignore")
"""The later one decides where both match."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file."""

    base: str
    """POSIX path of its folder below the root, ending in `/`; empty for the root itself."""
    patterns: tuple[Wildmatch, ...]
    above: str = ""
    """For a file in a folder above the root: the path from there to the root, ending in `/`."""

    @classmethod
    def of(cls, lines: Iterable[str], base: str = "", above: str = "") -> Self:
        """Compile the lines of an ignore file.

        Raises:
            ValueError: one of them is no pattern.
        """
        return cls(base, tuple(pattern for line in lines if (pattern := wildmatch(line))), above)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True if ignored, False if brought back, None if no pattern matches. `path` is below the root."""
        relative = (self.above + path[len(self.base) :]).encode("utf-8", "surrogateescape")
        for pattern in reversed(self.patterns):
            if pattern.matches(relative, is_folder=is_folder):
                return not pattern.is_negated
        return None


def is_ignored(rules: Sequence[Rules], path: str, *, is_folder: bool) -> bool:
    """What the rules say, outermost folder first; the innermost that has an opinion decides."""
    for rule in reversed(rules):
        verdict = rule.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def excluded_by(patterns: Sequence[str], source_id: str) -> Rules:
    """Configured exclusions of a source.

    Raises:
        ConfigInvalidError: names the pattern that is none, and the source.
    """
    for pattern in patterns:
        try:
            Rules.of([pattern])
        except ValueError as error:
            raise ConfigInvalidError(
                f"exclude of source {source_id!r}: {pattern!r} is no gitignore pattern",
                "see `git help gitignore`",
                {"pattern": pattern, "source_id": source_id},
            ) from error
    return Rules.of(patterns)


def rules_above(root: Path) -> list[Rules]:
    """The rules of a Git work tree that count for a folder inside it, outermost first; none outside of one.

    `root` is without links. That the folder itself is ignored does not matter: it was asked for.
    """
    folders = [root, *root.parents]
    top = next((number for number, folder in enumerate(folders) if os.path.lexists(folder / ".git")), 0)
    return [
        rules
        for folder in reversed(folders[1 : top + 1])
        for name in IGNORE_FILES
        if (rules := read_rules(folder / name, "", f"{root.relative_to(folder).as_posix()}/")).patterns
    ]


def read_rules(path: Path, base: str, above: str = "") -> Rules:
    """Patterns of an ignore file; lines that are no pattern count for nothing, as in git.

    Raises:
        OSError: it cannot be read. What it ignores is not known then, and must not be taken for nothing.
    """
    data = path.read_bytes() if path.is_file() else b""  # a pipe would never end
    lines = data.decode("utf-8-sig", "replace").split("\n")  # a carriage return alone ends no line, as in git
    return Rules(base, tuple(_patterns(line.removesuffix("\r") for line in lines)), above)


def _patterns(lines: Iterable[str]) -> Iterator[Wildmatch]:
    for line in lines:
        with suppress(ValueError):
            if pattern := wildmatch(line):
                yield pattern
