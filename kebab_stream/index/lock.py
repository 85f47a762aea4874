"""One writer at a time: a lock on the data folder that dies with its process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kebab_stream.errors import IndexLockedError, StorageError

LOCK_FILE = "write.lock"
PID_FILE = "write.pid"

_PIDS = 1 << 31
"""No process has a larger number."""


@contextmanager
def write_lock(data_dir: Path) -> Iterator[None]:
    """Hold the write lock of a data folder, which is created if need be.

    Raises:
        IndexLockedError: another process holds it; names its pid where known.
        StorageError: the folder cannot be written to.
    """
    import filelock  # late: searches never write

    holder = data_dir / PID_FILE
    # Not thread-local: an ingest takes the lock in one worker thread and gives it back in another.
    lock = filelock.FileLock(data_dir / LOCK_FILE, blocking=False, thread_local=False)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout:
        raise IndexLockedError(str(data_dir), read_pid(holder)) from None
    except OSError as error:
        raise StorageError(f"cannot write to {data_dir}: {error.strerror or error}") from error
    try:
        with suppress(OSError):  # the pid is only information: a full disk may not have room for it
            holder.write_text(str(os.getpid()), encoding="ascii")
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def read_pid(path: Path) -> int | None:
    """The process that a writer left its number of; None where there is none that could be one."""
    try:
        pid = int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return pid if 0 < pid < _PIDS else None
