"""`kebab completion`: the scripts, and what they complete in a real shell."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kebab_stream.cli.app import COMMANDS
from tests.cli.program import environment, kebab
from tests.cli.test_start_up import HEAVY

_TRY = """
source kebab.bash
compopt() { echo "files"; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_kebab_completion kebab
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a command `kebab`, and the script for bash."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "kebab").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kebab_stream "$@"\n')
    (folder / "kebab").chmod(0o755)
    (folder / "kebab.bash").write_bytes(kebab("completion", "bash").out)
    return folder


def path_with(program: Path) -> dict[str, str]:
    return environment(None, {"PATH": f"{program}{os.pathsep}{os.environ['PATH']}"})


def in_bash(program: Path, *words: str) -> list[str]:
    """What bash completes the last word to."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    done = subprocess.run(
        ["bash", "--norc", "-c", _TRY, "bash", *words],
        cwd=program,
        env=path_with(program),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode().split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["kebab", "sea"], ["search"]),
        (["kebab", "--json", "doc"], ["doctor"]),
        (["kebab", ""], list(COMMANDS)),
        (["kebab", "search", "--snip"], ["--snippet-chars"]),
        (["kebab", "search", "--mode", ""], ["lexical", "vector", "hybrid"]),
        (["kebab", "search", "x", "--mode", "=", "v"], ["vector"]),
        (["kebab", "search", "--trust-min", "p"], ["primary"]),
        (["kebab", "search", "--media", "mark"], ["markdown"]),
        (["kebab", "config", "mi"], ["migrate"]),
        (["kebab", "completion", ""], ["bash", "zsh", "fish"]),
        (["kebab", "ingest", ""], ["files"]),
        (["kebab", "--config", ""], ["files"]),
        (["kebab", "nonsense", "--x"], []),
    ],
)
def test_bash_completes(program: Path, words: list[str], expected: list[str]) -> None:
    assert in_bash(program, *words) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_script(program: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = kebab("completion", shell).out

    done = subprocess.run(
        [shell, "--no-execute"], input=script, env=path_with(program), capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("shell", "words", "current", "expected"),
    [
        ("zsh", "kebab search --mode l", "3", "plain\nlexical\n_\n"),
        ("zsh", "kebab doc", "1", f"plain\ndoctor\n{COMMANDS['doctor']}\n"),
        ("fish", "kebab doc", "doc", f"plain,doctor\t{COMMANDS['doctor']}\n"),
        ("fish", "kebab search --mode=l", "--mode=l", "plain,lexical\n"),
    ],
)
def test_their_scripts_get_what_they_ask_for(shell: str, words: str, current: str, expected: str) -> None:
    asked = {"_KEBAB_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": current}

    done = kebab(extra=asked)

    assert (done.status, done.out.decode(), done.err) == (0, expected, b"")


def test_a_script_as_json() -> None:
    (plain, in_json) = (kebab("completion", "zsh"), kebab("completion", "zsh", "--json"))

    assert in_json.lines[0]["script"] == plain.out.decode()
    assert plain.out.startswith(b"#compdef kebab\n")


def test_an_unknown_shell_is_refused() -> None:
    done = kebab("completion", "tcsh", "--json")

    assert (done.status, done.error["code"]) == (2, "invalid_input")


def test_only_a_script_is_answered() -> None:
    done = kebab(extra={"_KEBAB_COMPLETE": "bash_complete"})

    assert (done.status, done.out) == (2, b"")
    assert b"[invalid_input]" in done.err


def test_a_word_number_that_is_none_is_told() -> None:
    done = kebab(extra={"_KEBAB_COMPLETE": "bash_complete", "COMP_WORDS": "kebab se", "COMP_CWORD": "x"})

    assert (done.status, done.out) == (2, b"")
    assert b'[invalid_input] COMP_CWORD: expected the number of a word in COMP_WORDS, got "x"' in done.err


def test_completing_imports_the_command_concerned_and_nothing_heavy() -> None:
    probe = (
        "import json, os, sys\nfrom kebab_stream.cli.main import run\nrun([])\nsys.stdout.flush()\n"
        "os.write(2, json.dumps(sorted(sys.modules)).encode())"
    )
    asked = {"_KEBAB_COMPLETE": "bash_complete", "COMP_WORDS": "kebab search --m", "COMP_CWORD": "2"}

    done = subprocess.run([sys.executable, "-c", probe], env=environment(None, asked), capture_output=True, check=True)

    modules = json.loads(done.stderr)
    assert b"plain,--mode\n" in done.stdout
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert [name for name in ("search", "ingest", "doctor", "config") if f"kebab_stream.cli.{name}" in modules] == [
        "search"
    ]
