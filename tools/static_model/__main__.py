"""`python -m tools.static_model`: the stages of the recipe, each from files of the work folder to files of it."""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.static_model import vocabulary
from tools.static_model.export import quantised, write_model
from tools.static_model.fit import FitParams, fit
from tools.static_model.pairs import Pair, Snippet
from tools.static_model.sources import SourceFolders, collect, missing
from tools.static_model.teacher import Lesson, Teacher, lessons, taught, universal_sentence_encoder

PAIRS: Final = "pairs.json"
TEXTS: Final = "texts.json"
LESSONS: Final = "lessons.json"
LESSON_VECTORS: Final = "lesson_vectors.npy"
TOKENIZER: Final = "tokenizer.json"
TOKEN_VECTORS: Final = "token_vectors.npy"
ROWS: Final = "rows.npy"

logger = logging.getLogger(__name__)


def prepare(work: Path, folders: SourceFolders) -> None:
    """Raw sources → pairs and snippets."""
    pairs, snippets = collect(folders)
    write_rows(work / PAIRS, pairs)
    write_rows(work / TEXTS, snippets)
    logger.info("%d pairs, %d snippets", len(pairs), len(snippets))


def tokenise(
    work: Path,
    analyse: vocabulary.Morphemes,
    general: Callable[[str], vocabulary.Frequencies],
    sizes: tuple[int, int] = (vocabulary.KOREAN_WORDS, vocabulary.ENGLISH_WORDS),
) -> None:
    """Pairs and snippets → tokenizer; `general` gives the word frequencies of a language, "ko" or "en"."""
    counts = vocabulary.count(vocabulary.runs(read_pairs(work), read_snippets(work)), analyse)
    ranked = vocabulary.pieces(counts, general("ko"), general("en"), sizes=sizes)
    vocabulary.write_tokenizer(work / TOKENIZER, ranked)
    logger.info("%d tokens", len(ranked))


def teach(work: Path, teacher: Teacher) -> None:
    """Pairs, snippets and tokenizer → the teacher's vectors of a sample of texts, and of every token's text."""
    sample = lessons(read_pairs(work), read_snippets(work))
    write_rows(work / LESSONS, sample)
    np.save(work / LESSON_VECTORS, taught(teacher, [lesson.text for lesson in sample]))
    tokenizer = Tokenizer.from_file(str(work / TOKENIZER))
    tokens = sorted(tokenizer.get_vocab().items(), key=lambda each: each[1])
    np.save(work / TOKEN_VECTORS, taught(teacher, [token for token, _ in tokens]))


def train(work: Path, params: FitParams) -> None:
    """All of the above → token vectors."""
    sample = [Lesson(*row) for row in _read(work / LESSONS)]
    rows = fit(
        Tokenizer.from_file(str(work / TOKENIZER)),
        read_pairs(work),
        sample,
        taught=np.load(work / LESSON_VECTORS),
        taught_tokens=np.load(work / TOKEN_VECTORS),
        params=params,
    )
    np.save(work / ROWS, rows)


def export(work: Path, out: Path) -> None:
    """Token vectors and tokenizer → model folder."""
    vectors: NDArray[np.float32] = np.load(work / ROWS)
    write_model(out, *quantised(vectors), work / TOKENIZER)


def read_pairs(work: Path) -> list[Pair]:
    return [Pair(*row) for row in _read(work / PAIRS)]


def read_snippets(work: Path) -> list[Snippet]:
    return [Snippet(*row) for row in _read(work / TEXTS)]


def _read(path: Path) -> list[list[Any]]:
    rows: list[list[Any]] = json.loads(path.read_bytes())
    return rows


def write_rows(path: Path, rows: Sequence[tuple[str, ...]]) -> None:
    """What `read_pairs` and `read_snippets` read."""
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.static_model", description="Train the bundled model anew.")
    parser.add_argument("--raw", type=Path, required=True, help="unpacked public sources")
    parser.add_argument("--corpora", type=Path, required=True, help="folders of documentation")
    parser.add_argument("--tydi", type=Path, required=True, help="TyDi QA gold passages, English, BEIR layout")
    parser.add_argument("--work", type=Path, required=True, help="for files between the stages")
    parser.add_argument("--out", type=Path, required=True, help="model folder")
    parser.add_argument("--steps", type=int, default=FitParams().steps)
    parser.add_argument("--stages", default="prepare,tokenise,teach,train,export")
    return parser.parse_args()


def main() -> None:
    options = _options()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    work: Path = options.work
    work.mkdir(parents=True, exist_ok=True)
    folders = SourceFolders(options.raw, options.corpora, options.tydi)
    stages: dict[str, Callable[[], None]] = {
        "prepare": lambda: prepare(work, folders),
        "tokenise": lambda: tokenise(work, vocabulary.mecab(), vocabulary.word_frequencies),
        "teach": lambda: teach(work, universal_sentence_encoder()),
        "train": lambda: train(work, FitParams(steps=options.steps)),
        "export": lambda: export(work, options.out),
    }
    names = options.stages.split(",")
    if "prepare" in names and (absent := missing(folders)):
        sys.exit("sources are missing (README.md says where they come from):\n  " + "\n  ".join(absent))
    for name in names:
        start = time.monotonic()
        stages[name]()
        logger.info("%s: %.0f s", name, time.monotonic() - start)


if __name__ == "__main__":
    main()
