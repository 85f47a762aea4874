"""Which paths of a source are passed over: `.gitignore`, `.kebabignore` and configured exclusions.

Patterns are gitignore's. A pattern counts from the folder of its file; the last matching pattern of the deepest
folder decides; what stands in an ignored folder cannot be brought back.
"""

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from kebab_stream.errors import ConfigInvalidError
from kebab_stream.ingest.read import split_lines

IGNORE_FILES = (".gitignore", ".kebabignore")
"""The later one decides where both match."""

_FOLDERS_BELOW = re.compile(r"(?<=[^/])/\*\*/(?=\s*$)")
"""`a/**/` means the folders in `a`; pathspec takes it for `a` itself."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file."""

    base: str
    """POSIX path of its folder below the root, ending in `/`; empty for the root itself."""
    patterns: tuple[GitIgnoreSpecPattern, ...]
    above: str = ""
    """For a file in a folder above the root: the path from there to the root, ending in `/`."""

    @classmethod
    def of(cls, lines: Iterable[str], base: str = "", above: str = "") -> Self:
        """Compile the lines of an ignore file.

        Raises:
            ValueError: one of them is no pattern.
        """
        try:
            spec = GitIgnoreSpec.from_lines(
                _FOLDERS_BELOW.sub("/**/*/", unicodedata.normalize("NFC", line)) for line in lines
            )
        except re.error as error:
            raise ValueError(str(error)) from error
        return cls(base, tuple(pattern for pattern in spec.patterns if pattern.include is not None), above)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True if ignored, False if brought back, None if no pattern matches. `path` is below the root."""
        relative = self.above + path[len(self.base) :] + ("/" if is_folder else "")
        for pattern in reversed(self.patterns):
            result = pattern.match_file(relative)
            if result and _is_match_of_all(result.match, relative):
                return pattern.include
        return None


def _is_match_of_all(match: re.Match[str], path: str) -> bool:
    """False where the pattern matches a folder above only, which the walk has asked about before.

    pathspec's expressions match a path through its folders too; the slash after such a folder is group `ps_d`.
    `build/**`, without that group, matches the `build/` that it does not mean.
    """
    slash = match.start("ps_d") if "ps_d" in match.re.groupindex else -1
    if slash < 0:
        return not (path.endswith("/") and match.end() == len(path))
    return path.endswith("/") and slash in (len(path) - 1, match.start())  # `*/` matches nothing but a slash


def is_ignored(rules: Sequence[Rules], path: str, *, is_folder: bool) -> bool:
    """What the rules say, outermost folder first; the innermost that has an opinion decides."""
    for rule in reversed(rules):
        verdict = rule.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def excluded_by(patterns: Sequence[str]) -> Rules:
    """Configured exclusions.

    Raises:
        ConfigInvalidError: names the pattern that is none.
    """
    for pattern in patterns:
        try:
            Rules.of([pattern])
        except ValueError as error:
            raise ConfigInvalidError(
                f"exclude: {pattern!r} is no gitignore pattern", "see `git help gitignore`", {"pattern": pattern}
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
    """Patterns of an ignore file; lines that are no pattern count for nothing, as in git. None if it is unreadable."""
    try:
        data = path.read_bytes() if path.is_file() else b""  # a pipe would never end
    except OSError:
        data = b""
    lines = split_lines(data.decode("utf-8-sig", "replace"))
    return Rules.of([line for line in lines if _is_pattern(line)], base, above)


def _is_pattern(line: str) -> bool:
    try:
        Rules.of([line])
    except ValueError:
        return False
    return True
