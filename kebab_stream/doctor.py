"""A look at everything that a search or an ingest needs. It writes nothing, and claims only what it looked at.

Each check is a function that returns what it found; what cannot be looked at, because something before it failed, is
`skipped`. Checksums are compared in full, which an ordinary start does not do.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from kebab_stream.config import Config, Embedding
from kebab_stream.config.file import read_toml
from kebab_stream.config.migrate import pending
from kebab_stream.embed import Embedder, load_embedder
from kebab_stream.embed.static import BUNDLED_FOLDER, SUMS_FILE
from kebab_stream.errors import IndexCorruptError, KebabError, NotIndexedError
from kebab_stream.extras import extras
from kebab_stream.index.data_folder import generations, leftovers, own_paths, size_of
from kebab_stream.index.generation import Generation, verify
from kebab_stream.index.lock import LOCK_FILE, PID_FILE, is_locked, read_pid
from kebab_stream.index.snapshot import INDEX_FOLDER, Snapshot
from kebab_stream.index.store import STORE_FILE, STORE_VERSION, Store, store_corrupt
from kebab_stream.render import encodable, error_record
from kebab_stream.reports import Check, CheckStatus, DoctorReport
from kebab_stream.single.retrieve import method_for

NAMES = ("config", "data_folder", "store", "index", "model", "vectors", "write_lock", "leftovers", "extras")
"""Every check, in the order of the report."""

_LEAST_FREE_BYTES = 100 << 20
_EFFECTIVE_IDS = os.access in os.supports_effective_ids
_SAMPLES = ("검색", "search")

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
        checks = [_failed("config", error)]
        checks += [_skipped(name, "the settings are needed for it") for name in NAMES[1:-1]]
    else:
        checks = _all(config)
    checks.append(_extras())
    return DoctorReport(healthy=all(check.status != "fail" for check in checks), checks=tuple(checks))


def _all(config: Config) -> list[Check]:
    """All checks but the last."""
    data_dir = config.storage.data_dir
    model, embedder = _model(config.models.embedding)
    store, revision = _store(data_dir)
    if revision is None:
        index, vectors = (_skipped(name, "the store is needed for it") for name in ("index", "vectors"))
    else:
        index, vectors = _index(data_dir, model, embedder)
    lock = _lock(data_dir)
    if lock.status != "ok":
        left = _skipped("leftovers", "somebody may be writing")
    elif store.status == "fail":
        left = _skipped("leftovers", "the store is needed for it")
    else:
        left = _leftovers(data_dir, revision)
    return [_config(config), _data_folder(data_dir), store, index, model, vectors, lock, left]


def _config(config: Config) -> Check:
    if config.path is None:
        return _found("config", "ok", "no config file: defaults, and what the environment says")
    path = encodable(str(config.path))
    try:
        renames = pending(read_toml(config.path) or {})
    except KebabError as error:  # a server may run with settings from before somebody edited the file
        return _failed("config", error)
    if renames:
        names = ", ".join(f"{rename.old} is {rename.new} now" for rename in renames)
        hint = "run `kebab config migrate`; until then the old names go on working"
        return _found("config", "warn", f"{path}: {names}", hint, path=path)
    return _found("config", "ok", path, path=path)


def _data_folder(data_dir: Path) -> Check:
    name, path = "data_folder", encodable(str(data_dir))
    try:
        data_dir.stat()
        if not data_dir.is_dir() or not _may(data_dir, os.R_OK | os.X_OK):
            hint = "make it a folder that you may read, or set storage.data_dir to another"
            problem = "cannot be read" if data_dir.is_dir() else "is no folder"
            return _found(name, "fail", f"{path} {problem}", hint, path=path)
        free = shutil.disk_usage(data_dir).free
        used = sum(map(size_of, own_paths(data_dir)))
    except FileNotFoundError:
        return _found(name, "warn", f"{path} is not there yet", "the first `kebab ingest` makes it", path=path)
    except KebabError as error:
        return _failed(name, error)
    except OSError as error:
        hint = "see who may read it, or set storage.data_dir to another folder"
        return _found(name, "fail", encodable(str(error)), hint, path=path)
    sizes = {"free_bytes": free, "used_bytes": used}
    index = data_dir / INDEX_FOLDER
    closed = [folder for folder in (data_dir, index) if folder.is_dir() and not _may(folder, os.W_OK | os.X_OK)]
    if closed:
        hint = "searches work; `kebab ingest` needs to write"
        message = f"{encodable(str(closed[0]))} is read-only"
        return _found(name, "warn", message, hint, path=path, writable=False, **sizes)
    message = f"{path}, {_size(used)} used, {_size(free)} free"
    if free < max(_LEAST_FREE_BYTES, used):
        hint = "an ingest writes the index anew beside the old one; make room for it"
        return _found(name, "warn", message, hint, path=path, writable=True, **sizes)
    return _found(name, "ok", message, path=path, writable=True, **sizes)


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
        return _failed("store", error), None
    message = f"{documents} documents, {chunks} chunks, no fault found"
    return _found("store", "ok", message, version=STORE_VERSION, documents=documents, chunks=chunks), revision


def _no_store(data_dir: Path, error: NotIndexedError) -> Check:
    """Nothing was ingested yet, or the store was lost: what goes with it is there still."""
    try:
        left = [folder for folder in generations(data_dir) if not folder.name.startswith(".")]
    except (KebabError, OSError):  # other checks say so
        left = []
    if not left:
        return _found("store", "warn", encodable(str(error)), error.hint)
    message = f"{STORE_FILE} is not there, but index files are: it was removed, or the first ingest was killed"
    hint = "put it back if you have it, and run `kebab ingest --rebuild-index`; else run `kebab ingest PATH`"
    return _found("store", "warn", message, hint)


def _index(data_dir: Path, model: Check, embedder: Embedder | None) -> tuple[Check, Check]:
    """What is to be said of the index files, and of the vectors among them."""
    unknown = _skipped("vectors", "the index is needed for it")
    try:
        snapshot = Snapshot.open(data_dir)
    except KebabError as error:
        return _failed("index", error), unknown
    with closing(snapshot):
        folder, manifest = data_dir / INDEX_FOLDER / snapshot.corpus_revision, snapshot.generation.manifest
        try:
            verify(folder)
            _compare_ids(snapshot, folder)
        except KebabError as error:
            if snapshot.store.is_current():
                return _failed("index", error), unknown
            hint = "run `kebab doctor` again"
            return _found("index", "warn", "an ingest replaced it while it was checked", hint), unknown
        index = _found(
            "index",
            "ok",
            f"{manifest.n_chunks} chunks, {manifest.n_windows} vectors, checksums match, chunks are those of the store",
            corpus_revision=snapshot.corpus_revision,
            index_version=manifest.index_version,
            chunks=manifest.n_chunks,
            windows=manifest.n_windows,
        )
        return index, _vectors(snapshot.generation, model, embedder)


def _compare_ids(snapshot: Snapshot, folder: Path) -> None:
    """Raises IndexCorruptError where the index files are not of the chunks and documents in the store."""
    generation = snapshot.generation
    keys = list(snapshot.store.chunk_keys())
    if b"".join(chunk_id for chunk_id, _ in keys) != generation.chunk_ids.tobytes():
        raise IndexCorruptError(str(folder), "its chunks are not those of the store")
    if b"".join(doc_id for _, doc_id in keys) != generation.doc_ids[generation.chunk_docs].tobytes():
        raise IndexCorruptError(str(folder), "its chunks are of other documents than in the store")


def _model(wanted: Embedding) -> tuple[Check, Embedder | None]:
    """What is to be said of the embedding model, and the model if it can be used."""
    try:
        # As for an ingest, which compares the files with their checksums, where there are any.
        embedder = load_embedder(wanted)
        if embedder is None:
            return _skipped("model", "models.embedding.provider is none: searches are lexical"), None
        vectors = embedder.embed_passages(_SAMPLES)
    except KebabError as error:
        return _failed("model", error), None
    facts = {"model": embedder.model_id, "fingerprint": embedder.fingerprint, "dim": embedder.dim}
    message = f"{embedder.model_id}, {embedder.dim} dimensions"
    if unknown := [word for word, vector in zip(_SAMPLES, vectors, strict=True) if not vector.any()]:
        hint = "texts in that language are found by their words only; the bundled model knows Korean and English"
        return _found("model", "warn", f"{message}, no vector for {', '.join(unknown)}", hint, **facts), embedder
    if wanted.provider != "static":  # such a model has a vector for anything, whether it knows the language or not
        return _found("model", "ok", f"{message}, answers", **facts), embedder
    if ((wanted.model_path or BUNDLED_FOLDER) / SUMS_FILE).is_file():
        message += ", checksums match"
    return _found("model", "ok", f"{message}, embeds Korean and English", **facts), embedder


def _vectors(generation: Generation, model: Check, embedder: Embedder | None) -> Check:
    """Whether the vectors in the index can be searched with the model in the settings."""
    name, stored = "vectors", generation.manifest.embedding
    if model.status == "fail":
        return _skipped(name, "the model is needed for it")
    if stored is None and embedder is None:
        return _found(name, "ok", "the index has none, as models.embedding.provider says")
    if stored is None:
        return _found(name, "warn", "the index has none", "run `kebab ingest`; until then searches are lexical")
    if embedder is None:
        hint = "set models.embedding back to use them, or run `kebab ingest` to drop them"
        return _found(name, "warn", f"those of {stored.model_id} are not used: models.embedding.provider is none", hint)
    try:
        method_for("vector", generation, lambda: embedder)  # the very check of a search
    except KebabError as error:
        return _failed(name, error)
    facts = {"model": stored.model_id, "fingerprint": stored.fingerprint, "dim": stored.dim}
    return _found(name, "ok", f"of {stored.model_id}, the model in the settings", **facts)


def _lock(data_dir: Path) -> Check:
    """Whether somebody is writing. "ok" says that nobody is, and that the lock can be had."""
    name, path = "write_lock", data_dir / LOCK_FILE
    try:
        locked = is_locked(data_dir)
    except NotADirectoryError:
        return _skipped(name, "the data folder is needed for it")
    except OSError as error:
        hint = "searches work; `kebab ingest` needs it: give back the permission, or remove the file if nobody writes"
        return _found(name, "warn", encodable(f"{path} cannot be looked at: {error.strerror or error}"), hint)
    if locked:
        pid = read_pid(data_dir / PID_FILE)
        who = "a process" if pid is None else f"process {pid}"
        hint = "another writer has to wait; searches do not"
        return _found(name, "warn", f"{who} is writing", hint, **({} if pid is None else {"pid": pid}))
    if path.exists() and _may(data_dir, os.W_OK) and not _may(path, os.R_OK | os.W_OK):
        return _found(name, "warn", encodable(f"{path} cannot be written"), "`kebab ingest` needs it: remove the file")
    return _found(name, "ok", "no writer found")


def _leftovers(data_dir: Path, revision: str | None) -> Check:
    try:
        paths = leftovers(data_dir, revision)
    except KebabError as error:
        return _failed("leftovers", error)
    if not paths:
        return _found("leftovers", "ok", "none")
    names, used = [str(path.relative_to(data_dir)) for path in paths], sum(map(size_of, paths))
    message = f"{', '.join(names)} ({_size(used)}) of a run that was stopped"
    hint = "they do no harm; the next `kebab ingest` removes them"
    return _found("leftovers", "warn", message, hint, names=names, bytes=used)


def _extras() -> Check:
    found = extras()
    states = ", ".join(f"{name} {'installed' if there else 'not installed'}" for name, there in found.items())
    return _found("extras", "ok", states or "there are none", **found)


def _found(name: str, status: CheckStatus, message: str, hint: str | None = None, /, **details: object) -> Check:
    return Check(name=name, status=status, message=message, hint=hint, details=details)


def _failed(name: str, error: KebabError) -> Check:
    record = error_record(error)
    return _found(name, "fail", record.message, record.hint, **{**record.details, "code": record.code})


def _skipped(name: str, reason: str) -> Check:
    return _found(name, "skipped", reason)


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
