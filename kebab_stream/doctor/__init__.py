"""A look at everything that a search or an ingest needs. It writes nothing, and claims only what it looked at.

Each check is a function that returns what it found; what cannot be looked at, because something before it failed, is
`skipped`. Checksums are compared in full, which an ordinary start does not do.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from kebab_stream.config import Config
from kebab_stream.config.file import read_toml
from kebab_stream.config.migrate import pending
from kebab_stream.doctor.found import failed, found, skipped
from kebab_stream.doctor.models import embedding_check, rerank_checks, vectors_check
from kebab_stream.embed import Embedder
from kebab_stream.errors import IndexCorruptError, KebabError, NotIndexedError
from kebab_stream.extras import extras
from kebab_stream.index.data_folder import generations, leftovers, own_paths, size_of
from kebab_stream.index.generation import verify
from kebab_stream.index.lock import LOCK_FILE, PID_FILE, is_locked, read_pid
from kebab_stream.index.snapshot import INDEX_FOLDER, Snapshot
from kebab_stream.index.store import STORE_FILE, STORE_VERSION, Store, store_corrupt
from kebab_stream.render import encodable
from kebab_stream.reports.housekeeping import Check, DoctorReport

NAMES = ("config", "data_folder", "store", "index", "model", "vectors", "write_lock", "leftovers", "extras")
"""Every check, in the order of the report. Before the lock comes `rerank`, where such a model is set."""

_LEAST_FREE_BYTES = 100 << 20
_EFFECTIVE_IDS = os.access in os.supports_effective_ids

_STORE_RULES = {
    "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'": "problems found by SQLite",
    "SELECT count(*) FROM pragma_foreign_key_check": "rows that belong to no document",
    "SELECT count(*) FROM (SELECT doc_no FROM chunks GROUP BY doc_no"
    " HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1)": "documents whose chunks are not numbered in a row",
    "SELECT count(*) FROM documents WHERE doc_no NOT IN (SELECT doc_no FROM texts)": "documents without their text",
}
"""A query for how many faults of a kind there are, and what they are."""


def diagnose(load: Callable[[], Config]) -> DoctorReport:
    """Check everything.

    Args:
        load: gives the settings; a server gives those it runs with.
    """
    try:
        config = load()
    except KebabError as error:
        checks = [failed("config", error)]
        checks += [skipped(name, "the settings are needed for it") for name in NAMES[1:-1]]
    else:
        checks = _all(config)
    checks.append(_extras())
    return DoctorReport(healthy=all(check.status != "fail" for check in checks), checks=tuple(checks))


def _all(config: Config) -> list[Check]:
    """All checks but the last."""
    data_dir = config.storage.data_dir
    model, embedder = embedding_check(config.models.embedding)
    store, revision = _store(data_dir)
    if revision is None:
        index, vectors = (skipped(name, "the store is needed for it") for name in ("index", "vectors"))
    else:
        index, vectors = _index(data_dir, model, embedder)
    lock = _lock(data_dir)
    if lock.status != "ok":
        left = skipped("leftovers", "somebody may be writing")
    elif store.status == "fail":
        left = skipped("leftovers", "the store is needed for it")
    else:
        left = _leftovers(data_dir, revision)
    rerank = rerank_checks(config.models.rerank)
    return [_config(config), _data_folder(data_dir), store, index, model, vectors, *rerank, lock, left]


def _config(config: Config) -> Check:
    if config.path is None:
        return found("config", "ok", "no config file: defaults, and what the environment says")
    path = encodable(str(config.path))
    try:
        renames = pending(read_toml(config.path) or {})
    except KebabError as error:  # a server may run with settings from before somebody edited the file
        return failed("config", error)
    if renames:
        names = ", ".join(f"{rename.old} is {rename.new} now" for rename in renames)
        hint = "run `kebab config migrate`; until then the old names go on working"
        return found("config", "warn", f"{path}: {names}", hint, path=path)
    return found("config", "ok", path, path=path)


def _data_folder(data_dir: Path) -> Check:
    name, path = "data_folder", encodable(str(data_dir))
    try:
        data_dir.stat()
        if not data_dir.is_dir() or not _may(data_dir, os.R_OK | os.X_OK):
            hint = "make it a folder that you may read, or set storage.data_dir to another"
            problem = "cannot be read" if data_dir.is_dir() else "is no folder"
            return found(name, "fail", f"{path} {problem}", hint, path=path)
        free = shutil.disk_usage(data_dir).free
        used = sum(map(size_of, own_paths(data_dir)))
    except FileNotFoundError:
        return found(name, "warn", f"{path} is not there yet", "the first `kebab ingest` makes it", path=path)
    except KebabError as error:
        return failed(name, error)
    except OSError as error:
        hint = "see who may read it, or set storage.data_dir to another folder"
        return found(name, "fail", encodable(str(error)), hint, path=path)
    sizes = {"free_bytes": free, "used_bytes": used}
    index = data_dir / INDEX_FOLDER
    if index.exists() and not index.is_dir():
        hint = "move it away, then run `kebab ingest --rebuild-index`"
        return found(name, "fail", f"{encodable(str(index))} is no folder", hint, path=path, **sizes)
    closed = [folder for folder in (data_dir, index) if folder.is_dir() and not _may(folder, os.W_OK | os.X_OK)]
    if closed:
        hint = "searches work; `kebab ingest` needs to write"
        message = f"{encodable(str(closed[0]))} is read-only"
        return found(name, "warn", message, hint, path=path, writable=False, **sizes)
    message = f"{path}, {_size(used)} used, {_size(free)} free"
    if free < max(_LEAST_FREE_BYTES, used):
        hint = "an ingest writes the index anew beside the old one; make room for it"
        return found(name, "warn", message, hint, path=path, writable=True, **sizes)
    return found(name, "ok", message, path=path, writable=True, **sizes)


def _store(data_dir: Path) -> tuple[Check, str | None]:
    """What is to be said of the store, and its corpus_revision if it is in order."""
    path = data_dir / STORE_FILE
    try:
        with closing(Store.open(data_dir)) as store:
            store.verify()
            revision = store.corpus_revision
            if revision is None:
                raise store_corrupt(path, "it names no index files")
            for query, fault in _STORE_RULES.items():
                ((count,),) = store.rows(query)
                if count:
                    raise store_corrupt(path, f"{count} {fault}")
            documents, chunks = store.count("documents"), store.count("chunks")
    except NotIndexedError as error:
        return _no_store(data_dir, error), None
    except KebabError as error:
        return failed("store", error), None
    message = f"{documents} documents, {chunks} chunks, no fault found"
    return found("store", "ok", message, version=STORE_VERSION, documents=documents, chunks=chunks), revision


def _no_store(data_dir: Path, error: NotIndexedError) -> Check:
    """Nothing was ingested yet, or the store was lost: what goes with it is there still."""
    try:
        left = [folder for folder in generations(data_dir) if not folder.name.startswith(".")]
    except (KebabError, OSError):  # other checks say so
        left = []
    if not left:
        return found("store", "warn", encodable(str(error)), error.hint)
    message = f"{STORE_FILE} is not there, but index files are: it was removed, or the first ingest was killed"
    hint = "put it back if you have it, and run `kebab ingest --rebuild-index`; else run `kebab ingest PATH`"
    return found("store", "warn", message, hint)


def _index(data_dir: Path, model: Check, embedder: Embedder | None) -> tuple[Check, Check]:
    """What is to be said of the index files, and of the vectors among them."""
    unknown = skipped("vectors", "the index is needed for it")
    try:
        snapshot = Snapshot.open(data_dir)
    except KebabError as error:
        return failed("index", error), unknown
    with closing(snapshot):
        folder, manifest = data_dir / INDEX_FOLDER / snapshot.corpus_revision, snapshot.generation.manifest
        try:
            verify(folder)
            _compare_ids(snapshot, folder)
        except KebabError as error:
            if snapshot.store.is_current():
                return failed("index", error), unknown
            hint = "run `kebab doctor` again"
            return found("index", "warn", "an ingest replaced it while it was checked", hint), unknown
        index = found(
            "index",
            "ok",
            f"{manifest.n_chunks} chunks, {manifest.n_windows} vectors, checksums match, chunks are those of the store",
            corpus_revision=snapshot.corpus_revision,
            index_version=manifest.index_version,
            chunks=manifest.n_chunks,
            windows=manifest.n_windows,
        )
        return index, vectors_check(snapshot.generation, model, embedder)


def _compare_ids(snapshot: Snapshot, folder: Path) -> None:
    """Raises IndexCorruptError where the index files are not of the chunks and documents in the store."""
    generation = snapshot.generation
    keys = list(snapshot.store.chunk_keys())
    if b"".join(chunk_id for chunk_id, _ in keys) != generation.chunk_ids.tobytes():
        raise IndexCorruptError(str(folder), "its chunks are not those of the store")
    if b"".join(doc_id for _, doc_id in keys) != generation.doc_ids[generation.chunk_docs].tobytes():
        raise IndexCorruptError(str(folder), "its chunks are of other documents than in the store")


def _lock(data_dir: Path) -> Check:
    """Whether somebody is writing. "ok" says that nobody is, and that the lock can be had."""
    name, path = "write_lock", data_dir / LOCK_FILE
    try:
        locked = is_locked(data_dir)
    except NotADirectoryError:
        return skipped(name, "the data folder is needed for it")
    except OSError as error:
        hint = "searches work; `kebab ingest` needs it: give back the permission, or remove the file if nobody writes"
        return found(name, "warn", encodable(f"{path} cannot be looked at: {error.strerror or error}"), hint)
    if locked:
        pid = read_pid(data_dir / PID_FILE)
        who = "a process" if pid is None else f"process {pid}"
        hint = "another writer has to wait; searches do not"
        return found(name, "warn", f"{who} is writing", hint, **({} if pid is None else {"pid": pid}))
    if path.exists() and not path.is_file():
        return found(
            name, "warn", encodable(f"{path} is no file"), "searches work; `kebab ingest` needs it: move it away"
        )
    if path.exists() and _may(data_dir, os.W_OK) and not _may(path, os.R_OK | os.W_OK):
        return found(name, "warn", encodable(f"{path} cannot be written"), "`kebab ingest` needs it: remove the file")
    return found(name, "ok", "no writer found")


def _leftovers(data_dir: Path, revision: str | None) -> Check:
    try:
        paths = leftovers(data_dir, revision)
    except KebabError as error:
        return failed("leftovers", error)
    if not paths:
        return found("leftovers", "ok", "none")
    names, used = [str(path.relative_to(data_dir)) for path in paths], sum(map(size_of, paths))
    message = f"{', '.join(names)} ({_size(used)}) of a run that was stopped"
    hint = "they do no harm; the next `kebab ingest` removes them"
    return found("leftovers", "warn", message, hint, names=names, bytes=used)


def _extras() -> Check:
    there = extras()
    states = ", ".join(f"{name} {'installed' if is_there else 'not installed'}" for name, is_there in there.items())
    return found("extras", "ok", states or "there are none", **there)


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=_EFFECTIVE_IDS)


def _size(count: int) -> str:
    """Bytes for people."""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
