"""What a language model wrote, checked: what of it is the answer, and which passages it cites."""

import re
from collections.abc import Iterator
from typing import Final

from kebab_stream.ask.prompt import SENTINEL

_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_NUMBERS = r"[0-9]{1,4}(?:\s*[-–]\s*[0-9]{1,4})?"
_CITED = re.compile(rf"[ \t]?[\[【]\s*\^?({_NUMBERS}(?:\s*[,;]\s*{_NUMBERS})*)\s*[\]】]")
_MOST_IN_A_RANGE: Final = 100
_THINKING, _THOUGHT = "<think>", "</think>"


def checked(text: str, passages: int) -> tuple[str, tuple[int, ...]]:
    """An answer without citations of passages that do not exist, and the numbers it cites, ascending.

    Brackets in code are code. Several numbers in one pair of brackets, and ranges, become a pair for each number.

    Args:
        passages: how many there are, numbered from 1.
    """
    cited: set[int] = set()

    def kept(match: re.Match[str]) -> str:
        numbers = [number for number in dict.fromkeys(_numbers(match[1])) if 1 <= number <= passages]
        cited.update(numbers)
        before = match[0][0] if numbers and match[0][0] in " \t" else ""
        return before + "".join(f"[{number}]" for number in numbers)

    parts = _CODE.split(text)
    clean = "".join(part if number % 2 else _CITED.sub(kept, part) for number, part in enumerate(parts))
    return clean.strip(), tuple(sorted(cited))


def is_declined(text: str) -> bool:
    """Whether the model said that the passages have no answer; a part of one beside it does not count."""
    return SENTINEL in text


class Draft:
    """What of a growing text can be shown: not what a model thinks before it answers, and not the sentinel."""

    def __init__(self) -> None:
        self._raw = ""
        self._shown = 0

    @property
    def text(self) -> str:
        """The answer so far, all of it."""
        return _after_thinking(self._raw)

    def add(self, piece: str) -> str:
        """Take the next piece; what can be shown now. A piece may end anywhere, in the middle of a word too."""
        self._raw += piece
        text = self.text
        return self._newly(text.partition(SENTINEL)[0] if SENTINEL in text else text[: _safe_end(text)])

    def end(self) -> str:
        """The last that can be shown: what might have become the sentinel and did not."""
        return self._newly(self.text.partition(SENTINEL)[0])

    def _newly(self, text: str) -> str:
        new = text[self._shown :]
        self._shown = max(self._shown, len(text))
        return new


def _after_thinking(raw: str) -> str:
    text = raw.lstrip()
    if text.startswith(_THINKING):
        return text.partition(_THOUGHT)[2].lstrip()
    return "" if _THINKING.startswith(text) else text


def _safe_end(text: str) -> int:
    """Where the text ends without what may be the beginning of the sentinel."""
    for length in range(min(len(SENTINEL), len(text)), 0, -1):
        if text.endswith(SENTINEL[:length]):
            return len(text) - length
    return len(text)


def _numbers(listed: str) -> Iterator[int]:
    for part in re.split("[,;]", listed):
        first, *last = (int(number) for number in re.split("[-–]", part))
        end = last[0] if last else first
        yield from range(first, min(end, first + _MOST_IN_A_RANGE) + 1)
