"""Quoted parts of a query: a chunk that contains one as written counts as having one more, rare, term.

A phrase enters BM25 like a term of its own, with the number of chunks that contain it as its document frequency. So
scores stay BM25, a phrase that stands everywhere is worth little, and nothing is excluded.
"""

import re
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from kebab_stream.analyser import fold, terms
from kebab_stream.index.generation import Generation
from kebab_stream.index.lexical import Occurrences

_QUOTED = re.compile('"([^"]*)"|“([^“”]*)”|「([^「」]*)」|『([^『』]*)』')
_WORD = r"[^\W\u0590-\u1dff\u2000-\U0010ffff]"
"""A digit, `_` or a letter of Latin, Greek, Cyrillic or Armenian: scripts whose words nothing is written to."""
# Not compiled here: that takes 1.5 ms, and few queries quote.
_HANGUL = r" ?[가-힣][가-힣 ]*"
_JOINT = r"(?<=[가-힣]) ?(?=[가-힣])"

MAX_PHRASES = 16
"""Each costs a look through all texts, and nobody types more; a pasted page may have thousands."""


def find_phrases(generation: Generation, query: str) -> list[Occurrences]:
    """Where the quoted parts of a query stand, each part once, in the order of the query.

    Of more than `MAX_PHRASES` different parts the rest are no phrases: their words still count as terms.
    """
    parts = dict.fromkeys(fold("".join(groups)) for groups in _QUOTED.findall(query))
    return [_find(generation, part) for part in islice(filter(terms, parts), MAX_PHRASES)]


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """What a folded phrase looks like in a folded text.

    Words of Latin, Greek, Cyrillic and Armenian are whole words, but may go on in another script, since particles are
    written to them: `docker를`. Words of other scripts may stand inside longer ones. Between Hangul syllables a space
    may stand or not, since people write `하이브리드 검색` and `하이브리드검색`.
    """
    pattern = re.sub(_JOINT, " ?", re.escape(re.sub(_JOINT, "", phrase)))
    start = rf"(?<!{_WORD})" if re.match(_WORD, phrase[0]) else ""
    end = rf"(?!{_WORD})" if re.match(_WORD, phrase[-1]) else ""
    return re.compile(start + pattern + end)


def _find(generation: Generation, phrase: str) -> Occurrences:
    pattern = phrase_pattern(phrase)
    numbers = np.flatnonzero(_may_contain(generation, phrase))
    counts = np.array(
        [len(pattern.findall(generation.texts.raw(number).decode("utf-8", "replace"))) for number in numbers.tolist()],
        np.int64,
    )
    return Occurrences(numbers[counts > 0], counts[counts > 0])


def _may_contain(generation: Generation, phrase: str) -> NDArray[np.bool_]:
    """(n_chunks,) False for chunks that surely lack the phrase.

    What is not Hangul stands there as it is. Two neighbouring syllables are a pair that the index knows, or have a
    space between them; one such two is enough to look for, the rarest.
    """
    possible = np.ones(generation.texts.n_chunks, dtype=np.bool_)
    for part in filter(None, re.split(_HANGUL, phrase)):
        possible &= generation.texts.containing(part)
    joined = re.sub(_JOINT, "", phrase)
    pairs = [a + b for a, b in pairwise(joined) if re.fullmatch(_HANGUL, a) and re.fullmatch(_HANGUL, b)]
    if pairs:
        rarest = min(pairs, key=generation.lexical.document_frequency)
        paired = generation.texts.containing(" ".join(rarest))
        paired[generation.lexical.chunks_with(rarest)] = True
        possible &= paired
    return possible
