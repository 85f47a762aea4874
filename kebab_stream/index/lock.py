"""One writer at a time: a lock on the data folder that dies with its process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kebab_stream.errors import IndexLockedError, StorageError
from kebab_stream.index.checksum import is_regular, open_at_once
from kebab_stream.index.durable import no_folder

LOCK_FILE = "write.lock"
PID_FILE = "write.pid"

_PATIENCE_S, _POLL_S = 0.05, 0.01
"""How long a writer waits: `is_locked` holds the lock for a moment."""
_PIDS = 1 << 31
"""No process has a larger number."""
_PID_BYTES = 20


@contextmanager
def write_lock(data_dir: Path) -> Iterator[None]:
    """Hold the write lock of a data folder, which is created if need be.

    Raises:
        IndexLockedError: another process holds it; names its pid where known.
        StorageError: the folder cannot be written to, or is none.
    """
    import filelock  # late: searches never write

    holder = data_dir / PID_FILE
    # Not thread-local: an ingest takes the lock in one worker thread and gives it back in another.
    lock = filelock.FileLock(data_dir / LOCK_FILE, timeout=_PATIENCE_S, thread_local=False)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        lock.acquire(poll_interval=_POLL_S)
    except filelock.Timeout:
        raise IndexLockedError(str(data_dir), read_pid(holder)) from None
    except (FileExistsError, NotADirectoryError):
        raise no_folder(data_dir, "write to") from None
    except OSError as error:
        raise StorageError(f"cannot write to {error.filename or data_dir}: {error.strerror or error}") from error
    try:
        with suppress(OSError):  # the pid is only information: a full disk may not have room for it
            holder.unlink(missing_ok=True)  # writing to whatever is there might wait, were it a named pipe
            holder.write_text(str(os.getpid()), encoding="ascii")
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def is_locked(data_dir: Path) -> bool:
    """Whether somebody is writing. A writer that starts at this very moment waits until we have looked.

    Raises:
        OSError: that cannot be told.
    """
    try:
        lock = os.open(data_dir / LOCK_FILE, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def read_pid(path: Path) -> int | None:
    """The process that a writer left its number of; None where there is none that could be one."""
    try:
        with open(path, "rb", opener=open_at_once) as file:  # Path.open takes no opener
            pid = int(file.read(_PID_BYTES)) if is_regular(file) else 0
    except (OSError, ValueError):
        return None
    return pid if 0 < pid < _PIDS else None
