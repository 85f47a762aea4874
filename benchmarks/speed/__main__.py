"""Measure start-up, latency, ingest and memory, and write benchmarks/RESULTS.md."""

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.speed.setup import parsed

OUTPUT = Path(__file__).resolve().parents[1] / "RESULTS.md"

SECTIONS: Mapping[str, Sequence[str]] = {
    "start_up": ["real"],
    "bulk": ["real"],
    "latency": ["small", "large"],
    "steps": ["small", "large"],
    "filters": ["small", "large"],
    "memory": ["small", "large"],
    "ingest": ["real", "small", "large"],
    "installed": [],
}
"""Modules with a function `measure`, and the indexes that each is given."""

IN_PROCESS = {"latency", "steps", "filters"}
"""Those that start no program."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Prepare, measure section by section, write the page.

    Each section has a process of its own, so that none finds the memory or the caches of another, and this one stays
    small: what it starts begins as a copy of it.
    """
    setup, options = parsed(arguments, list(SECTIONS), OUTPUT)
    chosen = options.only.split(",") if options.only else list(SECTIONS)
    started = perf_counter()
    setup.scratch.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(dir=setup.scratch, prefix="run-"))
    try:
        needed = list(dict.fromkeys(name for section in chosen for name in SECTIONS[section]))
        indexes = _apart("prepare", "prepare", setup, place, needed)
        sections = []
        for name in chosen:
            given = [indexes[index] for index in SECTIONS[name]]
            sections.append(_apart(name, "measure", setup, *([place] if given else []), *given))
        _apart("report", "write_page", sections, setup, options.output.resolve(), (perf_counter() - started) / 60)
    finally:
        shutil.rmtree(place)
    sys.stdout.write(f"{options.output}\n")


def _apart(module: str, function: str, *arguments: Any) -> Any:
    """What a function of one of our modules returns, called in a fresh process."""
    started = perf_counter()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = pool.submit(call, module, function, arguments).result()
    sys.stderr.write(f"{module}: {perf_counter() - started:.0f} s\n")
    return result


def call(module: str, function: str, arguments: Sequence[Any]) -> Any:
    """Call a function of one of our modules."""
    if module in IN_PROCESS:
        # The threads of NumPy's products go on spinning for a while, on the processors that the next one in turn needs.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    return getattr(importlib.import_module(f"benchmarks.speed.{module}"), function)(*arguments)


if __name__ == "__main__":
    main()
