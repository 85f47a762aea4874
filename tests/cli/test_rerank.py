"""`kebab search --rerank`, with a small real cross-encoder; in processes of its own, as onnxruntime wants it."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kebab_stream.config import Config, Storage
from kebab_stream.engine import Engine
from kebab_stream.model import ChunkId
from tests.cli.program import Finished, environment, kebab
from tests.embed.onnx_folder import write_folder
from tests.paths import ROOT

WORDS = ("coffee", "water", "filter", "grind", "the")
QUERY = "coffee the water"
LISTED = "Xenova/ms-marco-MiniLM-L-6-v2"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that counts the words of the query."""
    folder = tmp_path_factory.mktemp("cross-encoder")
    subprocess.run([sys.executable, ROOT / "tests" / "embed" / "cross_encoder.py", folder, *WORDS], check=True)
    return folder


def settings_of(model: Path, depth: int = 50) -> dict[str, str]:
    return {"KEBAB_MODELS_RERANK_MODEL_PATH": str(model), "KEBAB_MODELS_RERANK_DEPTH": str(depth)}


def found(data_dir: Path, *arguments: str, extra: Mapping[str, str] | None = None) -> Any:
    done = kebab("search", "--json", *arguments, data_dir=data_dir, extra=extra)
    assert (done.status, done.err) == (0, b"")
    (response,) = done.lines
    return response


def failed(done: Finished) -> tuple[int, str]:
    assert done.out == b""
    return done.status, done.error["code"]


def counted(data_dir: Path, hits: list[Any]) -> list[int]:
    """What the model should say of each hit."""
    with Engine.open(Config(storage=Storage(data_dir=data_dir))) as engine:
        rows = engine.snapshot.store.chunks_by_id([bytes.fromhex(hit["chunk_id"]) for hit in hits])
    texts = [rows[ChunkId(hit["chunk_id"])][0].text.lower() for hit in hits]
    return [sum(QUERY.split().count(word) for word in re.findall(r"\w+", text)) for text in texts]


def ids(hits: list[Any]) -> list[str]:
    return [hit["chunk_id"] for hit in hits]


@pytest.mark.parametrize("depth", [7, 50])
def test_the_best_hits_come_in_the_order_of_the_model_and_the_others_behind_them(
    fixture_data: Path, model: Path, depth: int
) -> None:
    before = found(fixture_data, QUERY, "--k", "1000")["hits"]
    counts = counted(fixture_data, before)
    after = found(fixture_data, QUERY, "--k", "1000", "--rerank", extra=settings_of(model, depth))["hits"]

    best = sorted(range(depth), key=lambda place: (-counts[place], place))
    assert ids(after) == [before[place]["chunk_id"] for place in [*best, *range(depth, len(before))]]
    assert [hit["retrieval"].pop("rerank_score") for hit in after] == [
        *(counts[place] for place in best),
        *[None] * (len(before) - depth),
    ]
    assert ids(after) != ids(before)
    # Nothing else of a hit changes but its rank.
    plain = {hit["chunk_id"]: {**hit, "rank": 0} for hit in before}
    assert [{**hit, "rank": 0} for hit in after] == [plain[hit["chunk_id"]] for hit in after]
    assert [hit["rank"] for hit in after] == list(range(1, len(after) + 1))


def test_pages_under_budgets_bulk_and_a_limit_per_document_keep_the_order(fixture_data: Path, model: Path) -> None:
    extra = settings_of(model, 20)
    whole = found(fixture_data, QUERY, "--rerank", "--per-doc", "2", "--k", "1000", extra=extra)
    visited: list[str] = []
    cursor: list[str] = []
    page: Any = None
    for k, budget in ((3, "10000"), (4, "600"), (9, "2000"), (1000, "100000")):
        look = ["--k", str(k), "--max-tokens", budget, "--per-doc", "2", *cursor]
        page = found(fixture_data, QUERY, "--rerank", *look, extra=extra)
        visited += ids(page["hits"])
        cursor = ["--cursor", page["next_cursor"] or ""]

    assert visited == ids(whole["hits"])
    assert page["next_cursor"] is None
    item = json.dumps({"query": QUERY, "rerank": True, "per_doc": 2, "k": 1000})
    done = kebab("search", "--bulk", "--json", stdin=f"{item}\n{item}\n".encode(), data_dir=fixture_data, extra=extra)
    assert [line["response"] for line in done.lines] == [whole, whole]


def test_a_cursor_does_not_go_on_with_another_depth_another_model_or_without(fixture_data: Path, model: Path) -> None:
    first = found(fixture_data, QUERY, "--rerank", extra=settings_of(model))
    later = ("search", "--json", QUERY, "--cursor", first["next_cursor"])

    for arguments, extra in (((), {}), (("--rerank",), settings_of(model, 49))):
        done = kebab(*later, *arguments, data_dir=fixture_data, extra=extra)
        assert failed(done) == (2, "stale_cursor")
        assert done.error["details"] == {"reason": "query"}


def test_without_a_model_the_error_says_how_to_get_one(fixture_data: Path) -> None:
    done = kebab("search", "--json", QUERY, "--rerank", data_dir=fixture_data)

    assert failed(done) == (2, "model_unavailable")
    assert "models.rerank.model is not set" in done.error["message"]
    for name in ("models.rerank.model ", "Xenova/ms-marco-MiniLM-L-6-v2", "KEBAB_MODELS_RERANK_MODEL_PATH"):
        assert name in done.error["hint"]


def test_an_embedding_model_is_told_from_a_cross_encoder(fixture_data: Path, tmp_path: Path) -> None:
    embedding_model = write_folder(tmp_path / "embeds")

    done = kebab("search", "--json", QUERY, "--rerank", data_dir=fixture_data, extra=settings_of(embedding_model))

    assert failed(done) == (2, "model_unavailable")
    assert "not a cross-encoder" in done.error["message"]


def test_a_folder_that_is_missing_is_named(fixture_data: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    done = kebab("search", "--json", QUERY, "--rerank", data_dir=fixture_data, extra=settings_of(gone))

    assert failed(done) == (2, "model_unavailable")
    assert f"the folder {gone} is missing" in done.error["message"]


@pytest.mark.parametrize("cache", ["empty", "absent"])
def test_a_search_downloads_no_model_and_writes_nothing(fixture_data: Path, tmp_path: Path, cache: str) -> None:
    models = tmp_path / "empty" / "kebab" / "models"
    models.mkdir(parents=True)
    extra = {"KEBAB_MODELS_RERANK_MODEL": LISTED, "XDG_CACHE_HOME": str(tmp_path / cache)}

    done = kebab("search", "--json", QUERY, "--rerank", data_dir=fixture_data, extra=extra)

    assert failed(done) == (2, "model_unavailable")
    assert LISTED in done.error["message"]
    # No files of the libraries' own either, such as what onnxruntime would report about its use.
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert list(tmp_path.iterdir()) == [tmp_path / "empty"]


def test_a_model_in_the_cache_is_found_by_its_name(fixture_data: Path, model: Path, tmp_path: Path) -> None:
    downloaded = tmp_path / "kebab" / "models" / f"models--{LISTED.replace('/', '--')}"
    revision = "0" * 40
    (downloaded / "refs").mkdir(parents=True)
    (downloaded / "refs" / "main").write_text(revision)
    shutil.copytree(model, downloaded / "snapshots" / revision)
    (downloaded / "snapshots" / revision / "onnx").mkdir()
    shutil.move(downloaded / "snapshots" / revision / "model.onnx", downloaded / "snapshots" / revision / "onnx")
    extra = {"KEBAB_MODELS_RERANK_MODEL": LISTED, "XDG_CACHE_HOME": str(tmp_path)}

    by_name = found(fixture_data, QUERY, "--rerank", extra=extra)
    assert by_name["hits"] == found(fixture_data, QUERY, "--rerank", extra=settings_of(model))["hits"]


def damaged(model: Path, folder: Path, file: str, content: bytes | None) -> Path:
    shutil.copytree(model, folder)
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.onnx", None),
        ("model.onnx", b"no model"),
        ("tokenizer.json", None),
        ("tokenizer.json", b"{}"),
        ("tokenizer_config.json", b"{}"),
        ("tokenizer_config.json", b"[]"),
    ],
)
def test_missing_and_damaged_files_are_told_in_one_line(
    fixture_data: Path, model: Path, tmp_path: Path, file: str, content: bytes | None
) -> None:
    folder = damaged(model, tmp_path / "damaged", file, content)

    done = kebab("search", "--json", QUERY, "--rerank", data_dir=fixture_data, extra=settings_of(folder))

    assert failed(done) == (2, "model_unavailable")


def test_nothing_found_and_people_are_answered_too(fixture_data: Path, model: Path) -> None:
    extra = settings_of(model)
    assert found(fixture_data, "?!", "--rerank", extra=extra)["hits"] == []
    done = kebab("search", QUERY, "--rerank", "--mode", "lexical", "--k", "1", data_dir=fixture_data, extra=extra)

    assert done.status == 0
    assert done.out.startswith(b"1. ")
    assert done.err == b""


def test_a_model_in_the_settings_is_not_loaded_before_it_is_asked_for(fixture_data: Path, model: Path) -> None:
    probe = "import sys; from kebab_stream.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    for flags, loaded in (([], False), (["--rerank"], True)):
        done = subprocess.run(
            [sys.executable, "-c", probe, "search", "--json", QUERY, *flags],
            capture_output=True,
            env=environment(fixture_data, settings_of(model)),
            check=True,
        )
        assert ({b"fastembed", b"onnxruntime"} <= set(done.stderr.split())) == loaded
        assert bool({b"fastembed", b"onnxruntime"} & set(done.stderr.split())) == loaded


def test_doctor_asks_the_model_if_one_is_set(fixture_data: Path, model: Path, tmp_path: Path) -> None:
    def check(folder: Path) -> tuple[int, dict[str, Any]]:
        done = kebab("doctor", "--json", data_dir=fixture_data, extra=settings_of(folder, depth=7))
        (found,) = (each for each in done.lines[0]["checks"] if each["name"] == "rerank")
        return done.status, found

    status, good = check(model)
    assert (status, good["status"], good["details"]["depth"]) == (0, "ok", 7)
    status, bad = check(damaged(model, tmp_path / "damaged", "tokenizer.json", None))
    assert (status, bad["status"], bad["details"]["code"]) == (3, "fail", "model_unavailable")
    assert "models.rerank.model_path" in bad["hint"]
