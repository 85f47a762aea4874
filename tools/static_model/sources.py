"""Where the texts come from: one short reader a source, in the order that the random numbers are drawn.

README.md names each source with its commit and licence. `missing` names those that are not there.
"""

import csv
import importlib.util
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from tools.static_model.functions import add_functions, package_folder, standard_library
from tools.static_model.markup import HANGUL, clean, read, sections
from tools.static_model.pairs import NO_LIMIT, Collector, Pair, Snippet
from tools.static_model.sword import verses

SEED: Final = 1

_CORPORA: Final = ("k8s", "astro", "vue", "hfcourse")
_TREES: Final = (
    ("tensorflow-docs", "tf/site/en-snapshot", "tf/site/ko", NO_LIMIT),
    ("opensource.guide", "osguide/_articles", "osguide/_articles/ko", NO_LIMIT),
    ("cncf-glossary", "cncf/content/en", "cncf/content/ko", NO_LIMIT),
    ("tldr", "tldr/pages", "tldr/pages.ko", 30_000),
    ("elixirschool", "elixir/lessons/en", "elixir/lessons/ko", NO_LIMIT),
    ("nodejs.org", "nodejs/apps/site/pages/en", "nodejs/apps/site/pages/ko", NO_LIMIT),
    ("typescript-docs", "ts-en/packages/documentation/copy/en", "ts-ko/docs/documentation/ko", NO_LIMIT),
    ("ms-cpp-docs", "cpp-en/docs", "cpp-ko/docs", 40_000),
)
"""Name, English tree, Korean tree, about how many aligned parts are enough."""
_JUNGYEUL: Final = (
    "news-v1/korean-english-park.test",
    "news-v1/korean-english-park.dev",
    "jhe/jhe-koen-dev",
    "jhe/jhe-koen-eval",
)
_BIBLES: Final = ("en/BBE/modules/texts/ztext/bbe", "ko/KorRV/modules/texts/ztext/korrv")
_STS_PARTS: Final = frozenset(("images", "track5.en-en", "answers-forums", "answers-answers"))
"""The parts of STS-B under CC BY-SA."""
_PAGES_ONLY: Final = ("gyoogle-ko", "jbee-interview-ko", "mdn-ko", "k8s-blog-en", "k8s-blog-ko")
_PAGES_ONLY_LIMIT: Final = 1_500
_STANDARD_LIBRARY_LIMIT: Final = 12_000
_PACKAGES: Final = ("sympy", "networkx", "torch")
_PACKAGE_LIMIT: Final = 6_000


@dataclass(frozen=True, slots=True)
class SourceFolders:
    """Unpacked public sources."""

    raw: Path
    corpora: Path
    """Folders of documentation, `k8s-en`, `k8s-ko` and so on."""
    tydi: Path
    """TyDi QA gold passages, English, in the BEIR layout."""


_FILES: Final = (
    "python-docs-ko/**/*.po",
    "django/**/*.po",
    "npm/openstreetmap*/package/dist/translations",
    "npm/cldr-annotations*/package/annotations",
    "npm/cldr-localenames*/package/main",
    "nodejs/packages/i18n/src/locales",
    "kedict/kedict.yml",
    "tatoeba/kor-eng/kor.txt",
    *(f"jungyeul/korean-english-{name}.{language}" for name in _JUNGYEUL for language in ("en", "ko")),
    *(f"kornlu/KorSTS/sts-{part}.tsv" for part in ("train", "dev", "test")),
    *(f"stsb/data/stsb-en-{part}.csv" for part in ("train", "dev", "test")),
    "chatbot/ChatbotData.csv",
    *(f"bible/sources/{module}" for module in _BIBLES),
    *(f"ud/{language}_pud-ud-test.conllu.txt" for language in ("en", "ko")),
    "ud/ko_[gk]*.txt",
)
"""What is read below `SourceFolders.raw`, beside the translated trees."""


def missing(folders: SourceFolders) -> list[str]:
    """What a run would look for in vain, as paths and patterns below the folders, and names of Python packages."""
    pages = [f"{name}-{language}" for name in _CORPORA for language in ("en", "ko")]
    trees = [tree for _, english, korean, _ in _TREES for tree in (english, korean)]
    wanted = [
        *((folders.raw, pattern) for pattern in (*trees, *_FILES)),
        *((folders.corpora, name) for name in (*pages, *_PAGES_ONLY)),
        *((folders.tydi, name) for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")),
    ]
    absent = [str(folder / pattern) for folder, pattern in wanted if next(folder.glob(pattern), None) is None]
    return absent + [f"the Python package {name}" for name in _PACKAGES if importlib.util.find_spec(name) is None]


def collect(folders: SourceFolders) -> tuple[list[Pair], list[Snippet]]:
    """All pairs and snippets, shuffled.

    Raises:
        OSError: a source is missing.
    """
    collector = Collector(random.Random(SEED))
    _translated_trees(collector, folders)
    _message_catalogues(collector, folders.raw)
    _term_lists(collector, folders.raw)
    _dictionary(collector, folders.raw)
    _sentence_lists(collector, folders.raw)
    _similar_sentences(collector, folders.raw)
    _chat(collector, folders.raw)
    _bible(collector, folders.raw)
    _treebanks(collector, folders.raw)
    _pages(collector, folders.corpora)
    _questions(collector, folders.tydi)
    _functions(collector)
    return collector.shuffled()


def _translated_trees(collector: Collector, folders: SourceFolders) -> None:
    for name in _CORPORA:
        collector.add_translated_pages(folders.corpora / f"{name}-en", folders.corpora / f"{name}-ko", name)
    for name, english, korean, limit in _TREES:
        collector.add_translated_pages(folders.raw / english, folders.raw / korean, name, limit)


def _message_catalogues(collector: Collector, raw: Path) -> None:
    import polib  # of the dependency group "model"

    for name in ("python-docs-ko", "django"):
        for path in sorted((raw / name).rglob("*.po"), key=str):
            for entry in polib.pofile(str(path)):
                if entry.msgstr and not entry.fuzzy and HANGUL.search(entry.msgstr):
                    collector.add_both(clean(entry.msgid), clean(entry.msgstr), "parallel", name)


def _term_lists(collector: Collector, raw: Path) -> None:
    """Map features, emoji, names of languages, countries and scripts; and the messages of nodejs.org."""
    npm = raw / "npm"
    places = _only(npm, "openstreetmap*/package/dist/translations")
    collector.add_translated_json(
        places / "en.json", places / "ko.json", "osm-id-tagging", part=lambda content: next(iter(content.values()))
    )
    emoji = _only(npm, "cldr-annotations*/package/annotations")
    collector.add_translated_json(
        emoji / "en" / "annotations.json",
        emoji / "ko" / "annotations.json",
        "cldr",
        part=lambda content: content["annotations"]["annotations"],
    )
    names = _only(npm, "cldr-localenames*/package/main")
    for kind in ("languages", "territories", "scripts"):
        english, korean = (names / language / f"{kind}.json" for language in ("en", "ko"))
        collector.add_translated_json(english, korean, "cldr", part=partial(_display_names, kind))
    locales = raw / "nodejs/packages/i18n/src/locales"
    collector.add_translated_json(locales / "en.json", locales / "ko.json", "nodejs.org", "parallel")


def _display_names(kind: str, content: Any) -> Any:
    return next(iter(content["main"].values()))["localeDisplayNames"][kind]


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise FileNotFoundError(f"nothing like {pattern} in {folder}")
    return found[0]


def _dictionary(collector: Collector, raw: Path) -> None:
    """Headwords with their glosses (verbs in the form of a dictionary), and example sentences."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for entry in yaml.load(read(raw / "kedict/kedict.yml"), loader):  # noqa: S506 - both loaders are safe ones
        word, class_ = str(entry.get("word") or ""), entry.get("pos")
        if class_ in ("v", "adj") and not word.endswith("다"):
            word += "다"
        for sense in entry.get("defs") or []:
            gloss = re.sub(r"\([^)]*\)|^[:\s]+", "", str(sense.get("def") or "")).strip()
            if not gloss.startswith("Indicates") and class_ not in ("part", "suf", "v-suf"):
                collector.add(gloss, word, "dictionary", "cc-kedict")
            for example in sense.get("examples") or []:
                translation, sentence = (str(example.get(key) or "") for key in ("translation", "example"))
                collector.add(translation, sentence, "parallel", "cc-kedict")


def _sentence_lists(collector: Collector, raw: Path) -> None:
    for fields in (line.split("\t") for line in read(raw / "tatoeba/kor-eng/kor.txt").split("\n")):
        if len(fields) > 2:
            collector.add(fields[0], fields[1], "parallel", "tatoeba")
    for name in _JUNGYEUL:
        sides = (read(raw / f"jungyeul/korean-english-{name}.{language}").split("\n") for language in ("en", "ko"))
        for english, korean in zip(*sides, strict=False):
            collector.add_both(english, korean, "parallel", "jungyeul")


def _similar_sentences(collector: Collector, raw: Path) -> None:
    """KorSTS is STS-B line by line; both sentences of a line are pairs with each other from similarity 4 of 5 up."""
    for part in ("train", "dev", "test"):
        lines = read(raw / f"kornlu/KorSTS/sts-{part}.tsv").split("\n")[1:]
        korean = [line.split("\t") for line in lines if line]
        for fields, (one, other, similarity) in zip(korean, _csv(raw / f"stsb/data/stsb-en-{part}.csv"), strict=False):
            if len(fields) > 6 and fields[1] in _STS_PARTS and abs(float(fields[4]) - float(similarity)) < 0.01:
                pairs = [(one, fields[5]), (other, fields[6])]
                if float(similarity) >= 4:
                    pairs += [(one, other), (fields[5], fields[6]), (one, fields[6])]
                for first, second in pairs:
                    collector.add(first, second, "parallel", "korsts")
                for text in (one, other, fields[5], fields[6]):
                    collector.add_text(text, "korsts")


def _chat(collector: Collector, raw: Path) -> None:
    for question, answer, *_ in _csv(raw / "chatbot/ChatbotData.csv"):
        collector.add_both(question, answer, "chat", "chatbot")


def _bible(collector: Collector, raw: Path) -> None:
    both = (verses(raw / "bible/sources" / module, "ot") for module in _BIBLES)
    for english, korean in zip(*both, strict=False):
        collector.add(clean(english), clean(korean), "bible", "bible")


def _treebanks(collector: Collector, raw: Path) -> None:
    sentence = re.compile(r"# sent_id = (\S+)\n# text = (.*)")
    english, korean = (
        dict(sentence.findall(read(raw / f"ud/{language}_pud-ud-test.conllu.txt"))) for language in ("en", "ko")
    )
    for number, text in korean.items():
        collector.add(english.get(number, ""), text, "parallel", "ud-pud")
        collector.add_text(text, "ud-pud")
    for path in sorted((raw / "ud").glob("ko_[gk]*.txt")):
        for text in re.findall(r"# text = (.*)", read(path)):
            collector.add_text(text, "ud-ko")


def _pages(collector: Collector, corpora: Path) -> None:
    for name in _PAGES_ONLY:
        for path in collector.pages(corpora / name)[:_PAGES_ONLY_LIMIT]:
            collector.add_page(sections(path), name)


def _questions(collector: Collector, folder: Path) -> None:
    """Questions with the passages that answer them, titles with their passages."""
    documents, queries = (
        {record["_id"]: record for record in map(json.loads, (folder / f"{name}.jsonl").read_bytes().splitlines())}
        for name in ("corpus", "queries")
    )
    for line in read(folder / "qrels.tsv").splitlines()[1:]:
        query, document, _ = line.split("\t")
        collector.add(queries[query]["text"], documents[document]["text"], "question", "tydiqa-en")
    for record in documents.values():
        collector.add_text(record["text"], "tydiqa-en")
        collector.add(record.get("title") or "", record["text"], "heading", "tydiqa-en")


def _functions(collector: Collector) -> None:
    add_functions(collector, standard_library(), "python-stdlib", _STANDARD_LIBRARY_LIMIT)
    for name in _PACKAGES:
        add_functions(collector, package_folder(name), name, _PACKAGE_LIMIT)


def _csv(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)
