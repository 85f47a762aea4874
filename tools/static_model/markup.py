"""Plain text out of Markdown, reStructuredText, HTML and notebooks."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HANGUL: Final = re.compile("[가-힣]")
SUFFIXES: Final = (".md", ".mdx", ".ipynb", ".markdown")

_INLINE: Final = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?s)<!--.*?-->", " "),
        (r"(?s)\{\{[<%].*?[>%]\}\}|\{%.*?%\}|\{#[^}]*\}", " "),  # Hugo, Jinja, heading anchors
        (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),
        (r"\[([^\]]*)\]\[[^\]]*\]", r"\1"),
        (r":[\w:]+:`[~!]?([^`<]*)(<[^>]*>)?`", r"\1"),  # reStructuredText roles
        (r"</?[a-zA-Z][^>]*>", " "),
        (r"(?m)^\s*[>\-*+|]+\s*|^\s*:::.*$|^\s*\d+\.\s+", ""),
        (r"https?://\S+", " "),
    )
]
_FRONT_MATTER: Final = re.compile(r"\ufeff?---\s*\n(.*?)\n---\s*\n", re.DOTALL)
_TITLE: Final = re.compile(r"^title:\s*[\"']?(.*?)[\"']?\s*$", re.MULTILINE)
_FENCE: Final = re.compile(r"\s*(```+|~~~+)")
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*)")
_BETWEEN_PARAGRAPHS: Final = re.compile(r"\n\s*\n|\n(?=\s*[-*+] )")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the paragraphs up to the next one, marks removed; level 1 to 6."""

    level: int
    heading: str
    paragraphs: tuple[str, ...]

    @property
    def body(self) -> str:
        return " ".join(self.paragraphs)


def read(path: Path) -> str:
    """The text of a file; bytes that are no UTF-8 are left out."""
    return path.read_text(encoding="utf-8", errors="ignore")


def clean(text: str) -> str:
    """The text without inline marks, on one line."""
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    if re.search("[`*|]", text):
        text = re.sub(r"[*_`|#]+", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def sections(path: Path) -> list[Section]:
    """The sections of a Markdown file or notebook, code blocks dropped; the first holds the page title."""
    title, text = _without_front_matter(_markdown(path))
    blocks: list[tuple[int, str, list[str]]] = [(1, title, [])]
    for line in _outside_fences(text.split("\n")):
        if heading := _HEADING.match(line):
            blocks.append((len(heading[1]), heading[2], []))
        else:
            blocks[-1][2].append(line)
    found = [Section(level, clean(heading), _paragraphs(lines)) for level, heading, lines in blocks]
    empty_start = not found[0].heading and not found[0].paragraphs
    return found[1:] if empty_start and len(found) > 1 else found


def _markdown(path: Path) -> str:
    text = read(path)
    if path.suffix != ".ipynb":
        return text
    try:
        cells = json.loads(text)["cells"]
    except ValueError:  # a few public notebooks are cut short
        return ""
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def _without_front_matter(text: str) -> tuple[str, str]:
    front = _FRONT_MATTER.match(text)
    if not front:
        return "", text
    title = _TITLE.search(front[1])
    return title[1] if title else "", text[front.end() :]


def _outside_fences(lines: Iterable[str]) -> Iterator[str]:
    """The lines of prose; each line that opens or closes a code block becomes a blank one, which parts paragraphs."""
    fence = None
    for line in lines:
        mark = _FENCE.match(line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = mark[1] if fence is None else None
            yield ""
        elif fence is None:
            yield line


def _paragraphs(lines: Iterable[str]) -> tuple[str, ...]:
    cleaned = (clean(part) for part in _BETWEEN_PARAGRAPHS.split("\n".join(lines)))
    return tuple(paragraph for paragraph in cleaned if len(paragraph) > 1)
