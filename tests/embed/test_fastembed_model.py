"""Transformers through fastembed, with a real one.

Each in a process of its own: onnxruntime has crashed where many other extension modules were loaded before it.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kebab_stream.embed.libraries import download_errors
from tests.cli.program import Finished, kebab
from tests.embed.model_hub import Hub, model_hub
from tests.embed.onnx_folder import DIM, write_folder
from tests.paths import ROOT

LISTED = "sentence-transformers/all-MiniLM-L6-v2"
REPOSITORY = "Qdrant/all-MiniLM-L6-v2-onnx"

_PROBE = """
import dataclasses, json, shutil, sys
from pathlib import Path
import numpy as np
import onnx
from kebab_stream.config import Embedding
from kebab_stream.embed import load_embedder

folder, pooled = map(Path, sys.argv[1:])
shutil.copytree(folder, pooled, symlinks=True)
model = onnx.load(str((pooled / "model.onnx").resolve()))
(pooled / "model.onnx").unlink()
tokens = model.graph.output[0].name
if max(each.version for each in model.opset_import if each.domain == "") >= 18:
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1]), "axes_of_mean"))
    model.graph.node.append(onnx.helper.make_node("ReduceMean", [tokens, "axes_of_mean"], ["pooled"], keepdims=0))
else:
    model.graph.node.append(onnx.helper.make_node("ReduceMean", [tokens], ["pooled"], axes=[1], keepdims=0))
del model.graph.output[:]
model.graph.output.append(onnx.helper.make_tensor_value_info("pooled", onnx.TensorProto.FLOAT, ["batch", 384]))
(pooled / "onnx").mkdir()
onnx.save(model, str(pooled / "onnx" / "model.onnx"))

texts = ["coffee in the cupboard", "커피", "x " * 5000, "\\ud800 lone", "a b c d e f g h i j k l m n o p"]
plain = Embedding(provider="fastembed", model_path=folder)

def embedder(**changes):
    return load_embedder(dataclasses.replace(plain, **changes))

one = embedder()
rows = one.embed_passages(texts)
prefixed = embedder(query_prefix="query: ", passage_prefix="passage: ", score_floor=0.5)
(folder / "1_Pooling").mkdir()
(folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
said = embedder()
print(json.dumps({
    "facts": [one.model_id, one.dim, one.score_floor, prefixed.score_floor, rows.shape, str(rows.dtype)],
    "none": one.embed_passages([]).shape,
    "norms": np.linalg.norm(rows, axis=1).tolist(),
    "alone": all(np.array_equal(one.embed_passages([text])[0], row) for text, row in zip(texts, rows)),
    "backwards": np.array_equal(one.embed_passages(texts[::-1])[::-1], rows),
    "threads": float(np.abs(embedder(threads=1, pooling="mean").embed_passages(texts) - rows).max()),
    "pooled": float(np.abs(embedder(model_path=pooled).embed_passages(texts) - rows).max()),
    "query": np.array_equal(one.embed_query(texts[0]), rows[0]),
    "query prefix": np.array_equal(prefixed.embed_query("coffee"), one.embed_query("query: coffee")),
    "passage prefix": np.array_equal(prefixed.embed_passages(["coffee"])[0], one.embed_query("passage: coffee")),
    "pooling as said": np.array_equal(said.embed_query("coffee"), embedder(pooling="cls").embed_query("coffee")),
    "cls is mean": np.array_equal(said.embed_query("coffee"), one.embed_query("coffee")),
    "named": embedder(model="mine").model_id,
    "prints": [e.fingerprint for e in (one, embedder(pooling="mean"), said, prefixed, embedder(model="mine"))],
}))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a program saw of a model in a folder."""
    folder = write_folder(tmp_path_factory.mktemp("models") / "my-model")
    command = [sys.executable, "-c", _PROBE, str(folder), str(folder.parent / "pooled")]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=120, check=False)
    assert done.stderr == b""
    return json.loads(done.stdout)


def test_any_onnx_model_in_a_folder_gives_unit_vectors(told: Any) -> None:
    assert told["facts"] == ["my-model", DIM, 0.0, 0.5, [5, DIM], "float32"]
    assert told["norms"] == pytest.approx([1.0] * 5, abs=1e-6)
    assert told["none"] == [0, DIM]


@pytest.mark.parametrize("how", ["alone", "backwards", "query"])
def test_a_text_gives_the_same_bits_whatever_is_around_it(told: Any, how: str) -> None:
    assert told[how]


def test_another_number_of_threads_changes_no_more_than_the_last_digits(told: Any) -> None:
    assert told["threads"] < 1e-5


def test_a_model_that_gives_a_vector_a_text_is_not_pooled_again(told: Any) -> None:
    assert told["pooled"] < 1e-5


def test_prefixes_stand_before_what_they_are_for(told: Any) -> None:
    assert told["query prefix"]
    assert told["passage prefix"]


def test_a_folder_says_how_it_is_pooled(told: Any) -> None:
    assert told["pooling as said"]
    assert not told["cls is mean"]


def test_the_fingerprint_is_of_all_that_changes_vectors(told: Any) -> None:
    auto, mean, cls, prefixed, named = told["prints"]

    assert told["named"] == "mine"
    assert auto == mean
    assert len({auto, cls, prefixed, named}) == 4


class Place:
    """A home of its own, with a note to index."""

    def __init__(self, folder: Path, **embedding: str) -> None:
        self.folder = folder
        (folder / "notes").mkdir(parents=True)
        (folder / "notes" / "coffee.md").write_text("# Coffee\n\nThe beans are in the cupboard.\n")
        self.extra = {
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "KEBAB_MODELS_EMBEDDING_PROVIDER": "fastembed",
            "no_proxy": "127.0.0.1",
            "HF_ENDPOINT": "http://127.0.0.1:9",
            **{f"KEBAB_MODELS_EMBEDDING_{key.upper()}": value for key, value in embedding.items()},
        }

    def kebab(self, *arguments: str, **extra: str) -> Finished:
        return kebab(*arguments, data_dir=self.folder / "data", extra={**self.extra, **extra})

    def left(self) -> list[str]:
        """Files beside the index: there is to be no number of this machine, for somebody's telemetry."""
        return [path.name for path in self.folder.rglob("*") if path.is_file() and "data" not in path.parts]

    def ingest(self, **extra: str) -> Finished:
        return self.kebab("ingest", "--json", str(self.folder / "notes"), **extra)


def test_ingest_and_search_by_a_model_in_a_folder(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "my-model")
    place = Place(tmp_path / "home", model_path=str(folder))

    ingested = place.ingest()
    searched = place.kebab("search", "beans", "--mode", "vector", "--json")
    changed = place.kebab("search", "beans", "--json", KEBAB_MODELS_EMBEDDING_PASSAGE_PREFIX="passage: ")
    lexical = place.kebab("search", "beans", "--mode", "lexical", "--json", KEBAB_MODELS_EMBEDDING_MODEL_PATH="/gone")

    assert (ingested.status, ingested.err, searched.status, searched.err) == (0, b"", 0, b"")
    assert ingested.lines[0]["embedding_model"] == "my-model"
    assert searched.lines[0]["hits"][0]["embedding_model"] == "my-model"
    assert searched.lines[0]["hits"][0]["retrieval"]["vector_score"] > 0
    assert changed.error["code"] == "model_unavailable"  # the vectors in the index are of another fingerprint
    assert "kebab ingest" in changed.error["hint"]
    assert lexical.status == 0
    assert place.left() == ["coffee.md"]


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("model.onnx", None, "none of model.onnx"),
        ("model.onnx", b"no protobuf", "Protobuf"),
        ("tokenizer.json", None, "No such file"),
        ("tokenizer.json", b"{}", "Tokenizer"),
        ("tokenizer_config.json", None, "tokenizer_config.json"),
        ("special_tokens_map.json", b"[1]", "special_tokens_map.json holds no JSON object"),
        ("tokenizer_config.json", b'{"model_max_length": 256, "pad_token": {"content": [1]}}', ""),
        ("1_Pooling/config.json", b'{"pooling_mode_max_tokens": true}', "models.embedding.pooling"),
    ],
)
def test_a_damaged_folder_is_a_model_unavailable(
    tmp_path: Path, file: str, content: bytes | None, problem: str
) -> None:
    folder = write_folder(tmp_path / "my-model")
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).unlink(missing_ok=True)
    if content is not None:
        (folder / file).write_bytes(content)

    place = Place(tmp_path / "home", model_path=str(folder))
    error = place.ingest().error

    assert error["code"] == "model_unavailable"
    assert problem in error["message"]
    assert "tokenizer.json, tokenizer_config.json" in error["hint"]
    assert place.left() == ["coffee.md"]


def test_what_onnxruntime_logs_does_not_get_beside_an_error(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "my-model")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 5000, "pad_token": "[PAD]"}')
    place = Place(tmp_path / "home", model_path=str(folder))
    (tmp_path / "home" / "notes" / "long.md").write_text("x" * 90 + " y" * 1500)

    assert place.ingest().error["code"] == "embedding_failed"


def test_a_name_that_fastembed_does_not_have_is_refused_with_the_closest(tmp_path: Path) -> None:
    error = Place(tmp_path / "home", model="intfloat/multilingual-e5-small").ingest().error

    assert error["code"] == "config_invalid"
    assert "intfloat/multilingual-e5-large" in error["hint"]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub that has the files of a listed model."""
    with model_hub(REPOSITORY, write_folder(tmp_path / "served")) as running:
        yield running


def test_an_ingest_downloads_a_listed_model_once_and_a_search_never(tmp_path: Path, hub: Hub) -> None:
    place = Place(tmp_path / "home", model=LISTED)
    assert place.ingest(KEBAB_MODELS_EMBEDDING_PROVIDER="static", KEBAB_MODELS_EMBEDDING_MODEL="").status == 0

    before = place.kebab("search", "beans", "--json", HF_ENDPOINT=hub.address)
    offline = place.ingest(HF_ENDPOINT=hub.address, HF_HUB_OFFLINE="1")
    (tmp_path / "home" / "notes" / "milk.md").write_text("# Milk\n")
    text = place.kebab("ingest-file", str(tmp_path / "home" / "notes" / "milk.md"), HF_ENDPOINT=hub.address)
    assert hub.asked == []
    assert {before.error["code"], offline.error["code"]} == {"model_unavailable"}
    assert b"[model_unavailable]" in text.err
    assert "run `kebab ingest`, which downloads it" in before.error["hint"]
    assert "models.embedding.model_path" in offline.error["hint"]

    ingested = place.ingest(HF_ENDPOINT=hub.address)
    assert (ingested.status, ingested.err) == (0, b"")
    assert ingested.lines[0]["embedding_model"] == LISTED
    assert not [path for path in hub.asked if REPOSITORY not in path]

    (tmp_path / "home" / "notes" / "tea.md").write_text("# Tea\n")
    assert place.ingest().status == 0  # with nobody at the hub's address
    assert place.kebab("search", "beans", "--mode", "vector", "--json").lines[0]["hits"]


def test_what_a_download_may_fail_with_is_told_from_a_mistake_in_the_program() -> None:
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    errors = download_errors()

    assert all(issubclass(each, errors) for each in (HfHubHTTPError, LocalEntryNotFoundError, httpx.ConnectError))
    assert not any(issubclass(each, errors) for each in (TypeError, AttributeError, LookupError, RuntimeError))


@pytest.mark.parametrize("address", ["nowhere", "http://127.0.0.1:99999"])
def test_an_address_of_the_hub_that_is_none_is_told(tmp_path: Path, address: str) -> None:
    error = Place(tmp_path / "home", model=LISTED).ingest(HF_ENDPOINT=address).error

    assert error["code"] == "model_unavailable"


def test_nobody_at_the_hub_is_a_model_unavailable_at_once(tmp_path: Path) -> None:
    error = Place(tmp_path / "home", model=LISTED).ingest().error

    assert error["code"] == "model_unavailable"
    assert "cannot be downloaded" in error["message"]
