"""Text to search terms: the one analysis that chunks and queries share.

The text is normalised to NFKC and cut into runs of one script. What a run gives:

- Hangul; scripts written without spaces (Han and Kana as one script, since Japanese mixes them within a word; Thai,
  Lao, Khmer, Myanmar): its character bigrams; a run of one character gives itself. Bigrams need no dictionary.
  Hangul, which has spaces, also gives its first two characters as a term of their own, marked `^`: particles and
  endings stand at the end of a Korean word, so its beginning tells most. 전쟁에서 → 전쟁, 쟁에, 에서, ^전쟁.
- Anything else (Latin, Cyrillic, Arabic, …, digits, `_`) is a word. A plain word gives one term: case folded, Latin
  diacritics removed, stemmed (Snowball English). An identifier (camelCase, `snake_case`, `utf8`) gives itself whole,
  then each part as if it were a word: `getUserName` → getusernam, get, user, name. The whole is stemmed like a plain
  word, so that `getusername` finds it too. Words with hyphens between them also give themselves written together, if
  they begin with a letter: `e-mail` → email, e, mail. Dots separate words.

Words longer than `MAX_TERM_CHARS` (encoded data, mostly) give that many characters as the whole and no more than
`MAX_PARTS` parts, so no text makes a giant term and the time is linear in the text.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from operator import add
from threading import Lock

import Stemmer

ANALYSER_VERSION = "3"
"""Changes whenever a text may give other terms than before; an index keeps the version it was built with."""

MAX_TERM_CHARS = 64
MAX_PARTS = 64


class Script(IntEnum):
    """What a text is written in, as far as it tells languages apart. The numbers are stored."""

    LATIN = 0
    """Also what has no letters."""
    HANGUL = 1
    HAN = 2
    """Chinese, and Japanese with its Kana."""
    OTHER = 3


_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
_HAN_AND_KANA = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_SOUTH_EAST_ASIAN = r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
_SPACELESS = _HAN_AND_KANA + _SOUTH_EAST_ASIAN
_LATIN = "A-Za-z\u00aa-\u02af\u1e00-\u1eff\uff21-\uff5a"
_BESIDES_LATIN = (Script.HANGUL, Script.HAN, Script.OTHER)


def _ranges(characters: str) -> list[tuple[str, str]]:
    """First and last of each range of a class of characters, `a-zA-Z`."""
    return list(zip(characters[::3], characters[2::3], strict=True))


_LETTERS = {
    Script.LATIN: _ranges(_LATIN),
    Script.HANGUL: _ranges(_HANGUL),
    Script.HAN: _ranges(_HAN_AND_KANA),
}

# Python's \w leaves out combining marks, but they continue a word (vowel signs, accents without a composed form).
# Whole blocks are named: a mark never starts a word, so letters and stray signs among them do no harm.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u0711-\u074a\u0816-\u082d\u0898-\u0963\u0966-\u0dff\u0f71-\u0fbc\u1dc0-\u1dff\u20d0-\u20dc\ufe20-\ufe2f"
)
_WORD = rf"(?=\w)(?:[^\W{_HANGUL}{_SPACELESS}]+|[{_MARKS}]+)+"
_RUN = re.compile(
    rf"([{_HANGUL}]+)|([{_SPACELESS}]+)"
    rf"|({_WORD}(?:[-‐]{_WORD})*)"
    r"(?:['’](?i:s|t|re|ve|ll|d|m)\b)?"  # user's, don't: the English ending is no term
)
_HYPHEN = re.compile("[-‐]")  # the second one is U+2010; NFKC makes it of U+2011
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

# Words that are names in code (if, for, not, with, …) are not among these.
_ASKING = ("what", "which", "who", "whom", "whose", "when", "where", "why", "how")
_JOINING = ("a", "an", "the", "of", "to", "in", "is", "are", "was", "were", "be", "been", "by", "at", "on", "it", "its")
_EMPTY_ENGLISH = frozenset((*_ASKING, *_JOINING))
_EMPTY_KOREAN = re.compile(
    "(?:무엇|무슨|뭐|누구|언제|어디|얼마)[가-힣]{0,5}"  # with endings: 무엇입니까, 언제였나요
    "|누가|어느|어떤|어떻게|어떠한|왜|몇"
)
_LEAST_ASKED_FOR = 3

_stemmer = Stemmer.Stemmer("english", 0)
_stemmer_lock = Lock()


def terms(text: str) -> list[str]:
    """Analyse a text, or a query as it is written.

    Never raises, whatever the string holds. Canonically equivalent texts give the same terms.

    Returns:
        Terms in text order, repeats kept, each of 1…`MAX_TERM_CHARS` code points; none for punctuation only.
    """
    found: list[str] = []
    for hangul, spaceless, words in _runs(text):
        found += _latin_terms(words) if words else _hangul_terms(hangul) if hangul else _bigrams(spaceless)
    return found


def query_terms(text: str) -> list[str]:
    """What a query looks for: its terms without those of the words that only ask or join, `what`, `무엇입니까`, `of`.

    No passage is known by these, but those that ask are rare in texts that answer, and all English ones are in texts of
    another language; BM25 takes rare words for important ones. They stay where fewer than `_LEAST_ASKED_FOR` terms
    would be left: a short query names things, such as `where` of SQL, and so does a word in capitals.
    """
    found: list[str] = []
    for hangul, spaceless, words in _runs(text):
        if hangul:
            found += () if _EMPTY_KOREAN.fullmatch(hangul) else _hangul_terms(hangul)
        elif spaceless:
            found += _bigrams(spaceless)
        elif words.casefold() not in _EMPTY_ENGLISH or words[1:].isupper():
            found += _latin_terms(words)
    return found if len(found) >= _LEAST_ASKED_FOR else terms(text)


def without_asking(text: str) -> str:
    """A query without the Korean words that only ask, for a model that adds up its words; as it is if nothing remains.

    English ones have too little weight in the bundled model to matter: measured in `benchmarks/quality`.
    """
    if text.isascii():
        return text
    rest = re.sub(f"[{_HANGUL}]+", lambda run: " " if _EMPTY_KOREAN.fullmatch(run.group()) else run.group(), text)
    return rest if rest.strip() else text


def script_of(text: str) -> Script:
    """The script that a text is in: the one besides Latin that has most letters, if it is a tenth of them; or Latin.

    A tenth, because a text about software is in the language that its sentences are in, full of Latin names or not.
    """
    if text.isascii():
        return Script.LATIN
    counts = [0] * len(Script)
    letters = 0
    for character, count in Counter(text).items():
        counts[_script_of(character)] += count
        letters += count if character.isalpha() else 0
    script = max(_BESIDES_LATIN, key=counts.__getitem__)
    return script if 10 * counts[script] > letters else Script.LATIN


@lru_cache(maxsize=1 << 13)
def _script_of(character: str) -> Script:
    for script, ranges in _LETTERS.items():
        if any(low <= character <= high for low, high in ranges):
            return script
    return Script.OTHER if character.isalnum() and not character.isdecimal() else Script.LATIN


def fold(text: str) -> str:
    """The text as "contains" compares it: NFKC, case folded, white space collapsed to single spaces.

    Never raises. Folding again changes nothing.
    """
    return " ".join(unicodedata.normalize("NFKC", _normalised(text).casefold()).split())


def _runs(text: str) -> list[tuple[str, str, str]]:
    """Each run as (Hangul, of a script without spaces, words with hyphens between them), two of them empty."""
    return _RUN.findall(text if text.isascii() else _normalised(text))


def _hangul_terms(run: str) -> Iterable[str]:
    return (run,) if len(run) == 1 else (*map(add, run, run[1:]), _BEGINNING + run[:2])


def _bigrams(run: str) -> Iterable[str]:
    return (run,) if len(run) == 1 else map(add, run, run[1:])


def _latin_terms(words: str) -> Iterable[str]:
    return _remembered(words) if len(words) <= MAX_TERM_CHARS else _words_terms(words)


def _words_terms(words: str) -> tuple[str, ...]:
    parts = _HYPHEN.split(words)
    if len(parts) == 1:
        return _word_terms(words)
    apart = tuple(chain.from_iterable(map(_word_terms, parts)))
    together = "".join(parts)
    if len(together) > MAX_TERM_CHARS or not together[0].isalpha():
        return apart
    return (_stem(_without_latin_diacritics(together).strip("_")), *apart)


@lru_cache(maxsize=1)  # a chunk is analysed and folded, one after the other
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


_remembered = lru_cache(maxsize=1 << 15)(_words_terms)


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
