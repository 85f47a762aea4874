"""Which paths of a source are passed over: `.gitignore`, `.kebabignore` and configured exclusions.

Patterns are gitignore's. A pattern counts from the folder of its file; the last matching pattern of the deepest
folder decides; what stands in an ignored folder cannot be brought back.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pathspec import GitIgnoreSpec

from kebab_stream.errors import ConfigInvalidError

IGNORE_FILES = (".gitignore", ".kebabignore")
"""The later one decides where both match."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file."""

    base: str
    """POSIX path of its folder below the root, ending in `/`; empty for the root itself."""
    for_files: GitIgnoreSpec
    for_folders: GitIgnoreSpec

    @classmethod
    def of(cls, patterns: Iterable[str], base: str = "") -> Self:
        """Compile patterns.

        Raises:
            ValueError: one of them is no pattern.
        """
        lines = [unicodedata.normalize("NFC", line) for line in patterns]
        # `build/**` means all that is in `build`, not the folder itself; pathspec takes it for both.
        folder_lines = [line for line in lines if not line.rstrip().endswith("/**")]
        try:
            return cls(base, GitIgnoreSpec.from_lines(lines), GitIgnoreSpec.from_lines(folder_lines))
        except re.error as error:
            raise ValueError(str(error)) from error

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True if ignored, False if brought back, None if no pattern matches. `path` is below the root."""
        spec = self.for_folders if is_folder else self.for_files
        return spec.check_file(path[len(self.base) :] + ("/" if is_folder else "")).include


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


def read_rules(path: Path, base: str) -> Rules | None:
    """Patterns of an ignore file; lines that are no pattern count for nothing, as in git. None if unreadable."""
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return None
    return Rules.of([line for line in text.splitlines() if _is_pattern(line)], base)


def _is_pattern(line: str) -> bool:
    try:
        Rules.of([line])
    except ValueError:
        return False
    return True
