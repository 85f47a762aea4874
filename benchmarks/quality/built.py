"""Sets built from real documentation, and from other sets, in the layout of BEIR.

- `NAME-sections`: a heading is the query, the text under it, without the heading, is to be found among all others.
- `NAME-en2ko`, `NAME-ko2en`: the title or a heading of a page is the query, the translation of that page is to be
  found. Pages are pairs where their paths are equal; ids and anchors that would give the English away are left out.
- `belebele-mixed`: the passages of two sets, in Korean and in English, and questions in both; the passage that
  answers is to be found in both languages.

Texts stay Markdown. A heading that is over more than two sections, or on more than two pages, is no query.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kebab_stream.analyser import terms
from kebab_stream.evaluate.beir import entries, read_beir
from kebab_stream.ingest.parse import parse

SECTIONS = ("rustbook-en", "rustbook-ko", "vue-ko", "k8s-ko")
PAIRS = ("rustbook", "vue")
MIXED = ("belebele-en", "belebele-ko")

_LEAST_CHARS = 200
_MOST_RIGHT = 2
_MOST_QUERIES = 1000
_ANCHOR = re.compile(r"[ \t]*\{#[^}\n]*\}")


@dataclass
class Built:
    """A set in the making."""

    texts: dict[str, str] = field(default_factory=dict)
    right: dict[str, list[str]] = field(default_factory=dict)
    """Texts to find, by query."""

    def ask(self, query: str, target: str) -> None:
        """A query for a text, if there are words in it."""
        if terms(query) and target not in self.right.setdefault(query, []):
            self.right[query].append(target)

    def write(self, folder: Path) -> None:
        """The three files, with at most 1000 queries, spread evenly."""
        folder.mkdir()
        chosen = [query for query, targets in self.right.items() if 1 <= len(targets) <= _MOST_RIGHT]
        step = max(1, -(-len(chosen) // _MOST_QUERIES))
        queries = {f"q{number}": query for number, query in enumerate(chosen[::step])}
        _write_lines(folder / "corpus.jsonl", ({"_id": key, "text": text} for key, text in self.texts.items()))
        _write_lines(folder / "queries.jsonl", ({"_id": key, "text": query} for key, query in queries.items()))
        judged = [f"{key}\t{target}\t1\n" for key, query in queries.items() for target in self.right[query]]
        (folder / "qrels.tsv").write_text("".join(judged), encoding="utf-8")


def builders(shared: Path) -> Mapping[str, Callable[[], Built]]:
    """How to build each set, by name, from the folders `corpora` and `data/retrieval`."""
    corpora, sets = shared / "corpora", shared / "data" / "retrieval"
    found: dict[str, Callable[[], Built]] = {}
    for name in SECTIONS:
        found[f"{name}-sections"] = lambda name=name: sections(corpora / name)
    for name in PAIRS:
        english, korean = corpora / f"{name}-en", corpora / f"{name}-ko"
        found[f"{name}-en2ko"] = lambda english=english, korean=korean: translations(english, korean)
        found[f"{name}-ko2en"] = lambda english=english, korean=korean: translations(korean, english)
    found["belebele-mixed"] = lambda: mixed([sets / name for name in MIXED])
    return found


def sections(root: Path) -> Built:
    """Headings, and what stands under each up to the next."""
    built = Built()
    for text in pages(root).values():
        for heading, body in _sections(text):
            if len(body) >= _LEAST_CHARS:
                target = f"{len(built.texts):05}/-.md"  # an id without a word, read as Markdown
                built.texts[target] = body
                built.ask(heading, target)
    return built


def translations(asked: Path, found: Path) -> Built:
    """Headings of the pages in one language, and the pages in another."""
    built = Built()
    questions, answers = pages(asked), pages(found)
    ids = {path: f"{number:05}/-.md" for number, path in enumerate(answers)}
    built.texts = {ids[path]: text for path, text in answers.items()}
    for path in sorted(questions.keys() & answers.keys()):
        if len(answers[path]) >= _LEAST_CHARS:
            for heading, _ in _sections(questions[path]):
                built.ask(heading, ids[path])
    return built


def mixed(folders: Sequence[Path]) -> Built:
    """The texts of sets of the same ids in different languages, and the questions of all."""
    built = Built()
    for folder in folders:
        texts = {one.id: one.text for one in entries(folder)}
        built.texts |= {f"{folder.name}/{key}": text for key, text in texts.items()}
        for question in read_beir(folder).questions:
            for target in question.grades:
                for other in folders:
                    built.ask(question.query.query, f"{other.name}/{target}")
    return built


def pages(root: Path) -> dict[str, str]:
    """The Markdown files under a folder, without anchors, by path."""
    files = sorted(root.rglob("*.md"), key=lambda path: path.relative_to(root).as_posix())
    return {
        path.relative_to(root).as_posix(): _ANCHOR.sub("", path.read_text(encoding="utf-8", errors="replace"))
        for path in files
    }


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """(heading, text up to the next heading)."""
    parsed = parse("page.md", text)
    headings = [block for block in parsed.blocks if block.level and block.heading]
    ends = [block.line_start - 1 for block in headings[1:]] + [len(parsed.lines)]
    for block, end in zip(headings, ends, strict=False):  # a page may have no heading at all
        yield block.heading.strip(), "\n".join(parsed.lines[block.line_end : end]).strip()


def _write_lines(path: Path, values: Iterator[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
