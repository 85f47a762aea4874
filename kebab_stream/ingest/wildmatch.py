"""One gitignore pattern as an expression over bytes: git's `dir.c` and `wildmatch.c`, with all their corners.

git compares bytes, so `?` and `[!a]` are a part of a letter beyond ASCII. Libraries compare letters, know no classes
such as `[[:upper:]]`, and differ where brackets hold brackets or are never closed.
Each `*` takes what is shortest for good, as what follows it up to the next one matches there as well as anywhere. So
no pattern, however many stars it has, takes more than a few passes over a path.
"""

import re
import string
import unicodedata
from dataclasses import dataclass

_SPECIAL = re.compile(rb"[*?\[\\]")
_STARS = re.compile(rb"\*+")
_SPACE, _ESCAPE, _SLASH, _STAR, _QUESTION, _HYPHEN, _COLON, _BRACKET, _BRACKET_END = rb" \/*?-:[]"

_PRINTABLE = range(0x20, 0x7F)
_CLASSES = {
    name.encode(): frozenset(members)
    for name, members in {
        "alnum": (string.ascii_letters + string.digits).encode(),
        "alpha": string.ascii_letters.encode(),
        "blank": b" \t",
        "cntrl": [*range(0x20), 0x7F],
        "digit": string.digits.encode(),
        "graph": _PRINTABLE[1:],
        "lower": string.ascii_lowercase.encode(),
        "print": _PRINTABLE,
        "punct": string.punctuation.encode(),
        "space": b" \t\n\r",
        "upper": string.ascii_uppercase.encode(),
        "xdigit": string.hexdigits.encode(),
    }.items()
}


@dataclass(frozen=True, slots=True)
class Wildmatch:
    """A pattern of an ignore file."""

    expression: re.Pattern[bytes]
    is_negated: bool
    """Whether it brings back what it matches."""
    folders_only: bool
    names_only: bool
    """Whether it is for the last name of a path, at any depth."""

    def matches(self, path: bytes, *, is_folder: bool) -> bool:
        """Whether it is for this path itself; one below a folder that it is for is not asked about."""
        if self.folders_only and not is_folder:
            return False
        return self.expression.fullmatch(path.rpartition(b"/")[2] if self.names_only else path) is not None


def wildmatch(line: str) -> Wildmatch | None:
    """The pattern of a line; None of a blank line and of a comment.

    Raises:
        ValueError: nothing can match it, as a bracket or an escape in it has no end, or nothing is left of it.
    """
    if not line.rstrip(" ") or line.startswith("#"):
        return None
    pattern = _without_spaces_at_end(unicodedata.normalize("NFC", line).encode("utf-8", "surrogatepass"))
    is_negated = pattern.startswith(b"!")
    pattern = pattern[is_negated:]
    folders_only = pattern.endswith(b"/")
    pattern = pattern[: len(pattern) - folders_only]
    names_only = b"/" not in pattern
    pattern = pattern.removeprefix(b"/")
    if not pattern:
        raise ValueError(f"nothing can match {line!r}")
    special = _SPECIAL.search(pattern)
    literal = pattern[: special.start()] if special else pattern
    # What is before the first special character counts as gone: `a**/b` is `a`, and then `**/b`, as in git.
    expression = re.escape(literal) + _Translation(pattern[len(literal) :], names_only=names_only).expression()
    return Wildmatch(re.compile(expression, re.DOTALL), is_negated, folders_only, names_only)


def _without_spaces_at_end(pattern: bytes) -> bytes:
    """An escaped space stays."""
    end, at = None, 0
    while at < len(pattern):
        if pattern[at] != _SPACE:
            end = None
        elif end is None:
            end = at
        at += 2 if pattern[at] == _ESCAPE else 1
    return pattern[:end]


class _Translation:
    """From a pattern to an expression, one element after the other. Raises ValueError if nothing can match."""

    def __init__(self, pattern: bytes, *, names_only: bool) -> None:
        self._pattern = pattern
        self._names_only = names_only
        self._at = 0

    def expression(self) -> bytes:
        """Of the whole pattern."""
        done = self._up_to_folders()
        while folders := self._folders():
            part = self._up_to_folders()
            is_last = self._at == len(self._pattern)  # and must match where the path ends, not as soon as it can
            done += folders + part if is_last else b"(?>%b%b)" % (folders, part)
        return done

    def _folders(self) -> bytes | None:
        """Any folders, for a `**` that stands for them."""
        stars = self._stars()
        if stars is None or not self._is_for_folders(stars):
            return None
        self._at = stars.end()
        if self._pattern[self._at : self._at + 1] != b"/":
            return b".*?"
        self._at += 1
        return b"(?:.*?/)??"

    def _stars(self) -> re.Match[bytes] | None:
        return _STARS.match(self._pattern, self._at)

    def _is_for_folders(self, stars: re.Match[bytes]) -> bool:
        """Whether it is `**` between slashes or ends; any other is the same as `*`."""
        start, end = stars.span()
        return (
            not self._names_only
            and end - start > 1
            and (start == 0 or self._pattern[start - 1] == _SLASH)
            and (end == len(self._pattern) or self._pattern.startswith((b"/", b"\\/"), end))
        )

    def _up_to_folders(self) -> bytes:
        done = self._piece()
        while (stars := self._stars()) and not self._is_for_folders(stars):
            self._at = stars.end()
            piece = self._piece()
            is_last = self._at == len(self._pattern)
            done += b"(?>[^/]*?%b%b)" % (piece, rb"\Z" if is_last else b"")
        return done

    def _piece(self) -> bytes:
        """What is without stars."""
        done = b""
        while byte := self._byte:
            if byte == _STAR:
                break
            done += self._one(byte)
        return done

    def _one(self, byte: int) -> bytes:
        """One byte of a path."""
        if byte == _QUESTION:
            self._at += 1
            return b"[^/]"
        if byte == _BRACKET:
            return _one_of(self._bracket())
        if byte == _ESCAPE:
            self._at += 1
        return re.escape(bytes([self._taken()]))

    def _bracket(self) -> set[int]:
        """The bytes that a bracket expression matches."""
        self._at += 1
        is_negated = self._byte in b"!^"
        self._at += is_negated
        found: set[int] = set()
        before = 0  # what a range may begin with
        while True:
            before = self._member(found, before)
            if self._byte == _BRACKET_END:
                self._at += 1
                return (set(range(256)) - found if is_negated else found) - {_SLASH}

    def _member(self, found: set[int], before: int) -> int:
        """Add one member of a bracket expression; the byte that a range may begin with then, or 0."""
        byte = self._taken()
        if byte == _HYPHEN and before and self._byte not in (0, _BRACKET_END):
            found.update(range(before, self._escaped(self._taken()) + 1))
            return 0
        if byte == _BRACKET and self._byte == _COLON and (name := self._class_name()) is not None:
            if name not in _CLASSES:
                raise ValueError("no such class of characters")
            found |= _CLASSES[name]
            return 0
        literal = self._escaped(byte)
        found.add(literal)
        return literal

    def _class_name(self) -> bytes | None:
        """The name in `[:name:]`; None if it is no such thing, but members like any others."""
        end = self._pattern.find(b"]", self._at + 1)
        if end < 0:
            raise ValueError("a bracket has no end")
        if end - 1 <= self._at or self._pattern[end - 1] != _COLON:
            return None
        name = self._pattern[self._at + 1 : end - 1]
        self._at = end + 1
        return name

    def _escaped(self, byte: int) -> int:
        return self._taken() if byte == _ESCAPE else byte

    def _taken(self) -> int:
        byte = self._byte
        if not byte:
            raise ValueError("a bracket or an escape has no end")
        self._at += 1
        return byte

    @property
    def _byte(self) -> int:
        """The next one; 0 at the end, as in git."""
        return self._pattern[self._at] if self._at < len(self._pattern) else 0


def _one_of(members: set[int]) -> bytes:
    if not members:
        raise ValueError("a bracket matches nothing")
    return b"[%b]" % b"".join(rb"\x%02x" % member for member in sorted(members))
