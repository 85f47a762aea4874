"""Vectors that were computed before, by model and content: what makes an ingest after a crash or a small edit cheap.

A file of its own beside the store, and nothing but a shortcut: it is thrown away when it is damaged, and an ingest goes
on without it where it cannot be written. Only the holder of the write lock opens it.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from kebab_stream.index.store import MAX_VARIABLES, marks

CACHE_FILE = "cache.sqlite"

_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key BLOB NOT NULL UNIQUE, checksum BLOB NOT NULL, rows BLOB NOT NULL)"
_KEY_BYTES = 16
_CHECKSUM_BYTES = 8

_DAMAGE = (sqlite3.Error, KeyError, TypeError, ValueError)
"""The last three come of rows that make no sense, and of SQLite's own messages where they quote them."""

Vectors = NDArray[np.int8]
Result = TypeVar("Result")


class EmbeddingCache:
    """The window vectors of texts, for one model. No method ever raises: what goes wrong costs time only."""

    def __init__(self, path: Path, scope: str, dim: int) -> None:
        self._path = path
        self._scope = scope.encode()
        self._dim = dim
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def open(cls, data_dir: Path, *, scope: str, dim: int) -> Self:
        """Open the cache, or begin an empty one.

        Args:
            scope: all that decides, besides a text, what its vectors are: the model, and how windows are cut.
            dim: length of a vector.
        """
        cache = cls(data_dir / CACHE_FILE, scope, dim)
        for _ in range(2):  # the second time without what was no database (any more)
            with contextlib.suppress(*_DAMAGE):
                cache._connection = _connect(cache._path)
                break
            cache._give_up()
        return cache

    def close(self) -> None:
        """Let go of the file. What was put is in it."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def get(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vectors of those texts that are known, each of shape (windows of the text, dim)."""
        text_of = {self._key(text): text for text in texts}

        def find(connection: sqlite3.Connection) -> dict[str, Vectors]:
            found = {}
            for key, checksum, data in _rows_of(connection, list(text_of)):
                # What is no blob of the right length and checksum counts as unknown.
                if isinstance(data, bytes) and len(data) % self._dim == 0 and checksum == _checksum(key, data):
                    found[text_of[key]] = np.frombuffer(data, np.int8).reshape(-1, self._dim)
            return found

        return self._tried(find) or {}

    def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Remember the vectors of texts; from here on they outlive the process."""
        pairs = [(self._key(text), rows.tobytes()) for text, rows in vectors.items()]

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("BEGIN")
                connection.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                    [(key, _checksum(key, data), data) for key, data in pairs],
                )

        self._tried(insert)

    def trim(self, limit: int) -> None:
        """Forget the entries that were put first, until at most `limit` are left."""
        oldest = "SELECT rowid FROM vectors ORDER BY rowid LIMIT max(0, (SELECT count(*) FROM vectors) - ?)"
        statement = f"DELETE FROM vectors WHERE rowid IN ({oldest})"  # noqa: S608  # no values in it
        self._tried(lambda connection: connection.execute(statement, (limit,)))

    def _tried(self, action: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """What an action on the file gives, or None; a file that fails is not used again."""
        try:
            return action(self._connection) if self._connection else None
        except _DAMAGE:
            self.close()
            self._give_up()
            return None

    def _give_up(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _key(self, text: str) -> bytes:
        hasher = hashlib.blake2b(self._scope, digest_size=_KEY_BYTES)
        hasher.update(b"\0" + text.encode("utf-8", "surrogatepass"))
        return hasher.digest()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        # A machine that stops may leave a damaged file, which is then begun anew: no need to wait for the disk.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _rows_of(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, bytes, bytes]]:
    rows: list[tuple[bytes, bytes, bytes]] = []
    for start in range(0, len(keys), MAX_VARIABLES):
        some = keys[start : start + MAX_VARIABLES]
        rows += connection.execute(
            f"SELECT key, checksum, rows FROM vectors WHERE key IN ({marks(len(some))})",  # noqa: S608  # question marks only
            some,
        )
    return rows


def _checksum(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_CHECKSUM_BYTES, key=key).digest()
