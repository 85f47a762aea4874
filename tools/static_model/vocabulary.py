"""The vocabulary: Korean morphemes, English words, and small pieces for all other words, in a Unigram tokenizer.

The scores are almost flat, so the best segmentation (Kudo 2018, "Subword Regularization") is the one with the fewest
pieces, and particles come off: 데이터베이스|를.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from tools.static_model.markup import HANGUL
from tools.static_model.pairs import Pair, Snippet

Morphemes = Callable[[str], list[tuple[str, str]]]
"""A run of Hangul → its morphemes with their part of speech in the Sejong tag set."""
Frequencies = Mapping[str, float]
"""Word → share of all words."""

KOREAN_WORDS: Final = 28_000
ENGLISH_WORDS: Final = 28_500
FRAGMENTS: Final = 2_500
OTHER_LETTERS: Final = 500
MADE_OF_OTHERS: Final = ("heading", "cloze", "cross_heading", "parallel_section")
"""Pairs whose texts are counted elsewhere."""
UNKNOWN: Final = "<unk>"

_CAMEL: Final = r"(?<=[a-z0-9])(?=[A-Z])"
_RUNS: Final = re.compile(r"[가-힣]+|[a-zà-ÿ]+|\d+|[^\W\d_a-zà-ÿ가-힣]+")
_PARTICLES: Final = frozenset(
    (
        "", "은", "는", "이", "가", "을", "를", "의", "에", "에서", "로", "으로", "와", "과", "도", "만", "에게",
        "에는", "에서는", "부터", "까지", "라는", "이라는", "보다", "처럼", "이나", "나",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Counts:
    """How often the texts hold each word, by script."""

    morphemes: Counter[str] = field(default_factory=Counter)
    syllables: Counter[str] = field(default_factory=Counter)
    """Hangul, one for each different run that holds it."""
    latin: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    """Letters of other scripts, likewise."""


def mecab() -> Morphemes:
    """The released model's analyser."""
    import mecab as library

    tagger = library.MeCab()
    return lambda run: [(str(morpheme), str(tag)) for morpheme, tag in tagger.pos(run)]


def word_frequencies(language: str) -> Frequencies:
    """Shares of words in general text (Speer 2022, wordfreq)."""
    from wordfreq import get_frequency_dict

    return dict(get_frequency_dict(language, "best"))


def runs(pairs: Iterable[Pair], snippets: Iterable[Snippet]) -> Counter[str]:
    """How often each run of letters of one script or of digits occurs, in lower case, camelCase parted."""
    texts = [snippet.text for snippet in snippets]
    texts += [f"{pair.first} {pair.second}" for pair in pairs if pair.kind not in MADE_OF_OTHERS]
    found: Counter[str] = Counter()
    for text in texts:
        found.update(_RUNS.findall(re.sub(_CAMEL, " ", text).lower()))
    return found


def count(found: Mapping[str, int], analyse: Morphemes) -> Counts:
    """Runs → words; a noun the analyser does not know counts as one word, beside its parts."""
    counts = Counts()
    for run, times in found.items():
        if HANGUL.match(run):
            counts.syllables.update(run)
            for morpheme, _ in analyse(run):
                counts.morphemes[morpheme] += times
        elif "a" <= run[0] <= "ÿ":
            counts.latin[run] += times
        elif not run[0].isdigit():
            counts.others.update(run)
    counts.morphemes.update(_unknown_nouns(found, counts.morphemes, analyse))
    return counts


def _unknown_nouns(found: Mapping[str, int], known: Mapping[str, int], analyse: Morphemes) -> dict[str, int]:
    """Stems of 3 to 8 syllables (쿠버네티스) seen 30 times, with at least 4 particles, no verb inside."""
    times: Counter[str] = Counter()
    endings: defaultdict[str, set[str]] = defaultdict(set)
    for run, seen in found.items():
        if HANGUL.match(run):
            for length in range(3, min(9, len(run) + 1)):
                if run[length:] in _PARTICLES:
                    times[run[:length]] += seen
                    endings[run[:length]].add(run[length:])
    return {
        stem: seen
        for stem, seen in times.items()
        if seen >= 30
        and len(endings[stem]) >= 4
        and stem not in known
        and not any(tag[0] in "VEJXM" for _, tag in analyse(stem))
    }


def common(counts: Mapping[str, int], general: Frequencies, pattern: str, size: int) -> dict[str, float]:
    """The `size` words with the greatest mean of both shares, ties by the word: word → share.

    Words seen less than 3 times or longer than 24 letters, and those of `general` that do not match, are left out.
    """
    total = sum(counts.values())
    shares = {word: 0.5 * seen / total for word, seen in counts.items() if seen >= 3 and len(word) <= 24}
    for word, share in general.items():
        if re.fullmatch(pattern, word):
            shares[word] = shares.get(word, 0) + 0.5 * share
    return dict(_most(shares, size))


def pieces(
    counts: Counts, korean: Frequencies, english: Frequencies, *, sizes: tuple[int, int] = (KOREAN_WORDS, ENGLISH_WORDS)
) -> list[tuple[str, float]]:
    """(piece, score), score descending, ties by the piece, the unknown one first.

    A word scores −10 + 0.3 · ln(share); what is no word scores less than any: the segmentation uses it at need.
    """
    korean_words = common(counts.morphemes, korean, "[가-힣]+", sizes[0])
    english_words = common(counts.latin, english, "[a-z]+", sizes[1])
    scores = {word: -10 + 0.3 * math.log(share) for word, share in {**korean_words, **english_words}.items()}
    for group, score in (
        (_numbers(), -13.0),
        (sorted(counts.syllables), -17.0),
        ("abcdefghijklmnopqrstuvwxyz", -16.0),
        (_fragments(counts.latin, english_words), -15.5),
        ([letter for letter, _ in _most(counts.others, OTHER_LETTERS)], -16.0),
    ):
        for piece in group:
            scores.setdefault(piece, score)
    ranked = sorted(((piece, round(score, 3)) for piece, score in scores.items()), key=lambda each: (-each[1], each[0]))
    return [(UNKNOWN, 0.0), *ranked]


def _numbers() -> list[str]:
    return [f"{n}" for n in range(10)] + [f"{n:02}" for n in range(100)] + [f"{n}" for n in range(1900, 2031)]


def _fragments(latin: Mapping[str, int], words: Mapping[str, float]) -> list[str]:
    """Runs of 2 to 4 letters, the most frequent in words outside the vocabulary; a word counts 3 times at most."""
    found: Counter[str] = Counter()
    for word, seen in latin.items():
        if word not in words:
            grams = {word[start : start + size] for size in (2, 3, 4) for start in range(len(word) - size + 1)}
            for gram in grams:
                found[gram] += min(seen, 3)
    return [gram for gram, _ in _most(found, FRAGMENTS)]


def _most(numbers: Mapping[str, float], size: int) -> list[tuple[str, float]]:
    return sorted(numbers.items(), key=lambda each: (-each[1], each[0]))[:size]


def write_tokenizer(path: Path, ranked: list[tuple[str, float]]) -> None:
    """Write `tokenizer.json`: NFKC, camelCase parted, lower case; runs of one script or of digits, the rest dropped."""
    tokenizer = Tokenizer(models.Unigram(ranked, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(_CAMEL), " "), normalizers.Lowercase()]
    )
    scripts = r"\p{Hangul}+|\p{Latin}+|\p{Nd}+|[^\p{Hangul}\p{Latin}\p{Nd}\P{L}]+"
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(scripts), "removed", invert=True)
    tokenizer.save(str(path), pretty=False)
