"""The page of the speed: verdicts, tables, plots."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks.speed.figures import Section, Shares, Table, Target, p90, ratio
from benchmarks.speed.report import write_page
from benchmarks.speed.setup import Setup


def test_a_target_is_met_up_to_its_limit() -> None:
    assert ratio("a to b", 2, [1, 4, 100], [2, 2, 1]).is_met is True
    assert ratio("a to b", 1.9, [4], [2]).is_met is False
    assert ratio("a to b", 2, [4], None).is_met is None
    assert Target("rate", 800, 800, at_least=True).is_met is True
    assert Target("rate", 800, 799, at_least=True).is_met is False


def test_the_margin_of_a_target_is_how_many_times_better_it_is() -> None:
    assert Target("time", 2, 0.5).margin == pytest.approx(4)
    assert Target("rate", 100, 50, at_least=True).margin == pytest.approx(0.5)


def test_nine_in_ten_do_not_exceed_p90() -> None:
    assert p90(list(range(1, 11))) == 9
    assert p90([5.0]) == 5.0


def test_the_page_has_every_verdict_and_its_plots_stand_alone(tmp_path: Path) -> None:
    setup = Setup(
        kebab=Path("kebab"), qmd=None, semble=None, corpora=Path(), queries_file=Path(), scratch=Path(), quick=True
    )
    section = Section(
        "Start-up",
        ["A note."],
        [Target("one <fast> thing", 2, 1.0), Target("slow", 2, 3.0), Target("absent", 2, None)],
        [Table("Sizes", ("a", "b"), [("1", "2")])],
        [Shares("start", "Share", [("row", [("lexical", 0.5), ("hybrid", 1.0)])])],
    )

    write_page([section], setup, tmp_path / "RESULTS.md", minutes=3)

    page = (tmp_path / "RESULTS.md").read_text()
    assert [verdict for verdict in ("| met |", "| **not met** |", "| not measured |") if verdict not in page] == []
    assert "### Sizes\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n" in page
    for name in ("targets", "start"):
        assert f"(plots/{name}.svg)" in page
        root = ET.parse(tmp_path / "plots" / f"{name}.svg").getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert (root.findtext("{http://www.w3.org/2000/svg}style") or "").count(".lexical")
