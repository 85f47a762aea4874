"""What a person sees: two lines a hit, emphasis on a terminal, nothing raw from a document."""

import os
import pty
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kebab_stream.cli.human import Style, notes_text, response_text
from kebab_stream.engine import Engine
from kebab_stream.model import SearchOpts, SearchQuery, SearchResponse
from tests.cli.program import COMMAND, environment
from tests.corpora import config_of

TERMINAL = Style(emphasis=True, columns=40)


@pytest.fixture
def response(fixture_data: Path) -> SearchResponse:
    with Engine.open(config_of(fixture_data)) as engine:
        return engine.search_with_opts(SearchQuery(query="커피 추출", k=2))


def on_a_terminal(data_dir: Path, *arguments: str, extra: dict[str, str] | None = None) -> str:
    """What a run prints on a terminal of 50 columns."""
    master, slave = pty.openpty()
    settings = {"COLUMNS": "50", "TERM": "xterm", "NO_COLOR": "", **(extra or {})}
    with subprocess.Popen([*COMMAND, *arguments], stdout=slave, env=environment(data_dir, settings)) as process:
        os.close(slave)
        printed = b""
        while chunk := _read(master):
            printed += chunk
    os.close(master)
    assert process.returncode == 0
    return printed.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # the other side is closed
        return b""


def test_programs_get_two_lines_a_hit_without_escapes(response: SearchResponse) -> None:
    text = response_text(response, "커피 추출")

    assert re.fullmatch(r"(\d+\. \d\.\d{4}  \S+:\d+-\d+  [^\n]+\n    [^\n]+\n){2}", text)


def test_a_terminal_gets_emphasis_and_wrapped_snippets(response: SearchResponse) -> None:
    import wcwidth

    text = response_text(response, "커피 추출", TERMINAL)
    snippets = [line for line in text.splitlines() if line.startswith("    ")]

    assert "\x1b[1m커피" in text
    assert len(snippets) > 2
    assert all(wcwidth.width(line) <= 40 for line in snippets)  # Hangul takes two columns


def test_control_characters_of_documents_are_made_visible(response: SearchResponse) -> None:
    hit = replace(
        response.hits[0],
        doc_path="a\x1b]0;title\x07b\n.md",
        heading_path=("x\x9b31m", "\u202egnirts"),
        snippet="one\x1b[2Jtwo\u2028\r\nthree\x00",
    )
    text = response_text(replace(response, hits=(hit,)), "two", TERMINAL)
    plain = text.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", plain)
    assert "\\x1b]0;title\\x07" in plain


def test_notes_tell_what_was_cut_and_quiet_only_hides_advice(response: SearchResponse) -> None:
    cut = replace(response, truncated=True, hint="advice")

    assert notes_text(replace(cut, next_cursor="abc"), quiet=False).splitlines() == [
        "hint: advice",
        "[truncated; use --cursor abc for the next page]",
    ]
    assert notes_text(replace(cut, next_cursor=None), quiet=True) == "[truncated; raise --max-tokens to see more]"
    assert notes_text(replace(response, hits=()), quiet=True) == "no hits"


def test_a_trace_is_told_in_a_line(fixture_data: Path) -> None:
    with Engine.open(config_of(fixture_data)) as engine:
        traced = engine.search_with_opts(SearchQuery(query="coffee"), SearchOpts(trace=True))

    assert notes_text(traced, quiet=False).startswith("trace: lexical ")


def test_on_a_real_terminal_words_are_bold_unless_no_color_is_set(fixture_data: Path) -> None:
    colored = on_a_terminal(fixture_data, "search", "coffee grind", "--k", "1")
    plain = on_a_terminal(fixture_data, "search", "coffee grind", "--k", "1", extra={"NO_COLOR": "1"})
    dumb = on_a_terminal(fixture_data, "search", "coffee grind", "--k", "1", extra={"TERM": "dumb"})

    assert "\x1b[1m" in colored
    assert "\x1b" not in plain + dumb
    assert re.sub("\x1b\\[[0-9]*m", "", colored) == plain
