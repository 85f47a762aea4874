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
from tests.cli.program import COMMAND, environment, kebab
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


def test_hits_of_several_sources_are_named_with_their_source(response: SearchResponse) -> None:
    first, second = response.hits
    several = replace(response, hits=(first, replace(second, source_id="other")))

    places = re.findall(r"^\d+\. \S+  (\S+):\d", response_text(several, "커피 추출"), re.M)

    assert places == [f"{first.source_id}/{first.doc_path}", f"other/{second.doc_path}"]


def test_with_several_sources_in_the_index_a_single_hit_is_named_with_its_own(tmp_path: Path) -> None:
    for source in ("one", "two"):
        (tmp_path / source).mkdir()
        (tmp_path / source / "a.md").write_text(f"kettle {source}")
    data, extra = tmp_path / "data", {"KEBAB_MODELS_EMBEDDING_PROVIDER": "none"}
    kebab("ingest", str(tmp_path / "one"), str(tmp_path / "two"), data_dir=data, extra=extra)

    single = kebab("search", "kettle two", "--k", "1", data_dir=data, extra=extra)
    bulk = kebab("search", "--bulk", stdin=b'{"query":"kettle two","k":1}', data_dir=data, extra=extra)

    assert b"  two/a.md:1\n" in single.out
    assert bulk.out == single.out


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
