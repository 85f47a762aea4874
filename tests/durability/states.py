"""States of a small library whose answers tell one from the other, and all that a search says of one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kebab_stream.config import Config
from kebab_stream.engine import Engine
from kebab_stream.errors import NotIndexedError
from kebab_stream.index.generation import verify
from kebab_stream.index.snapshot import INDEX_FOLDER
from kebab_stream.model import Filters, Mode, SearchQuery
from kebab_stream.render import to_json

FILES = 20
QUERIES = ("walrus", "cat dog", "rare5 rare11", '"cat and dog"')
FILTERS = (Filters(path_glob="part 1/*"), Filters(must=("and dog 1",)))
WORDS = ("cat", "dog", "anticat", "dog cat dog", "cat anticat")
"""What the tiny model knows, so that vectors differ from one document to the next."""


@dataclass(frozen=True)
class State:
    """What is to be indexed: files by path below the folder, and texts given by themselves, by title."""

    files: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)

    def edited(self, numbers: Sequence[int]) -> "State":
        """The same with other contents of some files."""
        return replace(self, files={**self.files, **{path_of(number): _content(number, 99) for number in numbers}})


def state(number: int) -> State:
    """The state of this number: from one to another, files come, go, change and stay."""
    present = [file for file in range(FILES) if (file + number) % 4]
    return State({path_of(file): _content(file, file * number % 3) for file in present})


def path_of(file: int) -> str:
    """The path of the file of this number."""
    return f"part {file % 3}/{file}.md"


def _content(file: int, version: int) -> str:
    words = WORDS[(file + version) % len(WORDS)]
    # English enough that no model has to be asked for the language, which takes half a second to load.
    about = f"This is about the walrus that is in rare{file}, and it is of version{version}: {words}"
    sections = [f"## Part {part}\n\n{about}\n" for part in range(3)]
    return f"# Cat and dog {file}\n\n" + "\n".join(sections)


def write(root: Path, wanted: State) -> None:
    """Make the files of a folder those of a state; what is right already is not touched."""
    for path in root.rglob("*.md"):
        if str(path.relative_to(root)) not in wanted.files:
            path.unlink()
    for name, content in wanted.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text() != content:
            path.write_text(content)


def answers(config: Config) -> str:
    """All that searches and the store tell, as JSON, but for times and revisions; `not_indexed` where nothing is."""
    modes: tuple[Mode, ...] = (
        ("lexical", "hybrid") if config.models.embedding.provider == "none" else ("lexical", "hybrid", "vector")
    )
    try:
        engine = Engine.open(config)
    except NotIndexedError as error:
        return error.code
    with engine:
        queries = [SearchQuery(query=query, mode=mode, k=1000) for query in QUERIES for mode in modes]
        queries += [SearchQuery(query="walrus", mode="lexical", k=1000, filters=filters) for filters in FILTERS]
        responses = [timeless(json.loads(to_json(engine.search_with_opts(query)))) for query in queries]
        store = engine.snapshot.store
        documents = [
            (one.source_id, one.doc_path, one.title, one.content_hash, one.tags, chunks, store.text_of(one.doc_id))
            for one, chunks in store.documents()
        ]
    return json.dumps([responses, documents], ensure_ascii=False)


def timeless(response: dict[str, Any]) -> dict[str, Any]:
    """A response without what differs from one ingest of the same documents to the next."""
    for hit in response["hits"]:
        del hit["indexed_at"]
    del response["next_cursor"]
    return response


def listing(data_dir: Path) -> list[str]:
    """The paths of everything in a data folder."""
    return sorted(str(path.relative_to(data_dir)) for path in data_dir.rglob("*"))


def check_whole(config: Config) -> None:
    """Raise AssertionError or a KebabError unless the data folder holds one sound state and nothing else."""
    data_dir = config.storage.data_dir
    with Engine.open(config) as engine:
        store, revision = engine.snapshot.store, engine.snapshot.corpus_revision
        verify(data_dir / INDEX_FOLDER / revision)
        store.verify()
        assert store.rows("PRAGMA integrity_check") == [("ok",)]
        names = [*engine.snapshot.generation.manifest.files, "manifest.json"]
    expected = ["index", f"index/{revision}", "kebab.sqlite", "write.lock"]
    expected += [f"index/{revision}/{name}" for name in names]
    if config.models.embedding.provider != "none":
        expected.append("cache.sqlite")
    assert listing(data_dir) == sorted(expected)
