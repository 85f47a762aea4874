"""A cheap guess at the language of a text, by the scripts of its letters."""

import re

_SAMPLE_CHARS = 4000
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_ASCII_LETTER = re.compile("[A-Za-z]")
_LETTER = re.compile(r"[^\W\d_]")


def guess_language(text: str) -> str:
    """`ko`, `ja`, `zh`, `en`, or `und` when the letters do not tell.

    Looks at the first 4,000 characters. One East Asian letter says about as much as two or three Latin ones,
    so a fifth of all letters is enough; text about software is full of Latin names. What is left is taken
    for English if nearly all its letters are ASCII.
    """
    text = text[:_SAMPLE_CHARS]
    letters = len(_LETTER.findall(text))
    enough = max(letters / 5, 1)
    hangul, kana, han = (len(script.findall(text)) for script in (_HANGUL, _KANA, _HAN))
    if hangul >= enough and hangul >= kana:
        return "ko"
    if kana + han >= enough:
        return "ja" if kana * 10 >= han else "zh"  # Japanese does without kana in headings at most
    letters -= hangul + kana + han
    return "en" if letters > 0 and len(_ASCII_LETTER.findall(text)) >= 0.98 * letters else "und"
