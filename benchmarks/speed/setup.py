"""What one run of the benchmark is done with: programs, folders, sizes."""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.speed.timing import Command

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything that sections need to know."""

    kebab: Path
    qmd: Path | None
    semble: Path | None
    corpora: Path
    queries_file: Path
    scratch: Path
    quick: bool

    @property
    def files(self) -> int:
        """Files of the folder that all programs get."""
        return 100 if self.quick else 1_000

    @property
    def sizes(self) -> tuple[int, int]:
        """Chunks of the multiplied folders."""
        return (1_000, 3_000) if self.quick else (10_000, 100_000)

    @property
    def synthetic_sizes(self) -> tuple[int, int]:
        """Chunks of the synthetic lexical indexes."""
        return (5_000, 50_000) if self.quick else (100_000, 1_000_000)

    @property
    def rounds(self) -> int:
        """How often what takes below a second is measured."""
        return 3 if self.quick else 20

    @property
    def few_rounds(self) -> int:
        """How often what takes seconds is measured."""
        return 2 if self.quick else 10

    @property
    def python(self) -> Path:
        """The interpreter that `kebab` was installed for, or ours if none is beside it."""
        beside = self.kebab.parent / "python"
        return beside if beside.exists() else Path(sys.executable)

    @property
    def n_queries(self) -> int:
        """Queries that are asked."""
        return 20 if self.quick else 100

    def queries(self, count: int | None = None) -> list[str]:
        """The first queries of the file."""
        with self.queries_file.open(encoding="utf-8") as lines:
            return [json.loads(line)["query"] for line in islice(lines, count or self.n_queries)]

    def kebab_command(self, *arguments: str | Path, data: Path, stdin: Path | None = None) -> Command:
        """Our program, with a data folder and without the settings of whoever runs this."""
        env = {"KEBAB_STORAGE_DATA_DIR": str(data), "HOME": str(self.scratch / "home")}
        return Command(argv=[self.kebab, *arguments], env=env, stdin=stdin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """A folder that our program has indexed."""

    folder: Path
    data: Path
    files: int
    chunks: int
    windows: int
    seconds: float
    private_mib: float
    """Peak of what the processes of the ingest had for themselves."""


def parsed(arguments: Sequence[str] | None, sections: Sequence[str], output: Path) -> tuple[Setup, argparse.Namespace]:
    """The command line: what to measure with, and the options as they were given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds, to try it out")
    parser.add_argument("--only", metavar="SECTIONS", help=f"some of {','.join(sections)}")
    parser.add_argument("--output", type=Path, default=output, help="the page; its plots go into plots/ beside it")
    parser.add_argument("--scratch", type=Path, help="folder for corpora, kept for the next run")
    parser.add_argument("--kebab", type=_program, default="kebab", help="an installed kebab")
    parser.add_argument("--qmd", type=_program, default=_found("qmd"), help="npm @tobilu/qmd; `node` has to be in PATH")
    parser.add_argument("--semble", type=_program, default=_found("semble"), help="PyPI semble")
    parser.add_argument("--corpora", type=Path, default=SHARED / "corpora", help="folder of Markdown files")
    parser.add_argument("--queries", type=Path, default=SHARED / "data" / "queries" / "replay-20k.ndjson")
    options = parser.parse_args(arguments)
    if options.scratch is None:
        options.scratch = Path.home() / ".cache" / "kebab-stream-benchmarks"
    unknown = set(options.only.split(",")) - set(sections) if options.only else ()
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(sections)}")
    if not any(options.corpora.rglob("*.md")):
        parser.error(f"no Markdown files in {options.corpora}; --corpora FOLDER names a folder that has some")
    if not options.queries.is_file():
        parser.error(f"no file {options.queries}; --queries FILE names one with a line of JSON for each query")
    setup = Setup(
        kebab=options.kebab,
        qmd=options.qmd,
        semble=options.semble,
        corpora=options.corpora,
        queries_file=options.queries,
        scratch=options.scratch.resolve(),
        quick=options.quick,
    )
    return setup, options


def _program(name: str) -> Path:
    found = _found(name)
    if found is None:
        raise argparse.ArgumentTypeError(f"{name} is no program")
    return found


def _found(name: str) -> Path | None:
    """A program by its path, or its name beside our interpreter or in PATH; not resolved, for a venv is its folder."""
    beside = Path(sys.executable).parent / name
    if "/" not in name and beside.exists():
        return beside
    found = shutil.which(name)
    return Path(found).absolute() if found else None
