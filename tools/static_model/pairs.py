"""Pairs of texts that mean the same or answer each other, made from pages that say it by their structure.

Nobody labelled these pairs: a page and its translation, a heading and its section, a sentence and the paragraph it was
taken from (inverse cloze task: Lee et al. 2019, "Latent Retrieval for Weakly Supervised Open Domain Question
Answering"), a docstring and its function.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from tools.static_model.markup import HANGUL, SUFFIXES, Section, clean, sections

PairKind = Literal[
    "parallel",
    "parallel_section",
    "dictionary",
    "bible",
    "heading",
    "cross_heading",
    "cloze",
    "question",
    "code",
    "chat",
]

MAX_CHARS: Final = 700
"""Of each side of a pair."""
SNIPPET_CHARS: Final = 400
NO_LIMIT: Final = 10**9

_SENTENCE_ENDS: Final = re.compile(r"(?<=[.?!다요])\s+")
_KOREAN_QUESTIONS: Final = (
    "{}란 무엇인가요?", "{}이란?", "{} 방법", "{} 하는 법", "{}은 어떻게 하나요?", "{}에 대해 설명해줘", "{} 설명",
    "{}의 의미는 무엇인가", "{} 언제 사용하나요?", "{} 왜 필요한가요?", "{} 예제",
)  # fmt: skip
_ENGLISH_QUESTIONS: Final = (
    "what is {}?", "how to {}", "how does {} work?", "{} explained", "explain {}", "why {}?", "when to use {}",
    "{} example", "where is {} used?", "what does {} mean",
)  # fmt: skip


class Pair(NamedTuple):
    """Two texts of at most MAX_CHARS characters; a row of `pairs.json`."""

    first: str
    second: str
    kind: PairKind
    source: str


class Snippet(NamedTuple):
    """One text of at most SNIPPET_CHARS characters; a row of `texts.json`."""

    text: str
    source: str


@dataclass(slots=True)
class Collector:
    """Gathers pairs and snippets; of texts that came before (pairs: but for letter case) the first one stays."""

    rng: random.Random
    _pairs: dict[tuple[str, str], Pair] = field(default_factory=dict)
    _snippets: dict[str, Snippet] = field(default_factory=dict)

    def add(self, first: str, second: str, kind: PairKind, source: str) -> None:
        """Keep a pair, unless a side is empty or both are the same."""
        first, second = first.strip()[:MAX_CHARS], second.strip()[:MAX_CHARS]
        if len(first) > 1 and len(second) > 1 and first != second:
            self._pairs.setdefault((first.lower(), second.lower()), Pair(first, second, kind, source))

    def add_text(self, text: str, source: str) -> None:
        """Keep a snippet, unless it is too short to mean something."""
        if len(text) > 15:
            text = text[:SNIPPET_CHARS]
            self._snippets.setdefault(text, Snippet(text, source))

    def add_both(self, first: str, second: str, kind: PairKind, source: str) -> None:
        """Keep a pair, and each side of it as a snippet."""
        self.add(first, second, kind, source)
        self.add_text(first, source)
        self.add_text(second, source)

    def shuffled(self) -> tuple[list[Pair], list[Snippet]]:
        pairs, snippets = list(self._pairs.values()), list(self._snippets.values())
        self.rng.shuffle(pairs)
        self.rng.shuffle(snippets)
        return pairs, snippets

    def add_page(self, page: Sequence[Section], source: str) -> None:
        """Heading and section, sentence and rest of its paragraph, and each paragraph as a snippet."""
        title = page[0].heading if page else ""
        for section in page:
            if len(section.heading) > 1 and len(section.body) > 60:
                alone = self.rng.random() < 0.6 or section.level == 1 or title in ("", section.heading)
                heading = section.heading if alone else f"{title} {section.heading}"
                self.add(self._asked(heading), section.body, "heading", source)
            for paragraph in section.paragraphs:
                self._add_cloze(paragraph, source)
                self.add_text(paragraph, source)

    def _asked(self, heading: str) -> str:
        """A heading, half of the time dressed as a question, so that question words lose weight."""
        if self.rng.random() < 0.5:
            return heading
        return self.rng.choice(_KOREAN_QUESTIONS if HANGUL.search(heading) else _ENGLISH_QUESTIONS).format(heading)

    def _add_cloze(self, paragraph: str, source: str) -> None:
        sentences = _SENTENCE_ENDS.split(paragraph) if len(paragraph) > 120 else []
        if len(sentences) > 2:
            taken = self.rng.randrange(len(sentences))
            rest = " ".join(sentences[:taken] + sentences[taken + 1 :])
            self.add(sentences[taken], rest, "cloze", source)

    def add_translated_pages(self, english: Path, korean: Path, source: str, limit: int = NO_LIMIT) -> None:
        """Pages of the same path in two trees; stops reading after about `limit` aligned parts."""
        aligned = 0
        for path in self.pages(korean):
            if aligned > limit:
                return
            page = sections(path)
            if not any(HANGUL.search(f"{section.heading}{section.body}") for section in page):
                continue
            self.add_page(page, f"{source}-ko")
            original = english / path.relative_to(korean)
            if original.exists():
                aligned += self._add_translation(sections(original), page, source)

    def _add_translation(self, english: Sequence[Section], korean: Sequence[Section], source: str) -> int:
        """Sections are aligned where the levels of the headings agree; returns how many parts were."""
        self.add_page(english, f"{source}-en")
        if [section.level for section in english] != [section.level for section in korean]:
            if english and HANGUL.search(korean[0].heading):
                self.add(english[0].heading, korean[0].heading, "parallel", source)
            return 0
        for one, other in zip(english, korean, strict=True):
            self._add_translated_section(one, other, source)
        return sum(1 + len(section.paragraphs) for section in english)

    def _add_translated_section(self, english: Section, korean: Section, source: str) -> None:
        """Paragraphs are aligned where their number agrees, else the sections as wholes."""
        if HANGUL.search(korean.heading):
            self.add(english.heading, korean.heading, "parallel", source)
        if len(english.paragraphs) == len(korean.paragraphs):
            for one, other in zip(english.paragraphs, korean.paragraphs, strict=True):
                if HANGUL.search(other) and 0.25 < len(other) / len(one) < 1.5:
                    self.add(one, other, "parallel", source)
        elif HANGUL.search(korean.body):
            self.add(english.body, korean.body, "parallel_section", source)
        self._add_cross_headings(english, korean, source)

    def _add_cross_headings(self, english: Section, korean: Section, source: str) -> None:
        """A heading of one language and the section of the other, for three sections in ten."""
        if (
            len(korean.body) > 60
            and len(english.heading) > 3
            and HANGUL.search(korean.body)
            and self.rng.random() < 0.3
        ):
            self.add(self._asked(english.heading), korean.body, "cross_heading", source)
        if len(english.body) > 60 and HANGUL.search(korean.heading) and self.rng.random() < 0.3:
            self.add(self._asked(korean.heading), english.body, "cross_heading", source)

    def pages(self, folder: Path) -> list[Path]:
        """The pages below a folder in random order. Raises FileNotFoundError where there is none."""
        found = files_below(folder, SUFFIXES)
        if not found:
            raise FileNotFoundError(f"no pages in {folder}")
        self.rng.shuffle(found)
        return found

    def add_translated_json(
        self,
        english: Path,
        korean: Path,
        source: str,
        kind: PairKind = "dictionary",
        part: Callable[[Any], Any] = lambda content: content,
    ) -> None:
        """Strings at the same place of two JSON files, below what `part` takes of each."""
        originals, translations = (flat(part(json.loads(path.read_bytes()))) for path in (english, korean))
        for place, original in originals.items():
            translation = translations.get(place, "")
            if HANGUL.search(translation):
                self.add(clean(original), clean(translation), kind, source)


def files_below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Files with these suffixes at any depth, hidden ones left out, sorted by their path as text."""
    found = [path for path in folder.rglob("*") if path.name.endswith(suffixes)]
    visible = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    return sorted(visible, key=str)


def flat(content: Any, place: str = "") -> dict[str, str]:
    """Place → string of a JSON value; of a list the first six entries, joined."""
    if isinstance(content, dict):
        parts = (flat(value, f"{place}/{key}") for key, value in content.items())
        return {inner: text for part in parts for inner, text in part.items()}
    return {place: " ".join(map(str, content[:6])) if isinstance(content, list) else str(content)}
