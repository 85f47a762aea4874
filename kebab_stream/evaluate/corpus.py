"""The corpus of a set as an index of its own, in a temporary folder that goes away again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from kebab_stream.config import Config, Source, Storage
from kebab_stream.embed import load_embedder
from kebab_stream.engine import Engine
from kebab_stream.errors import StorageError
from kebab_stream.evaluate.beir import CORPUS, Entry, entries
from kebab_stream.index.graph import graph_above
from kebab_stream.index.store_writer import StoreWriter
from kebab_stream.ingest.given import with_given_fields
from kebab_stream.ingest.index_update import IndexUpdate
from kebab_stream.ingest.media import media_of
from kebab_stream.ingest.prepare import Prepared, indexed_chunks, prepare_text
from kebab_stream.ingest.read import content_hash
from kebab_stream.ingest.sources import source_row
from kebab_stream.ingest.walk import SourceFile

SOURCE = Source(id="corpus", root=Path("/"))

_AT_ONCE = 128


@contextmanager
def indexed_corpus(config: Config, folder: Path, progress: Callable[[int, int], None]) -> Iterator[Engine]:
    """Index a set's corpus as ingest would, and open it. The user's own index is not touched.

    Args:
        progress: told the bytes of the corpus that are done, and of how many.

    Raises:
        InvalidInputError: see `entries`.
        StorageError: a file cannot be read, or the temporary folder not be written.
        ModelUnavailableError, EmbeddingFailedError: the model cannot be had, or fails.
    """
    with _temporary_folder() as data_dir:
        config = replace(config, storage=Storage(data_dir=data_dir))
        _index(config, folder, progress)
        with Engine.open(config) as engine:
            yield engine


def path_of(entry_id: str) -> str:
    """The doc_path of an entry.

    An id that ends like a file is one: `guide/setup.md` is read as Markdown. Any other says nothing of its text, and
    no word of it may count as a name: it becomes a folder, with a file in it whose name has no word.
    """
    return entry_id if _is_file_name(entry_id) else f"{entry_id}/-.txt"


def _is_file_name(entry_id: str) -> bool:
    return "." in PurePosixPath(entry_id).name and media_of(entry_id) not in (None, ("pdf", None))


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    try:
        folder = TemporaryDirectory(prefix="kebab-eval-", ignore_cleanup_errors=True)
    except OSError as error:
        raise StorageError(f"no temporary folder can be made: {error.strerror or error}") from error
    with folder as name:
        yield Path(name)


def _index(config: Config, folder: Path, progress: Callable[[int, int], None]) -> None:
    embedder = load_embedder(config.models.embedding)
    data_dir = config.storage.data_dir
    wish = graph_above(config.search.vector_index, config.search.exact_below)
    with (
        closing(StoreWriter.open(data_dir)) as store,
        closing(IndexUpdate(data_dir, store, lambda: embedder, graph_above=wish)) as index,
    ):
        store.put_source(source_row(SOURCE))
        for prepared in _prepared(config, folder, progress):
            for one in prepared:
                store.replace(one.document, one.text, one.chunks)
            index.add([chunk for one in prepared for chunk in indexed_chunks(one)])
        index.commit()


def _prepared(config: Config, folder: Path, progress: Callable[[int, int], None]) -> Iterator[Sequence[Prepared]]:
    now = datetime.now(UTC).replace(microsecond=0)
    found = entries(folder)
    while batch := list(islice(found, _AT_ONCE)):
        yield [_document(entry, config, now) for entry in batch]
        progress(batch[-1].end, (folder / CORPUS).stat().st_size)


def _document(entry: Entry, config: Config, now: datetime) -> Prepared:
    """An entry as a file of its title and its text would be."""
    path = path_of(entry.id)
    is_markdown = (media_of(path) or ("", None))[0] == "markdown"
    heading = f"# {entry.title}" if is_markdown else entry.title
    text = f"{heading}\n\n{entry.text}" if entry.title else entry.text
    data = text.encode()
    file = SourceFile(path, Path("/") / path, len(data), 0)
    prepared = prepare_text(SOURCE, file, text, content_hash(data), config.ingest.chunking, now=now)
    return with_given_fields(prepared, title=entry.title, tags=(), trust_level="primary") if entry.title else prepared
