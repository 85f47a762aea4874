"""The write lock: one holder at a time, whatever thread or process, and none once the process is gone."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer

import pytest

from kebab_stream.errors import IndexLockedError, StorageError
from kebab_stream.index.lock import LOCK_FILE, is_locked, write_lock
from tests.limits import largest_file, public_folder, restricted
from tests.paths import ROOT

HOLD = """
import sys
from pathlib import Path
from kebab_stream.index.lock import write_lock
with write_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(data_dir: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until its stdin is closed."""
    command = [sys.executable, "-c", HOLD, str(data_dir)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def assert_held_here(data_dir: Path) -> None:
    with pytest.raises(IndexLockedError) as caught, write_lock(data_dir):
        pytest.fail("locked twice")
    assert caught.value.details == {"pid": os.getpid()}


def run_in_a_thread(function: Callable[..., object], *args: object) -> None:
    thread = Thread(target=function, args=args)
    thread.start()
    thread.join()


def test_a_second_writer_learns_who_the_first_one_is(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as process, pytest.raises(IndexLockedError) as caught, write_lock(tmp_path):
        pytest.fail("locked twice")

    assert caught.value.details == {"pid": process.pid}
    assert str(process.pid) in str(caught.value)


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as process:
        process.kill()
        process.wait()

        with write_lock(tmp_path):
            assert_held_here(tmp_path)


def test_a_lock_taken_in_one_thread_is_given_back_in_another(tmp_path: Path) -> None:
    lock = write_lock(tmp_path)
    run_in_a_thread(lock.__enter__)
    assert_held_here(tmp_path)
    run_in_a_thread(lock.__exit__, None, None, None)

    with held_elsewhere(tmp_path):
        pass


def test_a_failed_writer_gives_the_lock_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), write_lock(tmp_path):
        raise ZeroDivisionError

    with held_elsewhere(tmp_path):
        pass


def test_a_disk_without_room_for_the_pid_does_not_keep_a_writer_away(tmp_path: Path) -> None:
    with largest_file(0), write_lock(tmp_path):
        with pytest.raises(IndexLockedError) as caught, write_lock(tmp_path):
            pytest.fail("locked twice")
        assert caught.value.details == {"pid": None}


def test_the_data_folder_is_made(tmp_path: Path) -> None:
    with write_lock(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()


def test_a_data_folder_that_cannot_be_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for data_dir in (tmp_path / "file", tmp_path / "file" / "sub"):
        with pytest.raises(StorageError, match=f"cannot write to {data_dir}: "), write_lock(data_dir):
            pytest.fail("locked a file")


def test_a_data_folder_that_cannot_be_written_is_a_storage_error() -> None:
    with (
        public_folder() as folder,
        restricted(folder, 0o555),
        pytest.raises(StorageError, match="Permission denied"),
        write_lock(folder),
    ):
        pytest.fail("locked a read-only folder")


def test_looking_at_the_lock_tells_whether_it_is_held_and_keeps_no_writer_away(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with write_lock(tmp_path):
        assert is_locked(tmp_path)
    looking = os.open(tmp_path / LOCK_FILE, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    Timer(0.01, os.close, [looking]).start()

    with write_lock(tmp_path):
        pass


def test_a_lock_that_may_not_be_opened_is_named(tmp_path: Path) -> None:
    with public_folder() as folder:
        (folder / LOCK_FILE).touch()
        folder.chmod(0o777)
        with restricted(folder / LOCK_FILE, 0o000), pytest.raises(StorageError, match=LOCK_FILE), write_lock(folder):
            pytest.fail("locked what may not be opened")
