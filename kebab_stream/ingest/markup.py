"""HTML source to tags and text, each with its place, in one pass whatever is written.

Own code, because no library gives all of this: html.parser knows the places, but takes seventy seconds for 400 kB of
`<!--` and reads broken pages in another way in each Python release; lxml, html5lib and selectolax do not say on which
line a text stands. Time here is linear, since a search that finds nothing once is never made again.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Literal, NamedTuple

_RAW = frozenset(("iframe", "noembed", "noframes", "script", "style", "xmp"))
"""Elements whose content is no markup."""
_BEGIN = re.compile(r"<(?:(!--)|(!\[CDATA\[)|([!?]|/(?![A-Za-z]))|(/?)([A-Za-z][^\s/>]*))")
_TAG_END = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>""")
"""A quotation mark counts only after `=`. Possessive throughout: what fails, fails at once."""
_COMMENT_END = re.compile("--!?>")
_ATTRIBUTE = re.compile(r"""([^\s=/>"']+)(?:\s*+=\s*+("[^"]*"|'[^']*'|[^\s>]+))?+""")
_ATTRIBUTES_CHARS = 4096


class Token(NamedTuple):
    """A tag or a piece of text."""

    kind: Literal["text", "start", "end"]
    value: str
    """The text as it is written, or the name of the element in lower case."""
    position: int
    """Where it begins: an index into the source."""
    attributes: str = ""
    """As they are written."""


def tokens(source: str) -> Iterator[Token]:
    """Take HTML apart. Comments, declarations and the content of scripts and styles are left out. Never raises."""
    return _Reader(source).tokens()


def attributes(source: str) -> dict[str, str]:
    """The attributes of a tag, of several with one name the first. At most 4,096 characters of them are looked at."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(source[:_ATTRIBUTES_CHARS]):
        value = match[2] or ""
        quoted = len(value) > 1 and value[0] in "\"'"
        found.setdefault(match[1].lower(), decoded(value[1:-1] if quoted else value))
    return found


def decoded(text: str) -> str:
    """The text with its character references replaced."""
    try:
        return unescape(text) if "&" in text else text
    except ValueError:  # a number of more than 4,300 digits
        return text


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.last_end = source.rfind(">")
        self.is_xml = source.startswith("<?xml")
        self.never_again: set[str] = set()
        """What was looked for and is not in the rest of the source."""

    def tokens(self) -> Iterator[Token]:
        place = text_start = 0
        while 0 <= (place := self.source.find("<", place)) < self.last_end:
            match = _BEGIN.match(self.source, place)
            if not match:
                place += 1
                continue
            if place > text_start:
                yield Token("text", self.source[text_start:place], text_start)
            if name := match[5]:
                end, tag = self._tag(match)
                yield tag
                if tag.kind == "start" and name.lower() in _RAW and not (self.is_xml and tag.attributes.endswith("/")):
                    end = self._after_raw(name, end)
            else:
                end = self._after_declaration(match)
                if match[2] and self.source.startswith("]]>", end - 3):
                    yield Token("text", self.source[match.end() : end - 3], match.end())
            place = text_start = end
        if text_start < len(self.source):
            yield Token("text", self.source[text_start:], text_start)

    def _tag(self, match: re.Match[str]) -> tuple[int, Token]:
        """Where a tag ends: at the first `>` outside of quotation marks, or at the first one if they are broken."""
        end = 0
        if "quotes" not in self.never_again:
            whole = _TAG_END.match(self.source, match.end())
            end = whole.end() if whole else 0
        if not end:
            self.never_again.add("quotes")
            end = self.source.index(">", match.end()) + 1
        kind: Literal["start", "end"] = "end" if match[4] else "start"
        return end, Token(kind, match[5].lower(), match.start(), self.source[match.end() : end - 1])

    def _after_raw(self, name: str, start: int) -> int:
        match = re.compile(rf"</{re.escape(name)}(?=[\s/>])", re.IGNORECASE).search(self.source, start)
        return match.start() if match else len(self.source)

    def _after_declaration(self, match: re.Match[str]) -> int:
        """Where a comment or declaration ends. One that never does is none: what it would hide is text."""
        if match[1] and "-->" not in self.never_again:
            if found := _COMMENT_END.search(self.source, match.end() - 2):
                return found.end()
            self.never_again.add("-->")
        elif match[2] and "]]>" not in self.never_again:
            if (place := self.source.find("]]>", match.end())) >= 0:
                return place + 3
            self.never_again.add("]]>")
        if match[1] or match[2]:
            return match.end()
        return self.source.index(">", match.start()) + 1
