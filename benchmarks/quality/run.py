"""The quality of the search on every set, beside that of bm25s with the same terms of the same chunks.

    python benchmarks/quality/run.py                                 # all sets, and RESULTS.md anew
    python benchmarks/quality/run.py scifact vue-en2ko               # some, only shown
    KEBAB_SEARCH_FUSION_WEIGHT=0.3 python benchmarks/quality/run.py belebele-ko --save w30.json
    kebab eval w30.json --compare w25.json --html quality.html       # what that changed, query by query

Settings are the defaults and what `KEBAB_` variables say. The sets are those of ../shared/data/retrieval, and those
that `built.py` makes of them and of ../shared/corpora.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import bm25s
import numpy as np
from built import builders

from kebab_stream.analyser import query_terms, terms
from kebab_stream.config import load_config
from kebab_stream.evaluate import evaluate, page, read_set, report_of
from kebab_stream.evaluate.beir import entries
from kebab_stream.evaluate.corpus import SOURCE, indexed_corpus, path_of
from kebab_stream.evaluate.judged import JudgedSet
from kebab_stream.evaluate.metrics import DEEP, measure
from kebab_stream.evaluate.report import values_of
from kebab_stream.evaluate.significance import compare
from kebab_stream.ingest.identity import doc_id_of
from kebab_stream.model import MODES, DocId, Mode
from kebab_stream.render import to_json
from kebab_stream.reports.quality import EvalSet

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"
RESULTS = HERE / "RESULTS.md"

K = 10
METRIC = f"ndcg@{K}"
REFERENCE = "bm25s"
"""Documents where their best chunk is, as in our search."""
WHOLE = "bm25s, whole"
"""Each document as one text."""
K1, B = 1.5, 0.75

Results = Mapping[str, Mapping[str, float]]
"""Measures by mode, those of bm25s among them."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluate, print a table, and write what is asked for."""
    options = parsed(arguments)
    with tempfile.TemporaryDirectory(prefix="kebab-quality-") as place:
        folders = {name: folder_of(name, Path(place)) for name in options.sets or all_sets()}
        work = partial(one_set, modes=options.modes.split(","))
        if options.jobs > 1:
            with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
                done = list(pool.map(work, folders.values()))
        else:
            done = [work(folder) for folder in folders.values()]
    sets = [result for result, _ in done]
    report = report_of(sets, k=K)
    if options.save:
        options.save.write_bytes(to_json(report) + b"\n")
    if options.html:
        options.html.write_text(page(report), encoding="utf-8")
    text = document(sets, dict(zip(folders, (references for _, references in done), strict=True)))
    sys.stdout.write(text)
    if not options.sets:
        RESULTS.write_text(text, encoding="utf-8")


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"by default all: {', '.join(all_sets())}")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--jobs", type=int, default=1, help="processes; with several, the times are longer")
    parser.add_argument("--save", type=Path, metavar="FILE", help="the report, for `kebab eval --compare`")
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page to look at")
    return parser.parse_args(arguments)


def all_sets() -> list[str]:
    """Names of the sets that there are here."""
    given = sorted(path.name for path in (SHARED / "data" / "retrieval").glob("*/") if (path / "qrels.tsv").exists())
    return given + list(builders(SHARED))


def folder_of(name: str, place: Path) -> Path:
    """The folder of a set, which is built if it has to be."""
    given = SHARED / "data" / "retrieval" / name
    if given.is_dir():
        return given
    built = builders(SHARED)
    if name not in built:
        raise SystemExit(f"no set {name}; there are {', '.join(all_sets())}")
    built[name]().write(place / name)
    return place / name


def one_set(folder: Path, modes: Sequence[Mode]) -> tuple[EvalSet, Results]:
    """How a set goes, and the measures of the references on it."""
    started = perf_counter()
    judged = read_set(folder)
    config = load_config(Path(os.devnull), environ=os.environ)
    result = evaluate(config, judged, modes, k=K, progress=lambda *_: None)
    ids, texts = whole_documents(judged)
    measured = {REFERENCE: bm25s_with(judged, *indexed_chunks(judged)), WHOLE: bm25s_with(judged, ids, texts)}
    shown = ", ".join(f"{mode.mode} {mode.metrics[METRIC]:.3f}" for mode in result.modes)
    sys.stderr.write(
        f"{judged.name}: {shown}, {REFERENCE} {measured[REFERENCE][METRIC]:.3f}; {perf_counter() - started:.0f} s\n"
    )
    return result, measured


def whole_documents(judged: JudgedSet) -> tuple[list[str], list[list[str]]]:
    """The ids of the documents, and the terms of each."""
    documents = list(entries(judged.path))
    return [one.id for one in documents], [terms(f"{one.title} {one.text}") for one in documents]


def indexed_chunks(judged: JudgedSet) -> tuple[list[str], list[list[str]]]:
    """The document of each chunk of the index, and the terms that the index has of it."""
    config = load_config(Path(os.devnull), environ=os.environ, overrides={"models.embedding.provider": "none"})
    names = {doc_id_of(SOURCE.id, path_of(one.id)): one.id for one in entries(judged.path)}
    with indexed_corpus(config, judged.path, lambda *_: None) as engine:
        generation = engine.snapshot.generation
        postings = generation.lexical.postings()
        found: list[list[str]] = [[] for _ in range(generation.manifest.n_chunks)]
        columns = (postings.term_numbers, postings.chunks, postings.frequencies)
        for term, chunk, frequency in zip(*(column.tolist() for column in columns), strict=True):
            found[chunk] += [postings.terms[term].decode("utf-8", "surrogatepass")] * frequency
        documents = [bytes(generation.doc_ids[number]).hex() for number in generation.chunk_docs]
    return [names[DocId(document)] for document in documents], found


def bm25s_with(judged: JudgedSet, ids: Sequence[str], texts: Sequence[list[str]]) -> dict[str, float]:
    """Means of the measures that bm25s reaches on texts, of which several may be of one document."""
    retriever = bm25s.BM25(method="lucene", k1=K1, b=B)
    retriever.index(list(texts), show_progress=False)
    every = []
    for question in judged.questions:
        scores = retriever.get_scores(query_terms(question.query.query))
        order = np.argsort(-scores, kind="stable")
        ranking = list(dict.fromkeys(ids[place] for place in order[: np.count_nonzero(scores > 0)]))[:DEEP]
        every.append(measure(ranking, question.grades, k=K))
    return {name: float(np.mean([each[name] for each in every])) for name in every[0]}


def document(sets: Sequence[EvalSet], references: Mapping[str, Results]) -> str:
    """The tables, as Markdown."""
    modes = [mode.mode for mode in sets[0].modes]
    columns = [WHOLE, REFERENCE, *modes]
    results = {one.name: {**references[one.name], **{mode.mode: mode.metrics for mode in one.modes}} for one in sets}
    parts = [
        "# Quality of the search\n\n",
        "Made by `python benchmarks/quality/run.py`, which says what the sets are.\n",
        f"{METRIC}; {REFERENCE}: method lucene, k1 {K1}, b {B}, with the terms of our chunks and queries, documents"
        " ranked by their best chunk as in our search; *whole*: each document as one text.\n",
        f"Model: {sets[0].embedding_model or 'none'}.\n\n",
        table(("set", "queries", "documents", "chunks", *columns, "short of"), _rows(sets, results, columns)),
        "\n`short of` names what a set is below: on a set of one language hybrid should reach the better of its halves"
        " less 0.005, and lexical bm25s less 0.01; across languages hybrid should reach vector less 0.01.\n",
    ]
    for metric in [name for name in references[sets[0].name][REFERENCE] if name != METRIC]:
        rows = [(one.name, *(f"{results[one.name][column][metric]:.3f}" for column in columns)) for one in sets]
        parts.append(f"\n## {metric}\n\n" + table(("set", *columns), rows))
    if "hybrid" in modes and len(modes) > 1:
        parts.append(f"\n## Differences of hybrid in {METRIC}, with their 95 % intervals\n\n")
        parts.append(table(("set", "from", "mean", "interval", "p", "better", "worse"), _differences(sets)))
    times = [
        (one.name, *(f"{mode.latency.p50_ms:.1f}, {mode.latency.p99_ms:.1f}" for mode in one.modes)) for one in sets
    ]
    parts.append("\n## Milliseconds of a search: median, 99 in 100\n\n" + table(("set", *modes), times))
    return "".join(parts)


def _rows(sets: Sequence[EvalSet], results: Mapping[str, Results], columns: Sequence[str]) -> Iterator[Sequence[str]]:
    for one in sets:
        values = {column: results[one.name][column][METRIC] for column in columns}
        counts = map(str, (one.queries, one.documents, one.chunks))
        yield (one.name, *counts, *(f"{values[column]:.3f}" for column in columns), short_of(one.name, values))
    if len(sets) > 1:
        for title, chosen in (
            ("mean, one language", [one for one in sets if not one.name.endswith(("en2ko", "ko2en", "mixed"))]),
            ("mean, across", [one for one in sets if is_across(one.name)]),
        ):
            if chosen:
                means = (np.mean([results[one.name][column][METRIC] for one in chosen]) for column in columns)
                yield (title, "", "", "", *(f"**{mean:.3f}**" for mean in means), "")


def is_across(name: str) -> bool:
    """Whether the queries of a set are of another language than its documents."""
    return name.endswith(("en2ko", "ko2en"))


def short_of(name: str, values: Mapping[str, float]) -> str:
    """What a set does not reach."""
    if not {"lexical", "vector", "hybrid"} <= values.keys():
        return ""
    if is_across(name):
        return "vector" if values["hybrid"] < values["vector"] - 0.01 else ""
    problems = [half for half in ("lexical", "vector") if values["hybrid"] < values[half] - 0.005]
    if values["lexical"] < values[REFERENCE] - 0.01:
        problems.append(f"{REFERENCE} (lexical)")
    return ", ".join(problems)


def _differences(sets: Sequence[EvalSet]) -> Iterator[Sequence[str]]:
    for one in sets:
        ours = values_of(one.results, "hybrid", METRIC)
        for mode in [mode.mode for mode in one.modes if mode.mode != "hybrid"]:
            theirs = values_of(one.results, mode, METRIC)
            paired = compare(list(ours.values()), [theirs[query] for query in ours])
            yield (
                one.name,
                mode,
                f"{paired.difference:+.3f}",
                f"{paired.low:+.3f} … {paired.high:+.3f}",
                f"{paired.p_value:.4f}",
                str(paired.wins),
                str(paired.losses),
            )


def table(heads: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
