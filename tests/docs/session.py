"""Runs the examples of a page as one shell session, in a folder of their own."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import Example
from tests.paths import FIXTURES, ROOT

_LAST_LINE = '_status=$?; printf \'\\036%s\\036\\n\' "$_status"; (exit "$_status")\n'
"""Ends an example: tells its exit status between two record separators, and leaves it in `$?`."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What an example printed on both streams, and how it ended."""

    output: str
    status: int


def session(examples: Sequence[Example], folder: Path) -> list[Ran]:
    """Run examples one after the other in one shell.

    The current folder has a copy of `fixtures`; `~/notes` is a copy of the corpus; `kebab` and `python` are this
    interpreter's. A script stops at its first failing command, and the session with it.
    """
    script = folder / "session.sh"
    script.write_text("".join(_as_shell(example) + _LAST_LINE for example in examples), encoding="utf-8")
    work = _new_folder(folder / "work")
    shutil.copytree(FIXTURES, work / "fixtures")
    shutil.copytree(FIXTURES / "corpus", _new_folder(folder / "home") / "notes")
    done = subprocess.run(
        ["bash", str(script)],
        cwd=work,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=100,
        check=False,
    )
    parts = re.split("\x1e([0-9]+)\x1e\n", done.stdout.decode("utf-8"))
    ran = [Ran(output, int(status)) for output, status in zip(parts[::2], parts[1::2], strict=False)]
    return ran if done.returncode == 0 or len(ran) == len(examples) else [*ran, Ran(parts[-1], done.returncode)]


def _as_shell(example: Example) -> str:
    if example.language == "python":
        return f"python - <<'END OF EXAMPLE'\n{example.source.rstrip()}\nEND OF EXAMPLE\n"
    if example.language == "sh":
        return f"set -e\n{example.source.rstrip()}\nset +e\n"
    return example.source.rstrip() + "\n"


def _environment(folder: Path) -> dict[str, str]:
    commands = _new_folder(folder / "bin")
    for name, module in (("kebab", " -m kebab_stream"), ("python", "")):
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return {
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder / "home"),
        "TMPDIR": str(_new_folder(folder / "tmp")),
        "LC_ALL": "C.UTF-8",
    }


def _new_folder(path: Path) -> Path:
    path.mkdir()
    return path
