"""The command line of the benchmark of speed."""

import sys
from pathlib import Path

import pytest

from benchmarks.speed.setup import parsed


@pytest.mark.parametrize("absent", ["--corpora", "--queries"])
def test_data_that_are_not_there_are_told_in_a_line(
    tmp_path: Path, absent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.md").write_text("text")
    (tmp_path / "queries").write_text('{"query": "a"}')
    given = {"--corpora": str(tmp_path), "--queries": str(tmp_path / "queries")} | {absent: str(tmp_path / "none")}
    arguments = [part for pair in given.items() for part in pair]

    with pytest.raises(SystemExit):
        parsed(["--kebab", sys.executable, *arguments], ["start_up"], tmp_path / "RESULTS.md")

    assert f"none; {absent} " in capsys.readouterr().err.splitlines()[-1]
