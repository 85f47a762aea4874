"""Section: what filters cost that let half, a hundredth, or a ten-thousandth of the chunks through."""

from contextlib import closing
from pathlib import Path
from statistics import median

from benchmarks.speed.corpora import HALF, HUNDREDTH
from benchmarks.speed.figures import Section, Table, shown, times
from benchmarks.speed.latency import Corpus, opened
from benchmarks.speed.setup import Indexed, Setup
from benchmarks.speed.timing import interleaved, timed
from kebab_stream.index.store import Store
from kebab_stream.model import MODES, Filters
from kebab_stream.single.mask import allowed_chunks

NONE = "none"


def measure(setup: Setup, place: Path, small: Indexed, large: Indexed) -> Section:
    """A table for each size."""
    queries = setup.queries()
    return Section(
        "Filters",
        ["Whole searches, with all filters and modes in turn for each query; `path_glob`, which looks at every path."],
        tables=[_table(opened(one.data, queries), _few(one.data)) for one in (small, large)],
    )


def _few(data: Path) -> str:
    """The path of a document with about a ten-thousandth of 100,000 chunks: ten."""
    with closing(Store.open(data)) as store:
        counts = [(abs(count - 10), document.doc_path) for document, count in store.documents()]
    return min(counts)[1]


def _table(corpus: Corpus, few: str) -> Table:
    globs = {NONE: None, HALF: HALF, HUNDREDTH: HUNDREDTH, "one document": few}
    every = {
        f"{name} {mode}": timed(corpus.search(mode, Filters(path_glob=glob)))
        for name, glob in globs.items()
        for mode in MODES
    }
    found = {name: median(values) for name, values in interleaved(every, len(corpus.queries)).items()}
    rows = []
    for name, glob in globs.items():
        mask = allowed_chunks(corpus.engine.snapshot, Filters(path_glob=glob))
        cells = [(found[f"{name} {mode}"], found[f"{NONE} {mode}"]) for mode in MODES]
        share = 1.0 if mask is None else float(mask.mean())
        rows.append((name, f"{share:.3%}", *(f"{shown(one)}, {times(one / base)}" for one, base in cells)))
    heads = ("filter", "chunks let through", *(f"{mode}: p50 ms, to none" for mode in MODES))
    return Table(f"{corpus.n_chunks:,} chunks", heads, rows)
