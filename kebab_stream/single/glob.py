"""Path globs: `*` and `?` stay inside a folder, `**` does not; `[a-z]`, `[!a]`, `{a,b}`; anchored, case-sensitive.

Braces are expanded first. What is left has stars between parts of fixed width, and each part but the last may be taken
where it fits first: a later place would leave less to what follows. So each becomes an atomic group of the regular
expression, which keeps matching from trying every combination of places.
"""

import re
import unicodedata

from kebab_stream.errors import InvalidInputError

_MAX_EXPANDED = 20_000
"""Characters of all globs that the braces of one stand for."""

_CLASS = r"\[!?+.[^\]]*+\]"  # a `]` right after the opening is a member, as in every shell
_BRACES = re.compile(rf"{_CLASS}|[{{,}}\[]|[^{{,}}\[]+", re.DOTALL)
_TOKEN = re.compile(rf"(?<![^/])\*\*/|\*\*|{_CLASS}|.", re.DOTALL)

_DEEP = {"**": ".*?", "**/": "(?:[^/]*/)*?"}


def glob_pattern(glob: str) -> re.Pattern[str]:
    """The regular expression that matches whole document paths like this glob, in at most quadratic time.

    Raises:
        InvalidInputError: a `[` or `{` is never closed, or the braces stand for too much.
    """
    globs = _expanded(unicodedata.normalize("NFC", glob))
    return re.compile("|".join(map(_translated, globs)), re.DOTALL)


def _expanded(glob: str) -> list[str]:
    """The globs without braces that this one stands for."""
    opened: list[tuple[list[str], list[str]]] = []  # for each open brace, what `done` and `heads` were before it
    done: list[str] = []
    heads = [""]
    for piece in _BRACES.findall(glob):
        if piece == "[":
            raise _unclosed(glob, "[", "]")
        if piece == "{":
            opened.append((done, heads))
            done, heads = [], [""]
        elif piece == "," and opened:
            done, heads = done + heads, [""]
        elif piece == "}" and opened:
            tails = done + heads
            done, heads = opened.pop()
            heads = _joined(glob, heads, tails)
        else:
            heads = _joined(glob, heads, [piece])
    if opened:
        raise _unclosed(glob, "{", "}")
    return heads


def _joined(glob: str, heads: list[str], tails: list[str]) -> list[str]:
    """Every head followed by every tail."""
    size = len(heads) * len(tails) + sum(map(len, heads)) * len(tails) + sum(map(len, tails)) * len(heads)
    if size > _MAX_EXPANDED:
        raise InvalidInputError(
            f"path_glob {glob[:80]!r} is too long, or its braces stand for too many globs",
            "use a shorter glob",
            {"key": "path_glob", "value": glob[:80]},
        )
    return [head + tail for head in heads for tail in tails]


def _translated(glob: str) -> str:
    """A regular expression, anchored at the end, for a glob without braces."""
    blocks = [("", [""])]  # what a `**` skips, then the parts between single stars
    for token in _TOKEN.findall(glob):
        deep, parts = blocks[-1]
        if token in _DEEP:
            blocks.append((_DEEP[token], [""]))
        elif token == "*":
            parts.append("")
        else:
            parts[-1] += _one_character(token)
    *before, (deep, parts) = blocks
    groups = [f"(?>{skip}{_first_fit(some)})" for skip, some in before]
    last_star = f"[^/]*{parts.pop()}" if len(parts) > 1 else ""
    return "".join(groups) + deep + _first_fit(parts) + last_star + r"\Z"


def _first_fit(parts: list[str]) -> str:
    return parts[0] + "".join(f"(?>[^/]*?{part})" for part in parts[1:])


def _one_character(token: str) -> str:
    if token == "?":
        return "[^/]"
    return _character_class(token) if len(token) > 1 else re.escape(token)


def _character_class(token: str) -> str:
    negated = token.startswith("[!")
    members = _escaped_members(token[1 + negated : -1])
    if not members:
        return "[^/]" if negated else "(?!)"
    # Neither kind of class crosses a folder border.
    return f"(?!/)[{'^' if negated else ''}{members}]"


def _escaped_members(members: str) -> str:
    """The inside of a class with nothing special left but ranges; a range that runs backwards has no members."""
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
    return "".join(out)


def _unclosed(glob: str, opening: str, closing: str) -> InvalidInputError:
    return InvalidInputError(
        f"path_glob {glob[:80]!r}: `{opening}` is never closed",
        f"add `{closing}`, or write [{opening}] for the character itself",
        {"key": "path_glob", "value": glob[:80]},
    )
