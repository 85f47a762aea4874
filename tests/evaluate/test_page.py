"""The page: what is on it, that nothing on it is taken for markup, and how a real browser shows it."""

import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kebab_stream.evaluate import page, report_of
from kebab_stream.evaluate.plots import differences, distributions, dots
from kebab_stream.reports.quality import EvalReport
from tests.evaluate.sets import QUERIES, config_at, evaluated, lines, write_set

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_VOID = {"meta", "br"}
SCORES = st.lists(st.floats(-1, 1e6), max_size=30)
_HOSTILE = "</title><script>alert(1)</script><img src=x onerror='alert(2)'>\"&\u202e 검색"


class Tags(HTMLParser):
    """Counts the elements, and fails where they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.texts: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> EvalReport:
    """Two sets in all modes, one with a query that is markup, compared with another run."""
    folder = tmp_path_factory.mktemp("page")
    config = config_at(folder / "data", vectors=True)
    plain = evaluated(write_set(folder / "plain"), config)
    queries = lines({**QUERIES, "q1": _HOSTILE})
    hostile = evaluated(write_set(folder / "<b>hostile", queries=queries, qrels="q1 0 tea 1\nq2 0 pan 1\n"), config)
    before = report_of([plain], k=10)
    return report_of([plain, hostile], k=10, other=before, other_run="<i>before.json")


def test_every_set_has_its_plots(report: EvalReport) -> None:
    seen = page(report).count

    assert [seen(f'class="plot {kind}"') for kind in ("dots", "differences", "distributions")] == [4, 4, 6]
    assert seen("Modes compared") == seen("Compared with") == 1


def test_nothing_is_markup_but_ours(report: EvalReport) -> None:
    tags = Tags(page(report))

    assert not {"script", "img", "b>hostile", "i", "link", "iframe"} & set(tags.seen)
    assert not any(name.startswith("on") for name in tags.attributes)
    assert any("alert(1)" in text for text in tags.texts)
    assert "\u202e" not in page(report)
    assert "\\u202e" in page(report)


def test_it_asks_the_network_for_nothing(report: EvalReport) -> None:
    text = page(report)

    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import", text)
    assert not {"src", "href", "srcset", "data", "action"} & Tags(text).attributes


def test_one_set_opens_its_worst_queries(report: EvalReport) -> None:
    alone = page(report_of(report.sets[1:], k=10))

    assert "<details open>" in alone
    assert "first right hit: lexical" in alone
    assert "<details open>" not in page(report)


def test_what_was_left_out_is_told(report: EvalReport) -> None:
    odd = replace(report.sets[0], unjudged=7, unknown_queries=8, absent_targets=9)

    text = page(report_of([odd], k=10))

    assert all(told in text for told in ("7 queries left out", "8 judged queries", "9 expected, but not"))


@given(st.lists(st.tuples(st.text(max_size=8), st.floats(-1, 1)), max_size=12))
def test_every_difference_has_a_bar_and_equals_have_none(values: list[tuple[str, float]]) -> None:
    text = differences("x", values)
    different = sum(value != 0 for _, value in values)

    assert Tags(text).seen.count("rect") == different
    assert f"{len(values) - different} same" in text


@example([], [2e-05])
@given(SCORES, SCORES)
def test_every_score_is_in_a_histogram(right: list[float], wrong: list[float]) -> None:
    counts = {"right": 0, "wrong": 0}
    for count, kind in re.findall(r": (\d+) (right|wrong)</title>", distributions("x", right, wrong)):
        counts[kind] += int(count)

    assert counts == {"right": len(right), "wrong": len(wrong)}


def test_a_set_without_a_measure_has_an_empty_row() -> None:
    assert Tags(dots("x", [("a", []), ("b", [("hybrid", 0.5)])])).seen.count("rect") == 1


def browser() -> str:
    for name in _BROWSERS:
        if found := shutil.which(name):
            return found
    pytest.skip(f"no browser: none of {', '.join(_BROWSERS)} is installed")


def run_browser(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # No sandbox: in a container there is none to be had; the page is ours.
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr")
    return subprocess.run(
        [browser(), *options, f"--user-data-dir={folder / 'profile'}", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def console(log: str) -> Sequence[str]:
    """What a page logged to the browser's console."""
    return [line for line in log.splitlines() if ":CONSOLE" in line]


def test_a_real_browser_shows_the_plots_without_a_complaint(report: EvalReport, tmp_path: Path) -> None:
    file = tmp_path / "quality.html"
    file.write_text(page(report), encoding="utf-8")

    done = run_browser(tmp_path, "--dump-dom", file.as_uri())
    shot = run_browser(
        tmp_path, "--hide-scrollbars", "--window-size=900,1800", f"--screenshot={tmp_path / 'shot.png'}", file.as_uri()
    )

    assert [done.stdout.count(f'class="plot {kind}"') for kind in ("dots", "differences", "distributions")] == [4, 4, 6]
    assert "<script" not in done.stdout
    assert console(done.stderr) == console(shot.stderr) == []
    data = (tmp_path / "shot.png").read_bytes()
    assert struct.unpack(">II", data[16:24]) == (900, 1800)
    assert len(data) > 20_000, "an empty page compresses to less"


def test_the_browser_would_complain_of_what_the_policy_forbids(report: EvalReport, tmp_path: Path) -> None:
    file = tmp_path / "quality.html"
    file.write_text(page(report).replace("<main>", "<script>1</script><main>"), encoding="utf-8")

    assert console(run_browser(tmp_path, "--dump-dom", file.as_uri()).stderr)


def test_modes_that_are_equal_do_not_hide_each_other() -> None:
    same = dots("x", [("set", [("lexical", 0.5), ("vector", 0.9), ("hybrid", 0.5)])])

    (circle,) = re.findall(r'cy="([0-9.]+)" r="6"', same)
    (square,) = re.findall(r'y="([0-9.]+)" width="12"', same)
    assert abs(float(circle) - (float(square) + 6)) >= 8


def test_terms_are_explained_and_ties_are_said_not_to_be_drawn(report: EvalReport) -> None:
    assert "The first right hit of a query is" in page(report)
    assert "not drawn" in differences("x", [("a", 0.0), ("b", 1.0)])
    assert "not drawn" not in differences("x", [("b", 1.0)])
