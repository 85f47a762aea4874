"""`kebab eval`."""

import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.program import COMMAND, environment, kebab
from tests.cli.test_start_up import HEAVY, loaded
from tests.evaluate.sets import write_set
from tests.paths import SHARED
from tests.wire import checked

GOLDEN = """
- query: restore the wiki database
  expect: [en/backup-runbook.md]
- query: 김치찌개
  expect: [ko/kimchi-stew.md]
"""


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.yaml"
    path.write_text(GOLDEN, encoding="utf-8")
    return path


def test_people_get_a_table(fixture_data: Path, golden: Path) -> None:
    done = kebab("eval", str(golden), data_dir=fixture_data)

    text = done.out.decode()
    assert (done.status, done.err) == (0, b"")
    assert re.search(r"^golden: 2 queries, 26 documents, \d+ chunks \(static-koen-256\)$", text, re.M)
    assert re.search(r"^set +mode +ndcg@10 +recall@10 +recall@100 +mrr@10 +p50 ms +p90 ms +p99 ms$", text, re.M)
    assert re.search(r"^golden +lexical +1\.0000 +1\.0000 +1\.0000 +1\.0000 +\d", text, re.M)
    assert re.search(r"^golden +hybrid - lexical +[+-]\d\.\d{4} +[+-]", text, re.M)


def test_programs_get_a_report(fixture_data: Path, golden: Path) -> None:
    done = kebab("eval", str(golden), "--json", "--modes", "hybrid, lexical", "--k", "3", data_dir=fixture_data)

    (report,) = done.lines
    (one,) = report["sets"]
    assert (done.status, done.err, report["k"]) == (0, b"", 3)
    assert [mode["mode"] for mode in one["modes"]] == ["lexical", "hybrid"]
    assert one["settings"]["search.fusion"] == "convex"
    assert one["results"][1]["answers"][0]["top"][0]["id"] == "ko/kimchi-stew.md"


def test_a_set_is_evaluated_without_an_index(tmp_path: Path) -> None:
    done = kebab("eval", str(write_set(tmp_path / "set")), "--modes", "lexical", data_dir=tmp_path / "data")

    assert done.status == 0
    assert done.err.decode() == "warning: set: 1 queries left out, because nothing is judged relevant to them\n"
    assert not (tmp_path / "data").exists()


def test_the_config_file_is_honoured(fixture_data: Path, golden: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(f'[storage]\ndata_dir = "{fixture_data}"\n[search]\nfusion = "rrf"\n')

    done = kebab("eval", "--config", str(config), str(golden), "--json")

    assert (done.status, done.lines[0]["sets"][0]["settings"]["search.fusion"]) == (0, "rrf")


def test_runs_are_kept_compared_and_shown(fixture_data: Path, golden: Path, tmp_path: Path) -> None:
    before, after, html = (tmp_path / name for name in ("before.json", "after.json", "quality.html"))
    rrf = {"KEBAB_SEARCH_FUSION": "rrf"}
    kebab("eval", str(golden), "--save", str(before), data_dir=fixture_data)
    kebab("eval", str(golden), "--save", str(after), data_dir=fixture_data, extra=rrf)
    checked(before.read_bytes())

    done = kebab("eval", str(after), "--compare", str(before), "--html", str(html), data_dir=tmp_path / "none")

    assert done.status == 0
    assert re.search(rf"^golden +hybrid, here - {re.escape(str(before))} +[+-]\d", done.out.decode(), re.M)
    assert "Compared with" in html.read_text(encoding="utf-8")


def test_options_that_a_saved_report_cannot_have_are_told(fixture_data: Path, golden: Path, tmp_path: Path) -> None:
    saved = str(tmp_path / "saved.json")
    kebab("eval", str(golden), "--save", saved, "--k", "5", data_dir=fixture_data)

    done = kebab("eval", saved, "--k", "3", "--modes", "lexical", "--json", data_dir=tmp_path / "none")

    (warning,) = done.err.splitlines()
    assert b'"ignored_option"' in warning
    assert b"--modes and --k ignored for saved reports" in warning


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no SET given"),
        (["absent"], "absent does not exist"),
        (["SET", "--modes", "fuzzy"], "mode: expected lexical, vector or hybrid"),
        (["SET", "--modes", ","], "--modes: no mode given"),
        (["SET", "--k", "0"], "--k: expected a whole number from 1 to 1000, got 0"),
        (["SET", "--html", "."], ". is a folder"),
        (["SET", "--save", "none/r.json"], "none/r.json is in a folder that does not exist"),
        (["SET", "--compare", "absent.json"], "absent.json does not exist"),
        (["SET", "SET", "--modes", "lexical"], "two sets are named s"),
    ],
)
def test_bad_arguments_are_invalid_input(tmp_path: Path, arguments: list[str], told: str) -> None:
    folder = write_set(tmp_path / "s")
    given = [str(folder) if argument == "SET" else argument for argument in arguments]

    done = kebab("eval", "--json", "--quiet", *given, data_dir=tmp_path / "data", cwd=tmp_path)

    assert (done.status, done.out, done.error["code"]) == (2, b"", "invalid_input")
    assert told in done.error["message"]


def test_a_broken_line_is_named_before_anything_is_asked(tmp_path: Path, golden: Path) -> None:
    folder = write_set(tmp_path / "s", qrels="q1 0 pan 1\nq2\n")

    done = kebab("eval", "--json", str(golden), str(folder), data_dir=tmp_path / "data")

    assert (done.status, done.error["code"]) == (2, "invalid_input")
    assert done.error["details"] == {"path": str(folder / "qrels.tsv"), "line": 2}


def test_a_golden_file_needs_an_index(tmp_path: Path, golden: Path) -> None:
    assert kebab("eval", "--json", str(golden), data_dir=tmp_path / "data").error["code"] == "not_indexed"


def test_a_page_that_cannot_be_written_is_io_error(fixture_data: Path, golden: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = kebab("eval", "--json", str(golden), "--html", "/dev/full", data_dir=fixture_data)

    assert (done.status, done.error["code"]) == (2, "io_error")


def test_progress_is_shown_to_people_who_watch(fixture_data: Path, golden: Path) -> None:
    master, slave = pty.openpty()
    command = [*COMMAND, "eval", str(golden), "--modes", "lexical"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=slave, env=environment(fixture_data, {"TERM": "xterm"})
    ) as process:
        os.close(slave)
        assert b"golden: lexical" in read_terminal(master)
    os.close(master)
    assert process.returncode == 0


def read_terminal(descriptor: int) -> bytes:
    printed = b""
    while True:
        try:
            printed += os.read(descriptor, 4096)
        except OSError:  # the other side is closed
            return printed


def test_the_reference_is_reached_on_a_real_set(tmp_path: Path) -> None:
    folder = SHARED / "data" / "retrieval" / "belebele-ko"
    if not folder.exists():
        pytest.skip("the shared data sets are not here")

    done = kebab("eval", "--json", str(folder), "--modes", "lexical", data_dir=tmp_path / "data")

    (mode,) = done.lines[0]["sets"][0]["modes"]
    assert mode["metrics"]["ndcg@10"] >= 0.884 - 0.01  # what bm25s reaches with the same terms


def test_what_is_expected_but_not_there_is_named(fixture_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "golden.yaml"
    path.write_text("- {query: backup, expect: [glossary.md, e.md, d.md, c.md, b.md]}\n")

    people = kebab("eval", str(path), "--modes", "lexical", data_dir=fixture_data)
    program = kebab("eval", str(path), "--modes", "lexical", "--json", data_dir=fixture_data)

    told = "golden: 4 expected, but not in the index (b.md, c.md, d.md and 1 more)"
    assert people.err.decode() == f"warning: {told}\n"
    assert checked(program.err) == {"schema_version": "warning.v1", "code": "absent_targets", "message": told}


def test_help_needs_no_library(tmp_path: Path) -> None:
    modules, _ = loaded("eval", "--help", data_dir=tmp_path)

    assert not modules & HEAVY


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = SHARED / "data" / "retrieval" / "scifact"
    if not folder.exists():
        pytest.skip("the shared data sets are not here")
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    command = [*COMMAND, "eval", str(folder), "--modes", "lexical"]
    settings = environment(tmp_path / "data", {"TMPDIR": str(scratch)})
    with subprocess.Popen(command, env=settings, stderr=subprocess.PIPE, text=True) as process:
        while not any(scratch.iterdir()):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()

    assert process.returncode == 130
    assert told == "warning: interrupted: there is no report\n"
    assert list(scratch.iterdir()) == []
