"""Folders of Markdown files: the first thousand of the real ones, and as many varied copies of them as it takes."""

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.speed.timing import Command, run
from kebab_stream.config import Chunking
from kebab_stream.ingest.chunk import chunk
from kebab_stream.ingest.parse import parse

EXCHANGED = 0.4
"""Share of a copy's words."""
HALF, HUNDREDTH = "half-0/**", "half-0/07/**"
"""Globs of about 50 % and 1 % of a multiplied folder's files."""
COPIED = 0.88
"""Chunks of a copy for each one of its original, at least. Words of another length move the borders."""


def first_files(corpora: Path, count: int) -> list[Path]:
    """The first Markdown files of a folder, by their relative paths."""
    files = sorted(corpora.rglob("*.md"), key=lambda path: path.relative_to(corpora).as_posix())
    return files[:count]


def real_folder(corpora: Path, count: int, folder: Path) -> Path:
    """A folder with copies of the first files, under their paths; the one of an earlier run is kept."""

    def fill(place: Path) -> None:
        for path in first_files(corpora, count):
            target = place / path.relative_to(corpora)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)

    return _kept(folder, fill)


def multiplied_folder(corpora: Path, files: int, chunks: int, folder: Path) -> Path:
    """A folder whose files have about so many chunks, or a few more: the first files, then varied copies of them.

    They lie in two halves of fifty folders each, so that globs select known shares. All are committed to git.
    """

    def fill(place: Path) -> None:
        originals = [path.read_text("utf-8", errors="replace") for path in first_files(corpora, files)]
        counts = [len(chunk(parse("page.md", text), Chunking())) for text in originals]
        for number, text in enumerate(_until(originals, counts, chunks)):
            target = place / f"half-{number % 2}" / f"{number // 2 % 50:02}" / f"{number:06}.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
            run(git(place, *arguments))

    return _kept(folder, fill)


def _until(texts: Sequence[str], counts: Sequence[int], wanted: int) -> Iterator[str]:
    """The texts, and varied copies, until they have so many chunks."""
    if not sum(counts):
        raise SystemExit("no Markdown files with text to multiply")
    words = [word for text in texts for word in text.split()]
    random_numbers = random.Random(8)  # noqa: S311  # the same copies each time
    total, copy = 0.0, 0
    while True:
        for text, count in zip(texts, counts, strict=True):
            yield varied(text, words, random_numbers) if copy else text
            total += count * COPIED if copy else count
            if total >= wanted:
                return
        copy += 1


def varied(text: str, words: Sequence[str], random_numbers: random.Random) -> str:
    """A text some of whose words are exchanged with some from elsewhere; lines, and their first words, stay.

    Those are what Markdown sees: the signs of headings, lists, fences.
    """
    draw, count = random_numbers.random, len(words)
    lines = []
    for line in text.split("\n"):
        first, *others = line.split(" ")
        kept = [words[int(draw() * count)] if word and draw() < EXCHANGED else word for word in others]
        lines.append(" ".join([first, *kept]))
    return "\n".join(lines)


def git(folder: Path, *arguments: str) -> Command:
    """A command of git, without anybody's settings."""
    names = {"GIT_AUTHOR_NAME": "b", "GIT_AUTHOR_EMAIL": "b@b", "GIT_COMMITTER_NAME": "b", "GIT_COMMITTER_EMAIL": "b@b"}
    nobody = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", **names}
    return Command(argv=["git", "-C", folder, *arguments], env=nobody)


def write_bulk(queries: Sequence[str], mode: str, path: Path) -> Path:
    """Queries as `kebab search --bulk` reads them."""
    lines = [{"id": f"q{number}", "query": query, "mode": mode} for number, query in enumerate(queries)]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def _kept(folder: Path, fill: Callable[[Path], None]) -> Path:
    """A folder that is complete once it has its name. One that is empty was made of nothing, and is made anew."""
    if not folder.exists() or not any(folder.iterdir()):
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent))
        fill(partial)
        partial.rename(folder)
    return folder
