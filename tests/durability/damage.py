"""Damages stored files in many ways and looks what searches make of it: `python -m tests.durability.damage …`.

A program of its own, because a damage that is not noticed could end the process. `FOLDER SEED ROUNDS LIMIT`: in each
round, every file gets one more random damage; LIMIT is how many bytes are compared with checksums when they are opened.
Prints, as JSON, what came of it how often: `right`, `wrong`, or the code of an error of ours.
"""

import json
import random
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kebab_stream.config import Config, Search
from kebab_stream.errors import KebabError
from kebab_stream.index import graph
from kebab_stream.index.graph import GRAPH_FILE
from tests.durability.states import answers
from tests.embed.test_static import write_model
from tests.ingest.runs import Library

_SECONDS = 240
_MOST_MEMORY = 8 << 30
"""A size that is believed although it makes no sense shows here."""

KINDS = ("missing", "empty", "cut", "halved", "grown", "flipped", "zeroed", "overwritten", "folder")


def library_with_graph(place: Path) -> Library:
    """An empty library with a tiny model whose vector searches walk the graph."""
    library = Library.at(place, write_model(place / "model"))
    return replace(library, config=replace(library.config, search=Search(vector_index="hnsw")))


def stored_files(config: Config) -> list[Path]:
    """The store and the index files."""
    data_dir = config.storage.data_dir
    (generation,) = (data_dir / "index").iterdir()
    assert (generation / GRAPH_FILE).is_file()
    return [data_dir / "kebab.sqlite", *sorted(generation.iterdir())]


def damage(path: Path, kind: str, choices: random.Random) -> None:
    """Replace a file by a damaged one, in a new place on the disk, as others may have it mapped."""
    content = path.read_bytes()
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        while (other := _damaged(content, kind, choices)) == content:
            pass
        path.write_bytes(other)


@contextmanager
def damaged(path: Path, kind: str, choices: random.Random) -> Iterator[None]:
    """A file is damaged for a while."""
    content = path.read_bytes()
    damage(path, kind, choices)
    try:
        yield
    finally:
        if kind == "folder":
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(content)


def _damaged(content: bytes, kind: str, choices: random.Random) -> bytes:
    # Half of the places are near the beginning, where there are headers.
    place = choices.randrange(min(len(content), choices.choice([100, len(content)])))
    match kind:
        case "empty":
            return b""
        case "cut":
            return content[:-1]
        case "halved":
            return content[: len(content) // 2]
        case "grown":
            return content + b"\0"
        case "flipped":
            return content[:place] + bytes([content[place] ^ 1 << choices.randrange(8)]) + content[place + 1 :]
        case _:
            pass
    new = bytes(4096) if kind == "zeroed" and any(content) else choices.randbytes(8)  # a file may be zeros only
    start = place // len(new) * len(new)  # a page of the store, a number of an index file
    end = min(start + len(new), len(content))
    return content[:start] + new[: end - start] + content[end:]


def outcome(config: Config, right: str) -> str:
    """What searches say: `right`, `wrong`, or the code of an error."""
    try:
        return "right" if answers(config) == right else "wrong"
    except KebabError as error:
        return error.code


def main(place: str, seed: str, rounds: str, limit: str) -> None:
    """Run the test on a library that is there already."""
    signal.alarm(_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    graph.LEAST_ASKED, graph.OVER_FETCH = 8, 0  # walked, though it is small
    library = library_with_graph(Path(place))
    right = answers(library.config)
    patch = pytest.MonkeyPatch()
    for module in ("snapshot", "store"):
        patch.setattr(f"kebab_stream.index.{module}.CHECKED_BYTES", int(limit))
    choices = random.Random(int(seed))
    counts: Counter[str] = Counter()
    for _ in range(int(rounds)):
        for path in stored_files(library.config):
            kind = choices.choice(["flipped", "flipped", "zeroed", "overwritten"])
            with damaged(path, kind, choices):
                counts[f"{path.name} {outcome(library.config, right)}"] += 1
    sys.stdout.write(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
