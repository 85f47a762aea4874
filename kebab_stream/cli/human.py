"""A search response for people: two lines a hit, nothing raw from a document, terms emphasised on a terminal."""

import os
import re
import shutil
from dataclasses import dataclass

from kebab_stream.analyser import terms
from kebab_stream.model import CodeCitation, PageCitation, SearchHit, SearchResponse
from kebab_stream.render import printable

_WORD = re.compile(r"\w+")
_INDENT = "    "
_BOLD, _DIM, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Style:
    """How a response looks."""

    emphasis: bool = False
    """Whether escape sequences may be written."""
    columns: int | None = None
    """Width to wrap snippets to; None leaves each on one line, for programs."""

    @classmethod
    def for_stdout(cls) -> "Style":
        """Wrapped and with emphasis on a terminal, unless NO_COLOR asks for none."""
        if not os.isatty(1):
            return cls()
        return cls(
            emphasis=not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
            columns=shutil.get_terminal_size().columns,
        )


def response_text(
    response: SearchResponse, query: str, style: Style = Style(), *, several_sources: bool = False
) -> str:
    """All hits, each a location line and an indented snippet line; the empty text when there are none.

    Where the index, or what was found, is of several sources, places are `SOURCE/path`, which fetch and remove take.
    """
    wanted = frozenset(terms(query)) if style.emphasis else frozenset[str]()
    with_source = several_sources or len({hit.source_id for hit in response.hits}) > 1
    return "".join(_hit_text(hit, wanted, style, with_source=with_source) for hit in response.hits)


def notes_text(response: SearchResponse, *, quiet: bool) -> str:
    """What stderr says of a response, a line each: nothing found, advice, what a budget cut."""
    notes = []
    if not response.hits:
        notes.append("no hits")
    if response.hint and not quiet:
        notes.append(printable(f"hint: {response.hint}"))
    if response.truncated and response.next_cursor is None:
        notes.append("[truncated; raise --max-tokens to see more]")
    elif response.truncated:
        notes.append(f"[truncated; use --cursor {response.next_cursor} for the next page]")
    if response.trace:
        times = response.trace.timing
        notes.append(
            f"trace: lexical {times.lexical_ms:.1f} ms, vector {times.vector_ms:.1f} ms,"
            f" fusion {times.fusion_ms:.1f} ms, all {times.total_ms:.1f} ms; the whole of it with --json"
        )
    return "\n".join(notes)


def _hit_text(hit: SearchHit, wanted: frozenset[str], style: Style, *, with_source: bool) -> str:
    path = f"{hit.source_id}/{hit.doc_path}" if with_source else hit.doc_path
    place = printable(f"{path}{_lines(hit)}")
    headings = printable(" > ".join(hit.heading_path))
    head = f"{hit.rank}. {hit.score:.4f}  {_painted(place, _BOLD, style)}"
    if headings:
        head += f"  {_painted(headings, _DIM, style)}"
    snippet = _emphasised(printable(" ".join(hit.snippet.split())), wanted)
    return f"{head}\n{_indented(snippet, style)}\n"


def _indented(snippet: str, style: Style) -> str:
    if style.columns is None:
        return _INDENT + snippet
    import wcwidth  # late: only where somebody is watching

    room = max(20, style.columns - len(_INDENT))
    return "\n".join(_INDENT + line for line in wcwidth.wrap(snippet, room))


def _lines(hit: SearchHit) -> str:
    citation = hit.citation
    if isinstance(citation, PageCitation):
        return f" p.{citation.page}"
    if isinstance(citation, CodeCitation):
        start, end = citation.line_start, citation.line_end
    else:
        start, end = citation.start, citation.end
    return f":{start}" if start == end else f":{start}-{end}"


def _emphasised(text: str, wanted: frozenset[str]) -> str:
    if not wanted:
        return text
    return _WORD.sub(
        lambda word: f"{_BOLD}{word.group()}{_RESET}" if wanted.intersection(terms(word.group())) else word.group(),
        text,
    )


def _painted(text: str, code: str, style: Style) -> str:
    return f"{code}{text}{_RESET}" if style.emphasis else text
