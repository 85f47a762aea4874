"""Runs the real command line in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.wire import checked

COMMAND = (sys.executable, "-m", "kebab_stream")


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run left behind."""

    status: int
    out: bytes
    err: bytes

    @property
    def lines(self) -> list[Any]:
        """Stdout as JSON lines, each checked against its schema."""
        assert not self.out or self.out.endswith(b"\n")
        return [checked(line) for line in self.out.split(b"\n")[:-1]]

    @property
    def error(self) -> Any:
        """Stderr as the one JSON line of an error."""
        (line,) = self.err.splitlines()
        value = checked(line)
        assert value["schema_version"] == "error.v1"
        return value


def environment(data_dir: Path | None, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a run, with this data folder."""
    given = {} if data_dir is None else {"KEBAB_STORAGE_DATA_DIR": str(data_dir)}
    return {**os.environ, **given, **(extra or {})}


def kebab(
    *arguments: str | bytes,
    data_dir: Path | None = None,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Finished:
    """Run `kebab` with these arguments to its end."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        env=environment(data_dir, extra),
        cwd=cwd,
        timeout=60,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)
