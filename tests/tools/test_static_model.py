"""The recipe of the bundled model: all of it on a toy corpus, and its files beside the released ones."""

import filecmp
import json
import random
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kebab_stream.embed.static import (
    BUNDLED_FOLDER,
    SUMS_FILE,
    TOKENIZER_FILE,
    UNKNOWN_TOKEN,
    WEIGHTS_FILE,
    StaticEmbedder,
)
from tools.static_model import __main__ as recipe
from tools.static_model import vocabulary
from tools.static_model.adam import SparseAdam, summed
from tools.static_model.bags import encoded, of, sum_gradient
from tools.static_model.export import CONFIG_FILE, quantised, safetensors, write_model
from tools.static_model.fit import FitParams
from tools.static_model.losses import contrast, regression
from tools.static_model.pairs import Collector

WORDS = {
    "server": "서버", "database": "데이터베이스", "restore": "복원", "backup": "백업", "wiki": "위키", "user": "사용자",
    "cluster": "클러스터", "deploy": "배포", "service": "서비스", "volume": "볼륨", "network": "네트워크",
    "policy": "정책", "token": "토큰", "index": "색인", "search": "검색", "query": "질의", "kettle": "주전자",
    "harvest": "수확", "tea": "녹차", "garden": "정원", "winter": "겨울", "river": "강물", "bread": "식빵",
    "salt": "소금",
}  # fmt: skip
FILES = sorted([CONFIG_FILE, SUMS_FILE, TOKENIZER_FILE, WEIGHTS_FILE])
PARTICLES = ("은", "를", "에서", "")
TOY = FitParams(dim=12, steps=60, batch=48, lessons=48)


def sentence(rng: random.Random) -> tuple[str, str]:
    """An English sentence and its Korean translation."""
    words = rng.sample(sorted(WORDS), 4)
    return " ".join(words) + ".", " ".join(f"{WORDS[word]}{rng.choice(PARTICLES)}" for word in words) + "."


def write_pages(folder: Path) -> None:
    """A small documentation in English and Korean."""
    rng = random.Random(3)
    for number in range(12):
        page = [[sentence(rng) for _ in range(6)] for _ in range(3)]
        for language, suffix in enumerate(("en", "ko")):
            blocks = [f"## {part[0][language]}\n\n" + "\n\n".join(text[language] for text in part) for part in page]
            path = folder / suffix / f"page{number}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n\n".join(blocks), encoding="utf-8")


def particles_off(run: str) -> list[tuple[str, str]]:
    """The smallest analyser that serves: a noun, and the particle behind it."""
    particle = next(each for each in PARTICLES if run.endswith(each))
    noun = run.removesuffix(particle)
    return [(noun, "NNG"), (particle, "JX")] if particle else [(noun, "NNG")]


def english_only(texts: Sequence[str]) -> NDArray[np.float32]:
    """A teacher that understands English words, and takes any other text for noise."""
    meanings = dict(zip(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 32)), strict=True))
    vectors = []
    for text in texts:
        known = [meanings[word] for word in text.replace(".", " ").split() if word in meanings]
        vectors.append(
            np.sum(known, axis=0) if known else np.random.default_rng(zlib.crc32(text.encode())).normal(size=32)
        )
    return np.array(vectors, dtype=np.float32)


def train(folder: Path, params: FitParams) -> Path:
    """Each stage of the recipe on the toy pages; returns the model folder."""
    folder.mkdir()
    write_pages(folder)
    collector = Collector(random.Random(1))
    collector.add_translated_pages(folder / "en", folder / "ko", "toy")
    pairs, snippets = collector.shuffled()
    recipe.write_rows(folder / recipe.PAIRS, pairs)
    recipe.write_rows(folder / recipe.TEXTS, snippets)
    recipe.tokenise(folder, particles_off, lambda _: {}, (60, 60))
    recipe.teach(folder, english_only)
    recipe.train(folder, params)
    recipe.export(folder, folder / "model")
    return folder / "model"


def own_rank_share(model: Path) -> float:
    """How many of 40 new English sentences have their own translation nearest."""
    embedder = StaticEmbedder(model, model_id="toy")
    rng = random.Random(8)
    english, korean = zip(*(sentence(rng) for _ in range(40)), strict=True)
    scores = embedder.embed_passages(english) @ embedder.embed_passages(korean).T
    return float(np.mean(scores.argmax(axis=1) == np.arange(40)))


@pytest.fixture(scope="module")
def toy_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("recipe") / "work", TOY)


def test_a_sentence_finds_its_translation_after_training_and_does_not_before(toy_model: Path, tmp_path: Path) -> None:
    untrained = train(tmp_path / "work", replace(TOY, steps=0))

    assert own_rank_share(untrained) < 0.2
    assert own_rank_share(toy_model) > 0.9


def test_the_same_texts_give_the_same_bytes(toy_model: Path, tmp_path: Path) -> None:
    again = train(tmp_path / "work", TOY)

    assert sorted(path.name for path in toy_model.iterdir()) == FILES
    assert [name for name in FILES if not filecmp.cmp(again / name, toy_model / name, shallow=False)] == []


def test_particles_come_off_and_camel_case_is_parted(toy_model: Path) -> None:
    tokenizer = Tokenizer.from_file(str(toy_model / TOKENIZER_FILE))

    assert tokenizer.encode("데이터베이스를 searchIndex, 42").tokens == ["데이터베이스", "를", "search", "index", "42"]


@pytest.fixture(scope="module")
def released() -> StaticEmbedder:
    return StaticEmbedder(BUNDLED_FOLDER, model_id="released")


def test_the_released_model_written_again_has_the_same_bytes(released: StaticEmbedder, tmp_path: Path) -> None:
    ranked = json.loads((BUNDLED_FOLDER / TOKENIZER_FILE).read_bytes())["model"]["vocab"]
    vocabulary.write_tokenizer(tmp_path / "tokenizer.json", [(piece, score) for piece, score in ranked])

    write_model(tmp_path / "model", released.rows, released.weights, tmp_path / "tokenizer.json")

    assert [
        name for name in FILES if not filecmp.cmp(tmp_path / "model" / name, BUNDLED_FOLDER / name, shallow=False)
    ] == []


def test_released_rows_multiplied_out_are_quantised_to_the_same_rows_again(released: StaticEmbedder) -> None:
    rows, weights = quantised(released.table)

    known = slice(UNKNOWN_TOKEN + 1, None)
    assert np.array_equal(rows[known], released.rows[known])
    np.testing.assert_allclose(weights[known], released.weights[known], rtol=1e-6)


def test_a_quantised_vector_is_off_by_half_a_weight_at_most() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 8)).astype(np.float32)
    vectors[3] = 0

    rows, weights = quantised(vectors)

    assert np.all(np.abs(rows * weights[:, np.newaxis] - vectors) <= weights[:, np.newaxis] * 0.5001)
    assert np.abs(rows).max(axis=1).tolist() == [127] * 3 + [0] + [127] * 46


def test_a_header_of_any_length_is_padded_to_eight_bytes() -> None:
    for vocabulary_size in (1, 10, 100, 1_000):
        content = safetensors(np.ones((vocabulary_size, 2), np.int8), np.ones(vocabulary_size, np.float32))

        assert int.from_bytes(content[:8], "little") % 8 == 0


def test_gradients_are_those_of_the_losses() -> None:
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((9, 5)).astype(np.float32)
    bags = of([np.array([0, 1]), np.array([2, 2, 3]), np.array([4])])
    second = encoded(rows, of([np.array([5]), np.array([6, 7]), np.array([8, 1])])).units
    wanted = encoded(rows, of([np.array([3]), np.array([4]), np.array([5])])).units
    equal = np.zeros((3, 3), dtype=bool)
    equal[0, 1] = equal[1, 0] = True

    def loss(table: NDArray[Any]) -> float:
        units = encoded(table.astype(np.float64), bags).units
        return contrast(units, second.astype(np.float64), equal)[0] + 2 * regression(units, wanted)[0]

    side = encoded(rows, bags)
    slope = contrast(side.units, second, equal)[1] + 2 * regression(side.units, wanted)[1]
    ids, gradients = summed([bags.ids], [sum_gradient(side, slope)], [bags.lengths])
    expected = np.zeros_like(rows)
    for place in np.ndindex(rows.shape):
        step = np.zeros(rows.shape)
        step[place] = 1e-5
        expected[place] = (loss(rows + step) - loss(rows - step)) / 2e-5

    assert ids.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(gradients, expected[:5], rtol=1e-3, atol=1e-3)


def test_pairs_that_share_a_text_do_not_push_each_other_away() -> None:
    units = np.eye(2, dtype=np.float32)[[0, 0]]
    none, shared = np.zeros((2, 2), dtype=bool), np.ones((2, 2), dtype=bool)

    assert contrast(units, units, none)[0] == pytest.approx(np.log(2))
    assert contrast(units, units, shared)[0] == pytest.approx(0)


def test_the_first_step_of_adam_is_as_long_as_the_rate_and_leaves_other_rows_alone() -> None:
    rows = np.zeros((3, 2), dtype=np.float32)

    SparseAdam(rows).step(np.array([1]), np.array([[5, -0.5]], dtype=np.float32), rate=0.1)

    np.testing.assert_allclose(rows, np.array([[0, 0], [-0.1, 0.1], [0, 0]]), rtol=1e-4)
