"""Text to search terms: the one analysis that chunks and queries share.

The text is normalised to NFKC and cut into runs of one script. What a run gives:

- Hangul; scripts written without spaces (Han and Kana as one script, since Japanese mixes them within a word; Thai,
  Lao, Khmer, Myanmar): its character bigrams; a run of one character gives itself. Bigrams need no dictionary.
  Hangul, which has spaces, also gives its first two characters as a term of their own, marked `^`: particles and
  endings stand at the end of a Korean word, so its beginning tells most. 전쟁에서 → 전쟁, 쟁에, 에서, ^전쟁.
- Anything else (Latin, Cyrillic, Arabic, …, digits, `_`) is a word. A plain word gives one term: case folded, Latin
  diacritics removed, stemmed (Snowball English). An identifier (camelCase, `snake_case`, `utf8`) gives itself whole,
  then each part as if it were a word: `getUserName` → getusernam, get, user, name. The whole is stemmed like a plain
  word, so that `getusername` finds it too. Hyphens and dots separate words.

Words longer than `MAX_TERM_CHARS` (encoded data, mostly) give that many characters as the whole and no more than
`MAX_PARTS` parts, so no text makes a giant term and the time is linear in the text.
"""

import re
import unicodedata
from functools import lru_cache
from operator import add
from threading import Lock

import Stemmer

ANALYSER_VERSION = "2"
"""Changes whenever a text may give other terms than before; an index keeps the version it was built with."""

MAX_TERM_CHARS = 64
MAX_PARTS = 64

_HANGUL = r"\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
_HAN_AND_KANA = (
    r"\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_SOUTH_EAST_ASIAN = r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
_SPACELESS = _HAN_AND_KANA + _SOUTH_EAST_ASIAN

# Python's \w leaves out combining marks, but they continue a word (vowel signs, accents without a composed form).
# Whole blocks are named: a mark never starts a word, so letters and stray signs among them do no harm.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u0711-\u074a\u0816-\u082d\u0898-\u0963\u0966-\u0dff\u0f71-\u0fbc\u1dc0-\u1dff\u20d0-\u20dc\ufe20-\ufe2f"
)
_RUN = re.compile(
    rf"([{_HANGUL}]+|[{_SPACELESS}]+)"
    rf"|((?=\w)(?:[^\W{_HANGUL}{_SPACELESS}]+|[{_MARKS}]+)+)"
    r"(?:['’](?i:s|t|re|ve|ll|d|m)\b)?"  # user's, don't: the English ending is no term
)
_HANGUL_FIRST = re.compile(f"[{_HANGUL}]")
_BEGINNING = "^"
"""Marks the beginning of a word; no other term has it."""
_SMALL_LETTER = r"[^\W\d_A-Z]"  # as far as borders go: diacritics are gone by then, other alphabets have no camelCase
_PART = re.compile(
    r"[A-Z]{2,}s(?![^\W\d_])"  # APIs, URLs: a plural, no border
    rf"|[A-Z]+(?!{_SMALL_LETTER})"  # HTTP before Server
    rf"|[A-Z]?(?:{_SMALL_LETTER}|[{_MARKS}])+"
    r"|\d+"
)
_LATIN_DIACRITICS = re.compile(r"(?<=[A-Za-z])[\u0300-\u036f]+")
# Soft hyphens, joiners, marks of byte order and variation selectors are invisible: exam\u00adple is one word.
_INVISIBLE = re.compile(r"[\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+")
# Normalising sorts combining marks in quadratic time; no writing system stacks 30 (UAX #15, stream-safe text).
_TOO_MANY_MARKS = re.compile(r"([^\w\s\x00-\x7f]{30})[^\w\s\x00-\x7f]+")

_stemmer = Stemmer.Stemmer("english", 0)
_stemmer_lock = Lock()


def terms(text: str) -> list[str]:
    """Analyse a text or a query.

    Never raises, whatever the string holds. Canonically equivalent texts give the same terms.

    Returns:
        Terms in text order, repeats kept, each of 1…`MAX_TERM_CHARS` code points; none for punctuation only.
    """
    if not text.isascii():
        text = _normalised(text)
    found: list[str] = []
    for spaceless, word in _RUN.findall(text):
        if spaceless:
            found += map(add, spaceless, spaceless[1:]) if len(spaceless) > 1 else spaceless
            if len(spaceless) > 1 and _HANGUL_FIRST.match(spaceless):
                found.append(_BEGINNING + spaceless[:2])
        else:
            found += _remembered(word) if len(word) <= MAX_TERM_CHARS else _word_terms(word)
    return found


def fold(text: str) -> str:
    """The text as "contains" compares it: NFKC, case folded, white space collapsed to single spaces.

    Never raises. Folding again changes nothing.
    """
    return " ".join(unicodedata.normalize("NFKC", _normalised(text).casefold()).split())


def _normalised(text: str) -> str:
    visible = _INVISIBLE.sub("", text)
    return unicodedata.normalize("NFKC", _TOO_MANY_MARKS.sub(r"\1", visible))


def _word_terms(word: str) -> tuple[str, ...]:
    word = _without_latin_diacritics(word).strip("_")
    if word.isupper():  # no camelCase; and _PART knows no capitals beyond A-Z
        word = word.lower()
    parts = []
    for part in _PART.finditer(word):
        parts.append(part.group())
        if len(parts) == MAX_PARTS:
            break
    if len(parts) < 2:
        return tuple(_stem(part) for part in parts)
    return (_stem(word), *(_stem(part) for part in parts))


_remembered = lru_cache(maxsize=1 << 15)(_word_terms)


def _without_latin_diacritics(word: str) -> str:
    if word.isascii():
        return word
    bare = _LATIN_DIACRITICS.sub("", unicodedata.normalize("NFKD", word))
    return unicodedata.normalize("NFKC", bare)


def _stem(word: str) -> str:
    folded = word[:MAX_TERM_CHARS].casefold()
    if not folded.isascii():  # English endings are ASCII
        return unicodedata.normalize("NFKC", folded)[:MAX_TERM_CHARS]
    with _stemmer_lock:
        stemmed: str = _stemmer.stemWord(folded)
    return stemmed
