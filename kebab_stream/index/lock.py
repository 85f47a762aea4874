"""One writer at a time: a lock on the data folder that dies with its process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kebab_stream.errors import IndexLockedError, StorageError

LOCK_FILE = "write.lock"
PID_FILE = "write.pid"


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
        raise IndexLockedError(str(data_dir), _read_pid(holder)) from None
    except OSError as error:
        raise StorageError(f"cannot write to {data_dir}: {error.strerror or error}") from error
    try:
        with suppress(OSError):  # the pid is only information: a full disk may not have room for it
            holder.write_text(str(os.getpid()))
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def _read_pid(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
