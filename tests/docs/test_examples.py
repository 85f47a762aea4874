"""What the documentation says one can type, works, and prints what it says."""

import re
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.docs.pages import Example, examples, matches
from tests.docs.session import Ran, session
from tests.paths import ROOT

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
"""README.ko.md has the same examples as README.md, which another test sees to."""

Sessions = Mapping[Path, Future[list[Ran]]]


@pytest.fixture(scope="module")
def sessions(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sessions]:
    """What the examples of each selected page do, two pages at a time: they mostly wait for programs to start."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    selected = [Path(str(item.callspec.params["page"])) for item in items if "sessions" in item.fixturenames]
    with ThreadPoolExecutor(2) as pool:
        yield {page: pool.submit(session, examples(page), tmp_path_factory.mktemp("session")) for page in selected}


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_the_examples_of_a_page_print_what_it_says(page: Path, sessions: Sessions) -> None:
    shown = examples(page)
    if shutil.which("jq") is None and any(re.search(r"\bjq\b", example.source) for example in shown):
        pytest.skip("jq is not installed")

    problems = [
        f"{page.name}:{example.line}: {example.source}\n{problem}"
        for example, did, following in zip_longest(shown, sessions[page].result(), shown[1:])
        if (problem := problem_of(example, did, following))
    ]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def problem_of(example: Example, did: Ran | None, following: Example | None) -> str | None:
    """What is wrong with an example. One that fails must be followed by `echo $?`, which tells its status."""
    if did is None:
        return "the session ended before it"
    if did.status != 0 and not (following is not None and following.tells_status):
        return f"ended with status {did.status}:\n{did.output}"
    if example.output is not None and not matches(did.output, example.output):
        return f"printed:\n{did.output}"
    return None


def test_a_wildcard_stands_for_characters_of_one_line() -> None:
    assert matches("score 0.81\n", "score …")
    assert not matches("score 0.81\nmore\n", "score …")


def test_a_line_with_a_wildcard_only_stands_for_lines() -> None:
    assert matches("a\nb\nc\nd\n", "a\n…\nd")
    assert matches("a\nd\n", "a\n…\nd")
    assert not matches("a\nb\n", "a\n…\nd")


def test_a_console_example_has_its_command_and_its_output(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# P\n\n```console\n$ one\n$ two \\\n> three\nout\n> out\n```\n", encoding="utf-8")

    assert [(found.line, found.source, found.output) for found in examples(page)] == [
        (4, "one", ""),
        (5, "two \\\nthree", "out\n> out"),
    ]


def test_a_script_is_an_example_only_where_it_is_marked(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nmake\n```\n\n<!-- run -->\n```sh\nls\n```\n\n```text\na\n```\n", encoding="utf-8")

    assert [(found.source, found.output) for found in examples(page)] == [("ls\n", "a\n")]


def test_a_session_keeps_its_variables_and_its_status(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ export A=7\n$ echo $A; (exit 3)\n$ echo $?\n```\n", encoding="utf-8")
    folder = tmp_path / "session"
    folder.mkdir()

    assert [(did.output, did.status) for did in session(examples(page), folder)] == [("", 0), ("7\n", 3), ("3\n", 0)]


def test_a_script_stops_at_its_first_failure(tmp_path: Path) -> None:
    script = Example(1, "sh", "echo one\nfalse\necho two\n", None)

    assert session([script, script], tmp_path) == [Ran("one\n", 1)]
