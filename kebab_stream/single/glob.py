"""Path globs: `*` and `?` stay inside a folder, `**` does not; `[a-z]`, `[!a]`, `{a,b}`; anchored, case-sensitive."""

import re
import unicodedata

from kebab_stream.errors import InvalidInputError


def glob_pattern(glob: str) -> re.Pattern[str]:
    """The regular expression that matches whole document paths like this glob.

    Raises:
        InvalidInputError: a `[` or `{` is never closed.
    """
    return re.compile(_translate(unicodedata.normalize("NFC", glob)), re.DOTALL)


def _translate(glob: str) -> str:
    parts: list[str] = []
    place = depth = 0
    while place < len(glob):
        piece, place = _next_piece(glob, place, depth)
        depth += (piece == "(?:") - (piece == ")")
        parts.append(piece)
    if depth:
        raise _unclosed(glob, "{")
    return "".join(parts) + r"\Z"


def _next_piece(glob: str, place: int, depth: int) -> tuple[str, int]:
    """The regular expression of what stands at `place`, and where the next piece begins."""
    if glob.startswith("**/", place) and (place == 0 or glob[place - 1] == "/"):
        return "(?:.*/)?", place + 3
    if glob.startswith("**", place):
        return ".*", place + 2
    char = glob[place]
    simple = {"*": "[^/]*", "?": "[^/]", "{": "(?:"}
    if depth:
        simple |= {",": "|", "}": ")"}
    if char in simple:
        return simple[char], place + 1
    if char == "[":
        return _character_class(glob, place)
    return re.escape(char), place + 1


def _character_class(glob: str, place: int) -> tuple[str, int]:
    # A `]` right after the opening is a member, as in every shell.
    negated = glob.startswith("!", place + 1)
    first = place + 1 + negated
    end = glob.find("]", first + 1)
    if end < 0:
        raise _unclosed(glob, "[")
    members = _escape_members(glob[first:end])
    # Neither kind of class crosses a folder border.
    return (f"(?!/)[{'^' if negated else ''}{members}]", end + 1)


def _escape_members(members: str) -> str:
    """The inside of a class with nothing special left but ranges; a range that runs backwards matches nothing."""
    out: list[str] = []
    place = 0
    while place < len(members):
        low = members[place]
        if members[place + 1 : place + 2] == "-" and place + 2 < len(members):
            high = members[place + 2]
            if low <= high:
                out.append(f"{re.escape(low)}-{re.escape(high)}")
            place += 3
        else:
            out.append(re.escape(low))
            place += 1
    return "".join(out) or "^\x00-\U0010ffff"


def _unclosed(glob: str, bracket: str) -> InvalidInputError:
    closing = {"[": "]", "{": "}"}[bracket]
    return InvalidInputError(
        f"path_glob {glob[:80]!r}: `{bracket}` is never closed",
        f"add `{closing}`, or write [{bracket}] for the character itself",
        {"key": "path_glob", "value": glob[:80]},
    )
