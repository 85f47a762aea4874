"""Small judged sets, written where a test wants them."""

import json
from collections.abc import Mapping
from pathlib import Path

from kebab_stream.config import Config, Embedding, Models, Storage
from kebab_stream.evaluate import evaluate, read_set
from kebab_stream.model import MODES, Mode
from kebab_stream.reports.quality import EvalSet

TEXTS = {
    "pan": "Fry the onions in a heavy pan until they are golden.",
    "tea": "Pour hot water over the leaves and wait three minutes.",
    "도마": "양파를 도마 위에서 잘게 썰어 주세요.",
    "차": "찻잎에 뜨거운 물을 붓고 삼 분 기다립니다.",
    "empty": "",
}
QUERIES = {"q1": "golden onions", "q2": "hot water", "질문": "양파 썰기", "unjudged": "three minutes"}
GRADES = {("q1", "pan"): 2, ("q1", "도마"): 1, ("q2", "tea"): 1, ("질문", "도마"): 1, ("unjudged", "pan"): 0}


def lines(values: Mapping[str, str]) -> str:
    """Objects with an id and a text, one a line."""
    return "".join(json.dumps({"_id": key, "text": text}, ensure_ascii=False) + "\n" for key, text in values.items())


def write_set(
    folder: Path, *, corpus: str = lines(TEXTS), queries: str = lines(QUERIES), qrels: str | None = None
) -> Path:
    """A set in the layout of BEIR; by default the one above."""
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(corpus, encoding="utf-8")
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    judged = "".join(f"{query}\t{document}\t{grade}\n" for (query, document), grade in GRADES.items())
    text = f"query-id\tcorpus-id\tscore\n{judged}" if qrels is None else qrels
    (folder / "qrels.tsv").write_text(text, encoding="utf-8")
    return folder


def config_at(data_dir: Path, *, vectors: bool = False) -> Config:
    """Settings with this data folder; the bundled model, or none."""
    embedding = Embedding() if vectors else Embedding(provider="none")
    return Config(storage=Storage(data_dir=data_dir), models=Models(embedding=embedding))


def evaluated(path: Path, config: Config, *modes: Mode, k: int = 10) -> EvalSet:
    """How a set goes, by default in all modes."""
    return evaluate(config, read_set(path), modes or MODES, k=k, progress=lambda *_: None)
