"""Start-up is a feature: which modules each command may load, and that a single search has no event loop."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import environment

HEAVY = {
    "fastembed",
    "onnxruntime",
    "usearch",
    "tokenizers",
    "numpy",
    "pydantic",
    "rich",
    "markdown_it",
    "mcp",
    "httpx",
    "httpx2",
}

_PROBE = """
import json, os, sys
from kebab_stream.cli.main import run
status = run(sys.argv[1:])
sys.stdout.flush()
loops = [name for name in ("asyncio.runners", "anyio._backends._asyncio") if name in sys.modules]
os.write(2, json.dumps({"status": status, "modules": sorted(sys.modules), "loops": loops}).encode())
"""


def loaded(*arguments: str, data_dir: Path) -> tuple[set[str], list[str]]:
    """(top-level modules, event loop modules) that a successful command line loads."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, *arguments], capture_output=True, env=environment(data_dir), check=True
    )
    told = json.loads(done.stderr)
    assert told["status"] == 0
    return {name.partition(".")[0] for name in told["modules"]}, told["loops"]


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["search", "--help"], set()),
        (["ingest", "--help"], set()),
        (["search", "coffee", "--mode", "lexical", "--json"], {"numpy"}),
        (["search", "coffee", "--mode", "lexical"], {"numpy"}),
        (["search", "coffee", "--mode", "lexical", "--per-doc", "1"], {"numpy"}),
        (["search", "coffee", "--json"], {"numpy"}),
        (["fetch", "--help"], set()),
        (["list", "--help"], set()),
        (["inspect", "--help"], set()),
        (["fetch", "doc", "ko/kimchi-stew.md", "--json"], {"numpy"}),
        (["fetch", "span", "ko/kimchi-stew.md#L1-L3"], {"numpy"}),
        (["list"], {"numpy"}),
        (["list", "tags", "--json", "--lang", "ko"], {"numpy"}),
        (["inspect", "ko/kimchi-stew.md"], {"numpy"}),
        (
            ["search", "coffee", "--mode", "vector", "--json", "--tag", "x", "--max-tokens", "500"],
            {"numpy"},
        ),
    ],
)
def test_a_command_loads_no_more_than_it_needs(fixture_data: Path, arguments: list[str], allowed: set[str]) -> None:
    modules, loops = loaded(*arguments, data_dir=fixture_data)

    assert modules & HEAVY <= allowed
    assert loops == []


def test_an_ingest_that_finds_nothing_new_loads_no_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Coffee\n")
    first, _ = loaded("ingest", str(tmp_path / "notes"), data_dir=tmp_path / "data")
    second, _ = loaded("ingest", data_dir=tmp_path / "data")

    assert "tokenizers" in first
    assert "tokenizers" not in second


def test_a_search_does_not_make_the_classes_of_other_commands(fixture_data: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, "search", "coffee", "--json"],
        capture_output=True,
        env=environment(fixture_data),
        check=True,
    )

    assert not [name for name in json.loads(done.stderr)["modules"] if name.startswith("kebab_stream.reports")]


_INTERRUPTED_AT = """
import os, signal, sys
module = sys.argv[1]
def interrupt(event, arguments):
    if event == "import" and arguments[0] == module:
        os.kill(os.getpid(), signal.SIGINT)
sys.argv[1:] = ["list"]
from kebab_stream.__main__ import main
sys.addaudithook(interrupt)
main()
"""


@pytest.mark.parametrize("module", ["kebab_stream.cli.main", "asyncclick", "kebab_stream.cli.filters", "numpy"])
def test_ctrl_c_is_quiet_whatever_is_being_imported(fixture_data: Path, module: str) -> None:
    command = [sys.executable, "-c", _INTERRUPTED_AT, module]
    done = subprocess.run(command, capture_output=True, env=environment(fixture_data), check=False)

    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
