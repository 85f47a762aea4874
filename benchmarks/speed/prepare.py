"""The folders and the indexes that the sections of one run share, and what making them took."""

import json
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Literal

from benchmarks.speed.corpora import multiplied_folder, real_folder
from benchmarks.speed.memory_of import Watch
from benchmarks.speed.setup import Indexed, Setup
from benchmarks.speed.timing import run

Name = Literal["real", "small", "large"]


def prepare(setup: Setup, place: Path, names: list[Name]) -> Mapping[Name, Indexed]:
    """Index the folders that are asked for; the indexes are made anew in `place`, the folders are kept for next time.

    An index of another version of the program would not be the one that is measured.
    """
    return {name: indexed(setup, _folder(setup, name), place / f"data-{name}") for name in names}


def _folder(setup: Setup, name: Name) -> Path:
    corpora = setup.scratch / "corpora"
    if name == "real":
        return real_folder(setup.corpora, setup.files, corpora / f"docs-{setup.files}")
    chunks = setup.sizes[name == "large"]
    return multiplied_folder(setup.corpora, setup.files, chunks, corpora / f"multiplied-{chunks}")


def indexed(setup: Setup, folder: Path, data: Path) -> Indexed:
    """Ingest a folder with our program, and watch its memory."""
    command = setup.kebab_command("ingest", "--json", folder, data=data)
    started = perf_counter()
    with Watch() as watch:
        ran = run(command)
    report = json.loads(ran.output)
    return Indexed(
        folder=folder,
        data=data,
        files=report["documents"],
        chunks=report["chunks"],
        windows=report["windows"],
        seconds=perf_counter() - started,
        private_mib=watch.peak_mib,
    )
