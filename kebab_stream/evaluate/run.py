"""Asking the queries of a set in each mode, and measuring the answers.

What is ranked are documents (or the parts that a golden file expects), each where its best chunk is.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np

from kebab_stream.config import Config
from kebab_stream.config.settings import KEYS
from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError
from kebab_stream.evaluate.beir import read_beir
from kebab_stream.evaluate.corpus import indexed_corpus
from kebab_stream.evaluate.golden import SUFFIXES, read_golden
from kebab_stream.evaluate.judged import JudgedSet, Question
from kebab_stream.evaluate.metrics import DEEP, first_rank, measure
from kebab_stream.evaluate.targets import CorpusTargets, GoldenTargets, Targets
from kebab_stream.model import Mode, SearchHit, SearchOpts
from kebab_stream.reports.quality import EvalAnswer, EvalHit, EvalLatency, EvalMode, EvalQuery, EvalSet, EvalTarget

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""

WORST = 30
"""Queries of a set that are kept with excerpts."""

_FIRST_PAGE = 10
"""Hits of the search that is timed."""
_TOP = 10
_WITH_EXCERPT = 3
_EXCERPT_CHARS = 200
_DECIMALS = 6
_SETTINGS = ("search.", "models.embedding.", "ingest.chunking.")


@dataclass(frozen=True, slots=True)
class Found:
    """The ranking of one query in one mode: ids, best first, each with the hit it is from."""

    ids: tuple[str, ...]
    hits: tuple[SearchHit, ...]
    elapsed_ms: float


def read_set(path: Path) -> JudgedSet:
    """The judged queries of a folder in the layout of BEIR, or of a golden file.

    Raises:
        InvalidInputError: it is neither, or cannot be understood.
        StorageError: it cannot be read.
    """
    if path.is_dir():
        return read_beir(path)
    if path.suffix.casefold() in SUFFIXES and path.is_file():
        return read_golden(path)
    problem = "is no judged set" if path.exists() else "does not exist"
    raise InvalidInputError(
        f"{path} {problem}",
        "give a folder with corpus.jsonl, queries.jsonl and qrels.tsv, a .yaml file, or the .json of a saved run",
        {"path": str(path)},
    )


def evaluate(config: Config, judged: JudgedSet, modes: Sequence[Mode], *, k: int, progress: Progress) -> EvalSet:
    """Ask every query of a set in each of the modes.

    A corpus is indexed for it in a temporary folder; a golden file is asked of the index that the settings name.

    Raises:
        InvalidInputError, StorageError: the corpus cannot be read, see `indexed_corpus`.
        NotIndexedError, IndexCorruptError: there is no index for a golden file.
        KebabError: as a search: `embeddings_disabled`, `model_unavailable`, …
    """

    def tell(what: str, done: int, total: int) -> None:
        progress(f"{judged.name}: {what}", done, total)

    with _opened(config, judged, tell) as (engine, targets):
        by_mode = {mode: _answers(engine, judged.questions, mode, targets, k, tell) for mode in modes}
        answers = list(zip(*by_mode.values(), strict=True))
        results = [
            EvalQuery(id=one.id, query=one.query.query, expected=_expected(one, targets), answers=each)
            for one, each in zip(judged.questions, answers, strict=True)
        ]
        worst = set(worst_queries(results, WORST))
        results = [
            with_excerpts(result, one, engine, targets) if place in worst else result
            for place, (result, one) in enumerate(zip(results, judged.questions, strict=True))
        ]
        embedding = engine.snapshot.generation.manifest.embedding
        return EvalSet(
            name=judged.name,
            kind=judged.kind,
            version=version("kebab-stream"),
            settings=_settings(config),
            embedding_model=embedding.model_id if embedding else None,
            documents=engine.snapshot.store.count("documents"),
            chunks=engine.snapshot.store.count("chunks"),
            queries=len(results),
            unjudged=judged.unjudged,
            unknown_queries=judged.unknown_queries,
            absent_targets=len({one.id for result in results for one in result.expected if not one.in_index}),
            modes=tuple(_summary(mode, each) for mode, each in by_mode.items()),
            results=tuple(results),
        )


def worst_queries(results: Sequence[EvalQuery], limit: int) -> list[int]:
    """Places of the queries that the last mode answered worst, by the first measure; no perfect answers among them.

    Of equally bad ones, those come first that another mode answered better; then the order of the set decides.
    """
    keyed = []
    for place, result in enumerate(results):
        values = [next(iter(answer.metrics.values())) for answer in result.answers]
        if values[-1] < 1:
            keyed.append((values[-1], -max(values), place))
    return [place for _, _, place in sorted(keyed)[:limit]]


@contextmanager
def _opened(config: Config, judged: JudgedSet, progress: Progress) -> Iterator[tuple[Engine, Targets]]:
    if judged.kind == "golden":
        with Engine.open(config) as engine:
            yield engine, GoldenTargets(engine.snapshot.store)
        return
    with indexed_corpus(config, judged.path, lambda done, total: progress("indexing", done, total)) as engine:
        yield engine, CorpusTargets(engine.snapshot.store)


def _answers(
    engine: Engine, questions: Sequence[Question], mode: Mode, targets: Targets, k: int, progress: Progress
) -> list[EvalAnswer]:
    engine.search(
        replace(questions[0].query, mode=mode)
    )  # a model is loaded by the first query, whose time is no other's
    answers = []
    for done, question in enumerate(questions, start=1):
        answers.append(_answer(engine, question, mode, targets, k))
        progress(mode, done, len(questions))
    return answers


def _answer(engine: Engine, question: Question, mode: Mode, targets: Targets, k: int) -> EvalAnswer:
    found = rank(engine, question, mode, targets, depth=max(k, DEEP))
    top = [
        EvalHit(id=one, score=hit.score, grade=question.grades.get(one), excerpt=None)
        for one, hit in zip(found.ids[:_TOP], found.hits, strict=False)
    ]
    return EvalAnswer(
        mode=mode,
        metrics=_rounded(measure(found.ids, question.grades, k=k)),
        first_rank=first_rank(found.ids, question.grades),
        elapsed_ms=round(found.elapsed_ms, 3),
        top=tuple(top),
    )


def rank(engine: Engine, question: Question, mode: Mode, targets: Targets, *, depth: int) -> Found:
    """The first `depth` ids of a ranking; what is found again counts once.

    Fewer if there are no more, or if every relevant target is among them: no measure looks at what comes after these.
    """
    relevant = {target for target, grade in question.grades.items() if grade > 0}
    query = replace(question.query, mode=mode, k=_FIRST_PAGE)
    started = perf_counter()
    page = engine.search_with_opts(query)
    elapsed_ms = (perf_counter() - started) * 1000
    found: dict[str, SearchHit] = {}
    while True:
        for hit in page.hits:
            for one in targets.of_hit(hit, question.grades):
                found.setdefault(one, hit)
        if len(found) >= depth or page.next_cursor is None or relevant <= found.keys():
            return Found(tuple(found)[:depth], tuple(found.values())[:depth], elapsed_ms)
        page = engine.search_with_opts(replace(query, k=depth), SearchOpts(cursor=page.next_cursor, snippet_chars=1))


def _expected(question: Question, targets: Targets) -> tuple[EvalTarget, ...]:
    return tuple(
        EvalTarget(id=target, grade=grade, in_index=targets.text_of(target) is not None, excerpt=None)
        for target, grade in question.grades.items()
        if grade > 0
    )


def with_excerpts(result: EvalQuery, question: Question, engine: Engine, targets: Targets) -> EvalQuery:
    """A result with the beginning of each expected text, and the snippets of the first hits in the last mode."""
    expected = [replace(one, excerpt=_excerpt(targets.text_of(one.id))) for one in result.expected]
    *others, last = result.answers
    found = rank(engine, question, last.mode, targets, depth=_WITH_EXCERPT)
    snippets = dict(zip(found.ids, (hit.snippet for hit in found.hits), strict=True))
    top = [replace(hit, excerpt=_excerpt(snippets.get(hit.id))) for hit in last.top]
    return replace(result, expected=tuple(expected), answers=(*others, replace(last, top=tuple(top))))


def _excerpt(text: str | None) -> str | None:
    if text is None:
        return None
    line = " ".join(text[: 4 * _EXCERPT_CHARS].split())
    return line if len(line) <= _EXCERPT_CHARS else f"{line[: _EXCERPT_CHARS - 1]}…"


def _summary(mode: Mode, answers: Sequence[EvalAnswer]) -> EvalMode:
    names = answers[0].metrics
    means = {name: float(np.mean([answer.metrics[name] for answer in answers])) for name in names}
    p50, p90, p99 = np.quantile([answer.elapsed_ms for answer in answers], (0.5, 0.9, 0.99))
    latency = EvalLatency(p50_ms=round(float(p50), 3), p90_ms=round(float(p90), 3), p99_ms=round(float(p99), 3))
    return EvalMode(mode=mode, metrics=_rounded(means), latency=latency)


def _rounded(metrics: dict[str, float]) -> dict[str, float]:
    return {name: round(value, _DECIMALS) for name, value in metrics.items()}


def _settings(config: Config) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in KEYS:
        if name.startswith(_SETTINGS):
            value: object = config
            for part in name.split("."):
                value = getattr(value, part)
            found[name] = str(value) if isinstance(value, Path) else value
    return found
