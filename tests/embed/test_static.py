"""The static model: the formula, the same bits everywhere, damaged files, and the libraries it must not load."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

from kebab_stream.analyser import without_asking
from kebab_stream.config import Embedding
from kebab_stream.embed import load_embedder, static
from kebab_stream.embed.static import BUNDLED_FOLDER, StaticEmbedder
from kebab_stream.errors import ConfigInvalidError, ModelUnavailableError
from tests.paths import ROOT, SHARED

ANY_TEXT = st.text(st.characters(), max_size=60)  # st.characters() includes lone surrogates
VOCABULARY = ["검색", "색인", "데이터베이스", "search", "index", "vector", "Korean", "HTTPServer", "42", "!"]
WORDS = st.lists(st.sampled_from(VOCABULARY)).map(" ".join)
TEXTS = st.one_of(ANY_TEXT, WORDS)


@pytest.fixture(scope="module")
def searcher() -> StaticEmbedder:
    return StaticEmbedder(BUNDLED_FOLDER, model_id="bundled")


@pytest.fixture(scope="module")
def ingester() -> StaticEmbedder:
    return StaticEmbedder(BUNDLED_FOLDER, model_id="bundled")


def safetensors(rows: NDArray[np.generic], weights: NDArray[np.generic], row_kind: str = "I8") -> bytes:
    split, end = weights.nbytes, weights.nbytes + rows.nbytes
    header = json.dumps(
        {
            "weights": {"dtype": "F32", "shape": weights.shape, "data_offsets": [0, split]},
            "embeddings": {"dtype": row_kind, "shape": rows.shape, "data_offsets": [split, end]},
        }
    ).encode()
    return len(header).to_bytes(8, "little") + header + weights.tobytes() + rows.tobytes()


ROWS = np.array([[9, 9, 9], [3, 0, 0], [0, 4, 0], [-3, 0, 0]], dtype=np.int8)
WEIGHTS = np.array([1, 1, 0.5, 1], dtype="<f4")


def write_model(folder: Path, rows: NDArray[np.int8] = ROWS, weights: NDArray[np.float32] = WEIGHTS) -> Path:
    """A model with the words [UNK], cat, dog and anticat, split at white space."""
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors").write_bytes(safetensors(rows, weights))
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "cat": 1, "dog": 2, "anticat": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_padding(length=8, pad_id=3, pad_token="anticat")
    tokenizer.enable_truncation(4)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


# --- what a vector is ------------------------------------------------------------------------------------


def test_a_vector_is_the_normalised_weighted_sum_of_the_known_tokens(tmp_path: Path) -> None:
    embedder = StaticEmbedder(write_model(tmp_path), model_id="tiny")

    vectors = embedder.embed_passages(["cat", "cat bird dog dog", "bird", "cat anticat", ""])

    expected = np.array([[1, 0, 0], [0.6, 0.8, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], dtype=np.float32)
    np.testing.assert_array_equal(vectors, expected)
    assert vectors.dtype == np.float32


def test_a_small_part_survives_large_ones_that_cancel(tmp_path: Path) -> None:
    rows = np.array([[0, 0], [127, 0], [1, 0], [-127, 0]], dtype=np.int8)
    weights = np.array([1, 2**20, 2**-10, 2**20], dtype="<f4")
    embedder = StaticEmbedder(write_model(tmp_path, rows, weights), model_id="tiny")

    np.testing.assert_array_equal(embedder.embed_query("cat dog anticat"), np.array([1, 0], dtype=np.float32))


def test_settings_of_the_tokenizer_file_neither_cut_a_text_nor_pad_a_batch(tmp_path: Path) -> None:
    embedder = StaticEmbedder(write_model(tmp_path), model_id="tiny")

    np.testing.assert_array_equal(
        embedder.embed_query("bird bird bird bird bird cat"), np.array([1, 0, 0], dtype=np.float32)
    )


def test_no_texts_give_no_rows(searcher: StaticEmbedder) -> None:
    assert searcher.embed_passages([]).shape == (0, 256)


def test_korean_and_english_names_of_a_thing_are_neighbours(searcher: StaticEmbedder) -> None:
    database, korean, cooking = searcher.embed_passages(["database index", "데이터베이스 색인", "김치찌개 조리법"])

    assert database @ korean > 0.5 > database @ cooking


@pytest.mark.parametrize("text", ["", " \n", "?!…", "\ud800", "\x00"])
def test_a_text_without_a_known_token_is_all_zeros(searcher: StaticEmbedder, text: str) -> None:
    np.testing.assert_array_equal(searcher.embed_query(text), np.zeros(256, dtype=np.float32))


def test_a_lone_surrogate_is_passed_over_like_punctuation(searcher: StaticEmbedder) -> None:
    np.testing.assert_array_equal(searcher.embed_query("검색\ud800index"), searcher.embed_query("검색 index"))


# --- the same bits everywhere ----------------------------------------------------------------------------


@given(texts=st.lists(TEXTS, max_size=8))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_vector_has_the_same_bits_alone_in_any_batch_and_in_both_ways_of_loading(
    searcher: StaticEmbedder, ingester: StaticEmbedder, texts: list[str]
) -> None:
    alone = [searcher.embed_query(text).tobytes() for text in texts]
    texts = [without_asking(text) for text in texts]

    assert [row.tobytes() for row in searcher.embed_passages(texts)] == alone
    assert [row.tobytes() for row in ingester.embed_passages(texts[::-1])] == alone[::-1]


@given(texts=st.lists(TEXTS, min_size=1, max_size=8))
@settings(deadline=None)
def test_a_row_has_norm_one_or_zero(ingester: StaticEmbedder, texts: list[str]) -> None:
    norms = np.linalg.norm(ingester.embed_passages(texts).astype(np.float64), axis=1)

    assert all(norm == 0 or abs(norm - 1) < 1e-6 for norm in norms)


def test_tokenising_on_one_thread_or_several_gives_the_same_bits(
    ingester: StaticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"검색 엔진 {number} searchEngine" for number in range(200)]
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")
    several = ingester.embed_passages(texts)
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")

    np.testing.assert_array_equal(ingester.embed_passages(texts), several)


def test_a_text_longer_than_a_block_is_summed_whole(tmp_path: Path) -> None:
    embedder = StaticEmbedder(write_model(tmp_path), model_id="tiny")
    text = "cat " * static.BLOCK_TOKENS + "dog " * 2 * static.BLOCK_TOKENS

    np.testing.assert_allclose(embedder.embed_query(text), [0.6, 0.8, 0], rtol=1e-6)


@given(lengths=st.lists(st.sampled_from([0, 1, 400_000, 2_000_000]), max_size=12))
def test_batches_are_bounded_and_cover_all_texts_in_order(lengths: list[int]) -> None:
    texts = ["x" * length for length in lengths]

    batches = list(static._batches(texts))

    assert [number for start, stop in batches for number in range(start, stop)] == list(range(len(texts)))
    assert all(stop - start == 1 or sum(lengths[start:stop]) <= static.BATCH_CHARS for start, stop in batches)


def test_many_short_texts_make_several_batches() -> None:
    assert list(static._batches(["x"] * 1500)) == [(0, 1024), (1024, 1500)]


_FASTEMBED = """
import json, sys
import numpy as np
from fastembed.text.static_embedding import StaticTextEmbedding

folder, texts, vectors = sys.argv[1:]
listed = StaticTextEmbedding._list_supported_models()[0].model
model = StaticTextEmbedding(listed, specific_model_path=folder)
np.save(vectors, np.array(list(model.embed(json.loads(open(texts, encoding="utf-8").read()))), dtype=np.float64))
"""


def test_vectors_agree_with_those_of_fastembed(ingester: StaticEmbedder, tmp_path: Path) -> None:
    texts = ["HNSW 색인과 BM25 색인을 함께 쓴다", "camelCase_and_snake_case", "A static model sees no word order."]
    # 400 characters, because fastembed reads no more than 512 tokens
    texts += [file.read_text("utf-8")[:400] for file in sorted((SHARED / "corpora").rglob("*.md"))[::50]]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    places = [str(BUNDLED_FOLDER), str(tmp_path / "texts.json"), str(tmp_path / "vectors.npy")]

    # A process of its own: onnxruntime has crashed where many other extension modules were loaded before it.
    subprocess.run([sys.executable, "-c", _FASTEMBED, *places], check=True, capture_output=True, timeout=120)

    theirs = np.load(tmp_path / "vectors.npy")
    cosines = (ingester.embed_passages(texts) * theirs).sum(axis=1) / np.linalg.norm(theirs, axis=1)
    assert cosines.min() >= 0.9999


# --- files -----------------------------------------------------------------------------------------------


def test_the_bundled_files_are_those_whose_checksums_are_recorded() -> None:
    lines = (BUNDLED_FOLDER / "SHA256SUMS").read_text().splitlines()

    for checksum, name in (line.split() for line in lines):
        assert hashlib.sha256((BUNDLED_FOLDER / name).read_bytes()).hexdigest() == checksum


def test_a_search_keeps_the_rows_mapped_and_read_only() -> None:
    searcher = StaticEmbedder(BUNDLED_FOLDER, model_id="bundled")
    searcher.embed_query("검색")
    assert "table" not in vars(searcher)  # 60 MB, for passages only
    assert not searcher.rows.flags.writeable
    assert not searcher.rows.flags.owndata


def test_another_folder_loads_under_its_own_name_and_dimension(tmp_path: Path) -> None:
    embedder = load_embedder(Embedding(model_path=write_model(tmp_path / "my-model")))

    assert embedder is not None
    assert (embedder.model_id, embedder.dim) == ("my-model", 3)


def test_the_fingerprint_follows_the_weights_and_not_the_place(tmp_path: Path) -> None:
    def fingerprint(folder: Path) -> str:
        return StaticEmbedder(folder, model_id="tiny").fingerprint

    one = write_model(tmp_path / "one")
    same = write_model(tmp_path / "same")
    other = write_model(tmp_path / "other", weights=WEIGHTS * 2)

    assert len(fingerprint(one)) == 16
    assert fingerprint(one) == fingerprint(same) != fingerprint(other)


def test_the_fingerprint_follows_recorded_checksums(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    fingerprints = set()
    for sums in ("aa  model.safetensors\n", "bb  model.safetensors\n"):
        (folder / "SHA256SUMS").write_text(sums)
        fingerprints.add(StaticEmbedder(folder, model_id="tiny").fingerprint)

    assert len(fingerprints) == 2


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_an_ingest_refuses_a_model_that_is_not_the_one_of_its_checksums(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path)
    names = ("model.safetensors", "tokenizer.json")
    lines = [f"{hashlib.sha256((folder / file).read_bytes()).hexdigest()}  {file}\n" for file in names]
    (folder / "SHA256SUMS").write_text("".join(lines))
    StaticEmbedder(folder, model_id="tiny").embed_passages(["cat"])
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content.replace(b" ", b"\n", 1) if name == "tokenizer.json" else content[:-1] + b"\1")

    StaticEmbedder(folder, model_id="tiny").embed_query("cat")  # a search does not read it all
    with pytest.raises(ModelUnavailableError, match=f"{name}: its checksum is not the one in SHA256SUMS"):
        StaticEmbedder(folder, model_id="tiny").embed_passages(["cat"])


TABLE = safetensors(ROWS, WEIGHTS)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("model.safetensors", None, "No such file"),
        ("tokenizer.json", None, "No such file"),
        ("model.safetensors", b"", "model.safetensors"),
        ("model.safetensors", TABLE[:100], "model.safetensors"),
        ("model.safetensors", TABLE[:-1], "the file ends early"),
        ("model.safetensors", b"\xff" * 200, "model.safetensors"),
        ("model.safetensors", b"\x02" + bytes(7) + b"{}", "the header has no 'embeddings'"),
        ("model.safetensors", b"\x02" + bytes(7) + b"[]", "model.safetensors"),
        ("model.safetensors", TABLE.replace(b"[4, 3]", b"[4, 4]"), "12 bytes cannot be I8 of shape [4, 4]"),
        ("model.safetensors", TABLE.replace(b"[4, 3]", b'"four"'), "model.safetensors"),
        ("model.safetensors", safetensors(ROWS, WEIGHTS, "U8"), "expected values of type I8, got U8"),
        ("model.safetensors", safetensors(ROWS[:3], WEIGHTS[:3]), "got (3, 3) and (3,)"),
        ("model.safetensors", safetensors(ROWS.ravel(), WEIGHTS), "got (12,) and (4,)"),
        ("model.safetensors", safetensors(ROWS[:3], WEIGHTS), "got (3, 3) and (4,)"),
        ("model.safetensors", safetensors(ROWS, WEIGHTS[:3]), "got (4, 3) and (3,)"),
        ("model.safetensors", safetensors(ROWS, WEIGHTS * np.float32("nan")), "a weight is no usable number"),
        ("model.safetensors", safetensors(ROWS, WEIGHTS * np.float32("inf")), "a weight is no usable number"),
        ("tokenizer.json", b"", "Tokenizer"),
        ("tokenizer.json", b"{}", "Tokenizer"),
        ("tokenizer.json", b"\xff\xfe", "Tokenizer"),
    ],
)
def test_a_missing_or_damaged_file_is_a_model_unavailable(
    tmp_path: Path, name: str, content: bytes | None, problem: str
) -> None:
    folder = write_model(tmp_path)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)

    with pytest.raises(ModelUnavailableError) as caught:
        load_embedder(Embedding(model_path=folder))

    assert problem in caught.value.message
    assert (
        name in caught.value.message or "tokens need rows" in caught.value.message or "number" in caught.value.message
    )
    assert caught.value.hint is not None
    assert "models.embedding.model_path" in caught.value.hint


def test_a_missing_folder_is_a_model_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="nowhere is missing"):
        load_embedder(Embedding(model_path=tmp_path / "nowhere"))


def test_a_folder_with_an_onnx_model_is_for_another_provider(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").touch()
    with pytest.raises(ModelUnavailableError) as caught:
        load_embedder(Embedding(model_path=tmp_path))

    assert 'models.embedding.provider = "fastembed"' in str(caught.value.hint)


def test_a_damaged_installation_is_told_from_a_damaged_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static, "BUNDLED_FOLDER", tmp_path)

    with pytest.raises(ModelUnavailableError) as caught:
        StaticEmbedder(tmp_path, model_id="tiny")

    assert caught.value.hint is not None
    assert "install the package again" in caught.value.hint


# --- choosing an embedder --------------------------------------------------------------------------------


def test_static_is_the_bundled_model() -> None:
    embedder = load_embedder(Embedding())

    assert embedder is not None
    assert (embedder.model_id, embedder.dim) == ("static-koen-256", 256)


def test_none_is_no_embedder() -> None:
    assert load_embedder(Embedding(provider="none")) is None


def test_a_static_model_that_is_not_bundled_needs_its_folder() -> None:
    with pytest.raises(ConfigInvalidError, match="'potion'"):
        load_embedder(Embedding(model="potion"))


def test_the_module_loads_no_tokenizer_and_a_query_no_onnxruntime() -> None:
    program = """
import sys
from kebab_stream.config import Embedding
from kebab_stream.embed import load_embedder
assert "tokenizers" not in sys.modules
assert load_embedder(Embedding()).embed_query("검색").any()
assert not {"fastembed", "onnxruntime", "pydantic", "huggingface_hub", "httpx2"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, timeout=60)
