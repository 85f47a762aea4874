"""Section: private memory of a process that searches, and of ingest."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.speed.corpora import write_bulk
from benchmarks.speed.figures import Section, Table, Target, shown
from benchmarks.speed.memory_of import PRINT_PRIVATE
from benchmarks.speed.setup import Indexed, Setup
from benchmarks.speed.synthetic import synthetic_index, synthetic_queries
from benchmarks.speed.timing import Command, interleaved, run

SEARCHER = (
    """
import json, os, sys
from kebab_stream import Engine, SearchQuery, load_config
from kebab_stream.render import to_json
engine = Engine.open(load_config(None, environ=os.environ))
for line in sys.stdin:
    value = json.loads(line)
    to_json(engine.search_with_opts(SearchQuery(query=value["query"], mode=value["mode"])))
"""
    + PRINT_PRIVATE
)
LOOK_UPS = (
    """
import json, sys
from functools import partial
from pathlib import Path
from kebab_stream.index.lexical import LexicalIndex
from kebab_stream.index.ranking import rounded, top
index = LexicalIndex.open(Path(sys.argv[1]))
for terms in json.loads(sys.argv[2]):
    scores, _ = index.scores(terms)
    top(rounded(scores), 10, scores > 0)
"""
    + PRINT_PRIVATE
)
IMPORTS = "import numpy, pydantic"
LIMIT_MIB = 100

Memory = tuple[float, float]
"""MiB without and with the pages of mapped files."""


def measure(setup: Setup, place: Path, small: Indexed, large: Indexed) -> Section:
    """Processes take turns; the ingests are those that made the indexes of this run, one each."""
    every = interleaved(_contestants(setup, place, small, large), setup.few_rounds)
    own = {name: median(own for own, _ in values) for name, values in every.items()}
    both = {name: median(both for _, both in values) for name, values in every.items()}
    above = {name: value - own[IMPORTS] for name, value in own.items()}
    rows = [(name, shown(own[name]), shown(above[name]), shown(both[name])) for name in every]
    for one in (small, large):
        peak = one.private_mib
        rows.append((f"ingest of {one.chunks:,} chunks, its peak", shown(peak), shown(peak - own[IMPORTS]), ""))
    name = _name("hybrid", large)
    claim = f"private memory of a search process at {large.chunks:,} chunks, hybrid, above the bare imports"
    return Section(
        "Memory",
        [
            f"What processes have for themselves (`Private_Dirty`), all of one command together; medians of"
            f" {setup.few_rounds}, of ingest one run. A search process answers the queries one after the other."
            f" Bare imports: `{IMPORTS}`.",
            "The last column adds pages of mapped files that no other process has mapped at that moment"
            " (`Private_Clean`): the system takes them back when it needs them.",
        ],
        [
            Target(f"{claim}, beside mapped files", LIMIT_MIB, above[name], unit="MiB"),
            Target(f"{claim}, with mapped files", LIMIT_MIB, both[name] - both[IMPORTS], unit="MiB"),
        ],
        [Table("", ("process", "MiB", "above the imports", "with mapped files"), rows)],
    )


def _contestants(
    setup: Setup, place: Path, small: Indexed, large: Indexed
) -> dict[str, Callable[[int], tuple[float, float]]]:
    every = {IMPORTS: Command(argv=[setup.python, "-c", IMPORTS + PRINT_PRIVATE])}
    queries = setup.queries()
    for one in (small, large):
        for mode in ("lexical", "hybrid"):
            file = write_bulk(queries, mode, place / f"memory-{mode}.ndjson")
            environment = {"KEBAB_STORAGE_DATA_DIR": str(one.data), "HOME": str(setup.scratch / "home")}
            every[_name(mode, one)] = Command(argv=[setup.python, "-c", SEARCHER], env=environment, stdin=file)
    most = setup.synthetic_sizes[-1]
    terms = str(synthetic_queries(len(queries))).replace("'", '"')
    every[f"lexical look-ups, {most:,} synthetic chunks"] = Command(
        argv=[setup.python, "-c", LOOK_UPS, synthetic_index(most, place), terms]
    )
    return {name: partial(_private_mib, command) for name, command in every.items()}


def _private_mib(command: Command, number: int) -> Memory:
    own, both = run(command).output.split()
    return int(own) / 1024, int(both) / 1024


def _name(mode: str, one: Indexed) -> str:
    return f"search, {mode}, {one.chunks:,} chunks"
