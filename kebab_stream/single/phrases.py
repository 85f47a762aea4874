"""Quoted parts of a query: a chunk that contains one as written counts as having one more, rare, term.

A phrase enters BM25 like a term of its own, with the number of chunks that contain it as its document frequency. So
scores stay BM25, a phrase that stands everywhere is worth little, and nothing is excluded.
"""

import re
from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from kebab_stream.analyser import fold, terms
from kebab_stream.index.generation import Generation
from kebab_stream.index.lexical import Occurrences

_QUOTED = re.compile('"([^"]*)"|“([^”]*)”|「([^」]*)」|『([^』]*)』')
_LAST_LETTER_OF_SPACED_SCRIPTS = "\u058f"
"""Latin, Greek, Cyrillic and Armenian come before it: scripts whose words stand between spaces."""


def find_phrases(generation: Generation, query: str) -> list[Occurrences]:
    """Where the quoted parts of a query stand, each part once, in the order of the query."""
    parts = (fold("".join(groups)) for groups in _QUOTED.findall(query))
    return [_find(generation, part) for part in dict.fromkeys(parts) if terms(part)]


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """What a folded phrase looks like in a folded text.

    Words are whole words. Between Hangul syllables a space may stand or not, since people write `하이브리드 검색` and
    `하이브리드검색`; and a Hangul word may go on, since particles are written to it.
    """
    spaced = re.sub(r"(?<=[가-힣]) (?=[가-힣])", "", phrase)
    pattern = re.sub(r"(?<=[가-힣])(?=[가-힣])", " ?", re.escape(spaced))
    start = r"(?<!\w)" if _is_spaced(phrase[0]) else ""
    end = r"(?!\w)" if _is_spaced(phrase[-1]) else ""
    return re.compile(start + pattern + end)


def _find(generation: Generation, phrase: str) -> Occurrences:
    pattern = phrase_pattern(phrase)
    numbers = np.flatnonzero(_may_contain(generation, phrase))
    counts = np.array(
        [len(pattern.findall(generation.texts.raw(number).decode("utf-8"))) for number in numbers.tolist()], np.int64
    )
    return Occurrences(numbers[counts > 0], counts[counts > 0])


def _may_contain(generation: Generation, phrase: str) -> NDArray[np.bool_]:
    """(n_chunks,) False for chunks that surely lack the phrase, by the terms they have."""
    wanted = set(terms(phrase))
    syllable_pairs = {term for term in wanted if "가" <= term[0] <= "힣" and len(term) > 1}
    possible = np.ones(generation.texts.n_chunks, dtype=np.bool_)
    for term in sorted(wanted - syllable_pairs):
        if _is_spaced(term[0]) or len(term) > 1:
            possible &= _with_any(generation, {term})
        else:
            possible &= generation.texts.containing(term)  # one character, which the index knows in pairs only
    # One pair is enough: a space in the text may part the others.
    return possible & _with_any(generation, syllable_pairs) if syllable_pairs else possible


def _with_any(generation: Generation, wanted: Set[str]) -> NDArray[np.bool_]:
    found = np.zeros(generation.texts.n_chunks, dtype=np.bool_)
    for term in wanted:
        found[generation.lexical.chunks_with(term)] = True
    return found


def _is_spaced(char: str) -> bool:
    return char.isalnum() and char <= _LAST_LETTER_OF_SPACED_SCRIPTS
