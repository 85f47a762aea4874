"""Section: where the time of a search goes."""

import importlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

from benchmarks.speed.corpora import HALF
from benchmarks.speed.figures import Section, Shares, Table, shown
from benchmarks.speed.latency import Corpus, opened
from benchmarks.speed.setup import Indexed, Setup
from kebab_stream.model import Filters, Mode, SearchQuery
from kebab_stream.render import to_json
from kebab_stream.single.retrieve import Ranking

MODULE = "kebab_stream.single.search"
STEPS = {
    "allowed_chunks": "filter",
    "retrieve": "ranking",
    "hits_of": "rows of the store",
    "term_weights": "snippets",
    "snippet_of": "snippets",
    "missing_words_hint": "hints",
    "filter_hint": "hints",
    "fit": "page and budget",
}
"""Functions that `search` calls, and the step that each belongs to."""
LEXICAL, VECTOR, FUSION, JSON, REST = "lexical look-up", "vector look-up", "fusion", "JSON", "the rest"
ORDER = (LEXICAL, VECTOR, FUSION, "filter", *dict.fromkeys(list(STEPS.values())[2:]), JSON, REST)

KINDS: dict[str, tuple[Mode, Filters]] = {
    "lexical": ("lexical", Filters()),
    "hybrid": ("hybrid", Filters()),
    f"hybrid, {HALF}": ("hybrid", Filters(path_glob=HALF)),
}


def measure(setup: Setup, place: Path, small: Indexed, large: Indexed) -> Section:
    """A table and a plot for each size."""
    tables, plots = [], []
    for name, one in (("small", small), ("large", large)):
        corpus = opened(one.data, setup.queries())
        found = {kind: steps_of(corpus, *wanted) for kind, wanted in KINDS.items()}
        tables.append(_table(corpus.n_chunks, found))
        plots.append(_plot(name, corpus.n_chunks, found))
    return Section(
        "Where the time goes",
        ["Means over the queries, in ms. The vector look-up includes the embedding of the query."],
        tables=tables,
        plots=plots,
    )


def steps_of(corpus: Corpus, mode: Mode, filters: Filters) -> dict[str, float]:
    """Mean milliseconds of each step."""
    every: defaultdict[str, list[float]] = defaultdict(list)
    with _watched() as spent:
        for query in corpus.queries * 2:  # the first time through warms
            spent.clear()
            started = perf_counter()
            response = corpus.engine.search_with_opts(SearchQuery(query=query, mode=mode, filters=filters))
            answered = perf_counter()
            to_json(response)
            spent[JSON] = (perf_counter() - answered) * 1000
            spent[REST] = (answered - started) * 1000 - sum(spent[step] for step in ORDER if step not in (JSON, REST))
            for step in ORDER:
                every[step].append(spent[step])
    return {step: mean(values[len(corpus.queries) :]) for step, values in every.items()}


@contextmanager
def _watched() -> Iterator[defaultdict[str, float]]:
    """Milliseconds spent in each step, while the functions of `search` are exchanged with ones that take the time."""
    spent: defaultdict[str, float] = defaultdict(float)
    module = importlib.import_module(MODULE)
    originals = {name: getattr(module, name) for name in STEPS}
    for name, original in originals.items():
        setattr(module, name, _taking_time(original, STEPS[name], spent))
    try:
        yield spent
    finally:
        for name, original in originals.items():
            setattr(module, name, original)


def _taking_time(original: Callable[..., Any], step: str, spent: defaultdict[str, float]) -> Callable[..., Any]:
    def function(*arguments: Any, **named: Any) -> Any:
        started = perf_counter()
        result = original(*arguments, **named)
        milliseconds = (perf_counter() - started) * 1000
        if isinstance(result, Ranking):
            lexical = result.lexical.milliseconds if result.lexical else 0.0
            vector = result.vector.milliseconds if result.vector else 0.0
            spent[LEXICAL] += lexical
            spent[VECTOR] += vector
            spent[FUSION] += milliseconds - lexical - vector
        else:
            spent[step] += milliseconds
        return result

    return function


def _table(n_chunks: int, found: dict[str, dict[str, float]]) -> Table:
    rows = [(step, *(shown(steps[step]) for steps in found.values())) for step in ORDER]
    rows.append(("together", *(shown(sum(steps.values())) for steps in found.values())))
    return Table(f"{n_chunks:,} chunks", ("step", *found), rows)


def _plot(name: str, n_chunks: int, found: dict[str, dict[str, float]]) -> Shares:
    modes: tuple[Mode, ...] = ("lexical", "hybrid")
    rows = [
        (step, [(mode, max(found[mode][step], 0.0) / sum(found[mode].values())) for mode in modes]) for step in ORDER
    ]
    return Shares(f"steps-{name}", f"Share of a search at {n_chunks:,} chunks", rows)
