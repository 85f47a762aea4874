"""Training: contrast of pairs and regression onto the teacher, by gradient descent on the table of token vectors.

A text's vector is u = s / |s|, s = Σ_t rows[t]. The model has no other parameter, so its gradients are short
(losses.py, bags.py) and numpy is enough.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.static_model import adam
from tools.static_model.bags import Bags, Encoded, encoded, sum_gradient, tokenised
from tools.static_model.batches import PairTable, Sampler, hold_out, pair_table
from tools.static_model.losses import contrast, regression
from tools.static_model.pairs import Pair
from tools.static_model.start import principal_axes, targets, token_vectors
from tools.static_model.teacher import Lesson

SEED: Final = 0
MAX_TOKENS: Final = 128
REPORT_STEPS: Final = 200

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FitParams:
    """The released model's values."""

    dim: int = 256
    steps: int = 1_700
    batch: int = 768
    """Pairs a step."""
    lessons: int = 256
    """Texts a step, and as many translations."""
    rate: float = 2e-3
    last_rate: float = 2e-5
    regression_weight: float = 1.5
    regression_fall: float = 0.7
    """The regression's weight ends at this share less: the teacher shows the way, the pairs lead further."""


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """What the teacher said."""

    texts: Bags
    translations: Bags
    """A bag of none where a text has no translation."""
    targets: NDArray[np.float32]
    """(texts, dim), L2 norm 1."""


def fit(
    tokenizer: Tokenizer,
    pairs: Sequence[Pair],
    lessons: Sequence[Lesson],
    *,
    taught: NDArray[np.float32],
    taught_tokens: NDArray[np.float32],
    params: FitParams = FitParams(),
) -> NDArray[np.float32]:
    """Token vectors: (vocabulary, params.dim). The same arguments give the same bits on one machine and thread count.

    Args:
        tokenizer: its truncation is set.
        taught: (len(lessons), teacher dim), the teacher's vectors of the lessons' texts.
        taught_tokens: (vocabulary, teacher dim), those of the tokens' texts.
    """
    tokenizer.enable_truncation(MAX_TOKENS)
    rng = np.random.default_rng(SEED)
    table = pair_table(
        pairs,
        tokenised(tokenizer, [pair.first for pair in pairs]),
        tokenised(tokenizer, [pair.second for pair in pairs]),
    )
    seen = sum(np.bincount(bags.ids, minlength=len(taught_tokens)) for bags in (table.first, table.second))
    axes = principal_axes(taught, params.dim, rng)
    material = Lessons(
        tokenised(tokenizer, [lesson.text for lesson in lessons]),
        tokenised(tokenizer, [lesson.translation for lesson in lessons]),
        targets(taught, axes),
    )
    rows = token_vectors(taught_tokens, axes, np.asarray(seen))
    held = hold_out(table, pairs, rng)
    _descend(rows, table, material, held, params, rng)
    return rows


def _descend(
    rows: NDArray[np.float32],
    table: PairTable,
    material: Lessons,
    held: dict[str, NDArray[np.int64]],
    params: FitParams,
    rng: np.random.Generator,
) -> None:
    """Change `rows` in place, `params.steps` times."""
    sampler, optimiser = Sampler(table, rng, params.batch), adam.SparseAdam(rows)
    texts = np.flatnonzero(material.texts.lengths > 0)
    translations = np.flatnonzero(material.translations.lengths > 0)
    losses = np.zeros(2)
    logger.info("%d pairs, errors %s", len(table.weights), _errors(rows, table, held))
    for step in range(params.steps):
        done = step / params.steps
        batch = sampler.draw()
        drawn = rng.choice(texts, params.lessons), rng.choice(translations, params.lessons)
        sides = [encoded(rows, bags.take(batch)) for bags in (table.first, table.second)]
        sides += [
            encoded(rows, bags.take(numbers))
            for bags, numbers in zip((material.texts, material.translations), drawn, strict=True)
        ]
        weight = params.regression_weight * (1 - params.regression_fall * done)
        step_losses, slopes = _slopes(sides, table.equal(batch), [material.targets[each] for each in drawn], weight)
        ids, gradients = _row_gradients(sides, slopes)
        optimiser.step(ids, gradients, rate=params.rate * (1 - done) + params.last_rate)
        losses += step_losses
        if step % REPORT_STEPS == REPORT_STEPS - 1:
            means = losses / REPORT_STEPS
            logger.info("%d: contrast %.3f, regression %.3f, errors %s", step + 1, *means, _errors(rows, table, held))
            losses[:] = 0


def _slopes(
    sides: Sequence[Encoded],
    equal: NDArray[np.bool_],
    wanted: Sequence[NDArray[np.float32]],
    weight: float,
) -> tuple[tuple[float, float], list[NDArray[np.float32]]]:
    """(contrast, regression) and the gradients of contrast + weight · regression at the four sides' units."""
    contrast_loss, first, second = contrast(sides[0].units, sides[1].units, equal)
    text_loss, text = regression(sides[2].units, wanted[0])
    translation_loss, translation = regression(sides[3].units, wanted[1])
    scale = np.float32(weight)
    return (contrast_loss, text_loss + translation_loss), [first, second, scale * text, scale * translation]


def _row_gradients(
    sides: Sequence[Encoded], slopes: Sequence[NDArray[np.float32]]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    return adam.summed(
        [side.bags.ids for side in sides],
        [sum_gradient(side, slope) for side, slope in zip(sides, slopes, strict=True)],
        [side.bags.lengths for side in sides],
    )


def _errors(rows: NDArray[np.float32], table: PairTable, held: dict[str, NDArray[np.int64]]) -> str:
    """Of each source, the share of held-out first texts to which another second text is closer than their own."""
    shares = []
    for source, numbers in held.items():
        first, second = (encoded(rows, bags.take(numbers)).units for bags in (table.first, table.second))
        scores = first @ second.T
        wrong = (scores > scores.diagonal()[:, np.newaxis]).any(axis=1).mean()
        shares.append(f"{source} {wrong:.3f}")
    return ", ".join(shares)
