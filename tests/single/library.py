"""A corpus whose documents differ in everything that a filter looks at, described beside the files they are made of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unicodedata import normalize

from kebab_stream.config import Config
from kebab_stream.ingest.language import guess_language
from kebab_stream.model import TRUST_LEVELS, Filters, TrustLevel
from tests.corpora import ingest_files
from tests.index.stored import changed_store

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
TAGS = ("alpha", "Beta", "가나", "c,d")
LANGS = ("ko", "en", "ja")
TYPES = ("notes", "wiki", "log")
PHRASES = (
    "Pour  over\ncoffee",
    "pour over tea",
    "ＰＯＵＲ ｏｖｅｒ",
    "커피를 내린다",
    "Straße",
    "한글 " + normalize("NFD", "각설탕"),
)
FOLDERS = ("docs/", "docs/한글/", "src/deep/er/", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One document and what it should be filtered by; its text is one chunk."""

    source: str
    path: str
    body: str
    media: str
    lang: str | None
    code_lang: str | None = None
    tags: tuple[str, ...] = ()
    trust: TrustLevel = "primary"
    source_type: str = "notes"
    repo: str | None
    indexed_at: datetime

    @property
    def text(self) -> str:
        """What is in the file."""
        if self.media != "markdown":
            return self.body
        fields = f"tags: [{', '.join(map(repr, self.tags))}]\nlang: {self.lang}\ntrust_level: {self.trust}"
        return f"---\n{fields}\nsource_type: {self.source_type}\n---\n{self.body}"


def _item(number: int) -> Item:
    source = "left" if number % 5 else "right"
    filler = " ".join(f"word{number * place % 23}" for place in range(number % 11 + 2))
    plain = Item(
        source=source,
        path=f"{FOLDERS[number % 4]}file{number}",
        body=f"{'coffee 커피 ' * (number % 3 + 1)}{filler} {PHRASES[number % 6]}\n",
        media="markdown",
        lang=LANGS[number % 3],
        tags=tuple(tag for place, tag in enumerate(TAGS) if number >> place & 1),
        trust=TRUST_LEVELS[number // 2 % 3],
        source_type=TYPES[number // 3 % 3],
        repo="right" if source == "right" else None,
        indexed_at=EPOCH + timedelta(hours=number * 7),
    )
    if number % 7 == 3:
        return _untagged(plain, "text", ".txt", lang=guess_language(plain.body))
    if number % 7 == 5:
        return _untagged(plain, "code", ".py" if number % 2 else ".rs", code_lang="python" if number % 2 else "rust")
    return replace(plain, path=plain.path + ".md")


def _untagged(item: Item, media: str, extension: str, *, lang: str | None = None, code_lang: str | None = None) -> Item:
    return replace(
        item,
        path=item.path + extension,
        media=media,
        lang=lang,
        code_lang=code_lang,
        tags=(),
        trust="primary",
        source_type="notes",
    )


ITEMS: Sequence[Item] = tuple(map(_item, range(56)))


def ingest_library(config: Config, folder: Path) -> None:
    """Write and ingest all items, each with its own time of indexing."""
    (folder / "right" / ".git").mkdir(parents=True)
    for source in ("left", "right"):
        ingest_files(config, folder / source, {item.path: item.text for item in ITEMS if item.source == source})
    with changed_store(config.storage.data_dir) as connection:
        connection.executemany(
            "UPDATE documents SET indexed_at = ? WHERE source_id = ? AND doc_path = ?",
            [(int(item.indexed_at.timestamp()), item.source, item.path) for item in ITEMS],
        )


def passes(item: Item, doc_id: str, filters: Filters) -> bool:
    """What the contract says of filters, on one item; without `path_glob`, which has a reference of its own."""
    media = {"md": "markdown"}
    one_of = (
        (filters.tag, item.tags),
        (tuple(media.get(name, name) for name in filters.media), (item.media,)),
        (filters.code_lang, (item.code_lang,)),
        (filters.repo, (item.repo,)),
        (filters.source, (item.source,)),
        (filters.source_type, (item.source_type,)),
    )
    least = TRUST_LEVELS.index(filters.trust_min) if filters.trust_min else 0
    after = filters.ingested_after or EPOCH
    text = plain(item.body)
    return (
        all(not wanted or set(wanted) & set(has) for wanted, has in one_of)
        and filters.lang in (None, item.lang)
        and filters.doc_id in (None, doc_id)
        and TRUST_LEVELS.index(item.trust) >= least
        and item.indexed_at >= after
        and all(plain(part) in text for part in filters.must)
        and not any(plain(part) in text for part in filters.must_not)
    )


def plain(text: str) -> str:
    """A text as "contains" compares it."""
    return re.sub(r"\s+", " ", normalize("NFKC", text).casefold()).strip()
