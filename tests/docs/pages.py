"""Reads the examples of a documentation page: what a reader may type, and what is said to come out.

Two kinds of fence are examples:

- `console`: commands after `$ `, their further lines after `> `, then what they print on both streams;
- `sh` or `python` right after the comment `<!-- run -->`: a script as a whole; a `text` fence right after it is what
  it prints.

In what is printed, `…` stands for any characters of a line, and a line of nothing but `…` for any lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

RUN = "<!-- run -->"


@dataclass(frozen=True, slots=True)
class Example:
    """One thing to type, and what is said to come out."""

    line: int
    """Where it stands in the page, from 1."""
    language: str
    """`console`, `sh` or `python`."""
    source: str
    output: str | None
    """None where nothing is said about it."""

    @property
    def tells_status(self) -> bool:
        """Whether it shows the exit status of the example before it."""
        return self.source == "echo $?"


def examples(page: Path) -> list[Example]:
    """All examples of a page, in order."""
    tokens = [token for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")) if token.map]
    found: list[Example] = []
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.type == "fence" and token.info == "console":
            found += _commands(token)
        elif token.type == "fence" and before is not None and before.content.strip() == RUN:
            says = after is not None and after.type == "fence" and after.info == "text"
            found.append(
                Example(_first_line(token), token.info, token.content, after.content if says and after else None)
            )
    return found


def fences(page: Path) -> list[tuple[str, str]]:
    """(info, content) of every fence of a page."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    return [(token.info, token.content) for token in tokens if token.type == "fence"]


def matches(output: str, said: str) -> bool:
    """Whether an output is what a page says, `…` being anything."""
    lines = [_line_pattern(line.rstrip()) for line in said.splitlines()]
    shown = "".join(line.rstrip() + "\n" for line in output.splitlines())
    return re.fullmatch("".join(lines), shown) is not None


def _line_pattern(line: str) -> str:
    if line == "…":
        return r"(?:.*\n)*?"
    return ".*?".join(re.escape(part) for part in line.split("…")) + r"\n"


def _commands(fence: Token) -> Iterator[Example]:
    """The commands of a `console` fence, each with the lines up to the next."""
    source: list[str] = []
    output: list[str] = []
    started = 0
    for number, line in enumerate(fence.content.splitlines(), start=_first_line(fence)):
        if line.startswith("$ "):
            if source:
                yield Example(started, "console", "\n".join(source), "\n".join(output))
            source, output, started = [line[2:]], [], number
        elif line.startswith("> ") and not output:
            source.append(line[2:])
        else:
            output.append(line)
    if source:
        yield Example(started, "console", "\n".join(source), "\n".join(output))


def _first_line(fence: Token) -> int:
    assert fence.map is not None
    return fence.map[0] + 2
