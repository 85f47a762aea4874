"""Brings the index to the nodes of a Ray cluster that do not see the data folder: once put, once unpacked on each node.

The driver puts the store and the current index files into Ray's object store, in pieces. On a node, the first process
that needs them writes them to a folder of its own among the node's temporary files, and the others wait for it:

    kebab-replay-<run>-<node>/         a data folder with what a search needs; it appears when it is complete
    kebab-replay-<run>-<node>.lock     held by each process that uses the folder, for as long as it lives

The end of a run removes the folders. Those it could not, since a node was lost or the driver killed, are removed by the
next run that unpacks on that machine, once no process holds their lock.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from kebab_stream.errors import StorageError
from kebab_stream.index.durable import writing
from kebab_stream.index.generation import verify
from kebab_stream.index.snapshot import INDEX_FOLDER, SEAL, Snapshot
from kebab_stream.index.store import STORE_FILE, Store
from kebab_stream.replay.worker import revision_changed

_PIECE_BYTES: Final = 64 << 20
_PREFIX: Final = "kebab-replay-"


@dataclass(frozen=True, slots=True)
class Parcel:
    """An index in the object store."""

    run: str
    """Tells the folders of this run from all others, and cannot be guessed."""
    revision: str
    files: tuple[tuple[str, tuple[Any, ...]], ...]
    """(path below the data folder, references to its pieces in order)."""


def packed(put: Callable[[bytes], Any], data_dir: Path, corpus_revision: str) -> Parcel:
    """Put what a search needs into the object store, piece by piece; `put` gives a reference to each.

    Raises:
        RetrievalError: another state than `corpus_revision` is, or was meanwhile, committed.
        KebabError: the index cannot be opened or read.
    """
    with closing(Snapshot.open(data_dir)) as snapshot:
        folder = f"{INDEX_FOLDER}/{snapshot.corpus_revision}"
        try:
            names = [STORE_FILE, *(f"{folder}/{path.name}" for path in sorted((data_dir / folder).iterdir()))]
            files = tuple((name, tuple(map(put, _pieces(data_dir / name)))) for name in names)
        except OSError as error:
            if not snapshot.store.is_current():
                raise revision_changed(corpus_revision, _revision_of(data_dir)) from error
            raise StorageError(f"cannot read {data_dir}: {error.strerror or error}") from error
        if snapshot.corpus_revision != corpus_revision or not snapshot.store.is_current():
            raise revision_changed(corpus_revision, _revision_of(data_dir))
    return Parcel(uuid4().hex, corpus_revision, files)


def folder_on(node: str, run: str) -> Path:
    """On a node: where its data folder is. Nodes that share a machine, as in a test, have one each."""
    return Path(tempfile.gettempdir()) / f"{_PREFIX}{run}-{node}"


def unpacked(get: Callable[[Any], bytes], parcel: Parcel, folder: Path) -> int:
    """On a node: have the data folder there.

    Args:
        get: gives the bytes for a reference.
        folder: what `folder_on` gave.

    Returns:
        The descriptor of a lock: while it is open, as it is for as long as the process lives, other runs leave the
        folder alone.

    Raises:
        StorageError: it cannot be written.
        IndexCorruptError: what arrived is not what was sent.
    """
    with writing(folder):
        while True:
            lock = _locked(folder, fcntl.LOCK_SH)
            if folder.exists():
                return lock
            os.close(lock)
            lock = _locked(folder, fcntl.LOCK_EX)
            try:
                if not folder.exists():
                    _sweep(folder.parent)
                    _unpack(get, parcel, folder)
            finally:
                os.close(lock)


def remove(folder: Path) -> None:
    """On a node: remove the data folder of a run that is over. Processes that have its files open keep them."""
    shutil.rmtree(folder, ignore_errors=True)
    _lock_of(folder).unlink(missing_ok=True)


def _unpack(get: Callable[[Any], bytes], parcel: Parcel, folder: Path) -> None:
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed
    partial.mkdir(mode=0o700)
    try:
        for name, pieces in parcel.files:
            path = partial / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for piece in pieces:
                    file.write(get(piece))
        with closing(Store.open(partial)) as store:
            store.verify()
            verify(partial / INDEX_FOLDER / parcel.revision, seal=store.meta(SEAL) or "")
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _sweep(place: Path) -> None:
    """Remove folders that nobody uses any more."""
    for lock in place.glob(f"{_PREFIX}*.lock"):
        # Somebody else's, in use, or just removed: left alone.
        with suppress(OSError), lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            folder = lock.with_suffix("")
            for path in (folder, folder.with_name(f"{folder.name}.partial")):
                shutil.rmtree(path, ignore_errors=True)
            lock.unlink()


def _locked(folder: Path, how: int) -> int:
    """A descriptor of the folder's lock, which was waited for; it is let go of with the descriptor."""
    path = _lock_of(folder)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        fcntl.flock(descriptor, how)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # it was removed while we waited


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(lambda: file.read(_PIECE_BYTES), b"")


def _revision_of(data_dir: Path) -> str:
    with closing(Snapshot.open(data_dir)) as snapshot:
        return snapshot.corpus_revision
