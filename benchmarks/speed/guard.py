"""Counts that stand for speed and do not depend on the machine: none may grow by more than a fifth unnoticed.

    python -m benchmarks.speed.guard             # compare with guard.json; exit status 1 if something grew
    python -m benchmarks.speed.guard --update    # what is counted now is right

Calls are those of our functions, and those that our functions make into C: libraries may do inside what they like.
Modules are those beside the standard library. Python 3.11 and 3.13 differ by less than 2 % in all of this; only peaks
of memory are compared on the version of guard.json alone.
"""

import argparse
import json
import re
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

import kebab_stream
from benchmarks.speed.timing import Command, run
from kebab_stream.config import Config, Storage
from kebab_stream.engine import Engine
from kebab_stream.ingest import ingest_files
from kebab_stream.model import MODES, Mode, SearchQuery
from kebab_stream.render import to_json

ROOT = Path(__file__).resolve().parents[2]
BASELINE = Path(__file__).with_name("guard.json")
TOLERANCE = 1.2

OF_ONE_PYTHON = "peak"
"""First word of what is compared on one version of Python only."""

_PACKAGE = str(Path(kebab_stream.__file__).parent)
_INLINED = ("<listcomp>", "<dictcomp>", "<setcomp>")
"""Functions in Python 3.11, none in later versions."""
_IMPORTED = re.compile(rb"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, and compare or write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.guard", description=__doc__.partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="write guard.json anew")
    options = parser.parse_args(arguments)
    measured = counts()
    if options.update:
        BASELINE.write_text(json.dumps({"python": this_python(), "counts": measured}, indent=1) + "\n")
        return
    baseline = json.loads(BASELINE.read_text())
    found = regressions(measured, baseline["counts"], same_python=baseline["python"] == this_python())
    for name, count in measured.items():
        sys.stdout.write(f"{name}: {count:,}, was {baseline['counts'].get(name, 'not counted')}\n")
    if found:
        raise SystemExit("\n".join([*found, "if it has to be: python -m benchmarks.speed.guard --update"]))


def this_python() -> str:
    """The minor version."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def regressions(measured: Mapping[str, int], baseline: Mapping[str, int], *, same_python: bool) -> list[str]:
    """A line for each count that grew by more than a fifth, or is not in both."""
    missing = [f"{name}: not in both" for name in sorted(measured.keys() ^ baseline.keys())]
    compared = [name for name in measured if name in baseline and (same_python or not name.startswith(OF_ONE_PYTHON))]
    return missing + [
        f"{name}: {measured[name]:,}, which is {measured[name] / baseline[name] - 1:.0%} more than {baseline[name]:,}"
        for name in compared
        if measured[name] > baseline[name] * TOLERANCE
    ]


def counts() -> dict[str, int]:
    """Everything that is watched, on the fixture corpus."""
    with tempfile.TemporaryDirectory() as place:
        warm, data, again = (Path(place, name) for name in ("warm", "data", "again"))
        _ingest(warm)  # loads what is loaded once
        found = {"calls of an ingest": calls_of(lambda: _ingest(data))}
        found["peak of an ingest, KiB"] = peak_of(lambda: _ingest(again)) >> 10
        with Engine.open(_config(data)) as engine:
            manifest = engine.snapshot.generation.manifest
            size = sum(size for size, _ in manifest.files.values())
            found["bytes of the index a chunk"] = size // manifest.n_chunks
            for mode in MODES:
                _search_all(engine, mode)
                found[f"calls of {mode} searches"] = calls_of(partial(_search_all, engine, mode))
            found["peak of hybrid searches, KiB"] = peak_of(lambda: _search_all(engine, "hybrid")) >> 10
        return found | _modules(data)


def _config(data: Path) -> Config:
    return Config(storage=Storage(data_dir=data))


def _ingest(data: Path) -> None:
    files = sorted((ROOT / "fixtures" / "corpus" / "en").glob("*.md"))
    files += sorted((ROOT / "fixtures" / "corpus" / "ko").glob("*.md"))
    ingest_files(_config(data), files)


def _queries() -> list[str]:
    lines = (ROOT / "fixtures" / "queries.ndjson").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines]


def _search_all(engine: Engine, mode: Mode) -> None:
    for query in _queries():
        to_json(engine.search_with_opts(SearchQuery(query=query, mode=mode)))


def calls_of(work: Callable[[], object]) -> int:
    """How many calls of our functions, and from our functions into C, some work in this thread makes."""
    total = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal total
        code = frame.f_code
        if event == "c_call" or (event == "call" and code.co_name not in _INLINED):
            total += code.co_filename.startswith(_PACKAGE)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return total


def peak_of(work: Callable[[], object]) -> int:
    """The bytes that some work has allocated at its peak."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _modules(data: Path) -> dict[str, int]:
    """Modules that whole commands import."""
    query = ("--json", "--", "restore the wiki database")
    commands = {
        "kebab --version": ("--version",),
        "a lexical search": ("search", "--mode", "lexical", *query),
        "a hybrid search": ("search", *query),
        "a bulk search": ("search", "--bulk", "--json"),
    }
    return {f"modules of {name}": modules_of(arguments, data) for name, arguments in commands.items()}


def modules_of(arguments: Sequence[str], data: Path) -> int:
    """Modules beside the standard library that a command imports, and the interpreter alone does not."""
    queries = ROOT / "fixtures" / "queries.ndjson"
    env = {"KEBAB_STORAGE_DATA_DIR": str(data), "HOME": str(data), "PYTHONPATH": str(ROOT)}

    def imported(*command: str) -> set[str]:
        argv = [sys.executable, "-X", "importtime", *command]
        errors = run(Command(argv=argv, env=env, stdin=queries)).errors
        return {name.decode() for name in _IMPORTED.findall(errors)}

    names = imported("-m", "kebab_stream", *arguments) - imported("-c", "pass")
    return sum(name.partition(".")[0] not in sys.stdlib_module_names for name in names)


if __name__ == "__main__":
    main()
