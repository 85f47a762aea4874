"""Where the answers go: a stream that is written once, or a file with a journal beside it that can be continued."""

import fcntl
import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final, Protocol, Self

from kebab_stream.concurrency import write_all
from kebab_stream.config import Config
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.index.durable import writing
from kebab_stream.render import to_json
from kebab_stream.replay.answers import Answers
from kebab_stream.replay.journal import (
    BEGINNING,
    SUFFIX,
    SourceFacts,
    State,
    changes,
    entry,
    header,
    last_entry,
    read_header,
    trusted,
)
from kebab_stream.replay.lines import Batch
from kebab_stream.replay.tally import Tally

_STANDARD_ERROR: Final = 2
_ANEW_HINT: Final = "--force, without --resume, replays from the beginning"
_FRESH_HINT: Final = "--resume continues a run that was cut off, --force replaces the file"


class Results(Protocol):
    """What takes the answers of a run, in order. Its methods block."""

    state: State
    """Where the run stands."""

    def add(self, batch: Batch, answers: Answers) -> None:
        """Write the answers to the next batch. Raises StorageError, BrokenPipeError."""
        ...

    def finish(self) -> None:
        """All is written. Raises StorageError."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...


class StreamResults:
    """Answers without a journal: on standard output or another stream, or in a file where the input is a stream."""

    def __init__(self, descriptor: int) -> None:
        self.state = State()
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path, *, force: bool) -> Self:
        """Write to this path.

        Raises:
            InvalidInputError: it has content, and `force` is not given.
            StorageError: it cannot be written.
        """
        with writing(path):
            if not force and is_regular(path):
                _refuse_to_replace(path)
            results = cls(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
            if is_regular(path):
                results._begin(path)
            return results

    def _begin(self, path: Path) -> None:
        try:
            _hold_alone(self._descriptor, path)
            os.ftruncate(self._descriptor, 0)
        except BaseException:
            self.close()
            raise

    def add(self, batch: Batch, answers: Answers) -> None:
        write_all(self._descriptor, answers.output)
        self.state = _after(self.state, batch, answers)

    def finish(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        """Let go of the file; standard output stays open."""
        if self._descriptor > _STANDARD_ERROR:
            os.close(self._descriptor)


class FileResults:
    """Answers in a file, and its journal beside it. Made by `open`."""

    def __init__(self, output: BinaryIO, journal: BinaryIO, state: State) -> None:
        self.state = state
        self._output = output
        self._journal = journal

    @classmethod
    def open(
        cls, path: Path, config: Config, facts: SourceFacts, corpus_revision: str, *, resume: bool, force: bool
    ) -> Self:
        """Begin a run, or continue the one that the journal tells of.

        Raises:
            InvalidInputError: there are results already, and neither `resume` nor `force` is given; or they cannot be
                continued, since the input, the settings, the program or the index changed, or a journal is missing; or
                the place of the journal is taken by another file.
            StorageError: a file cannot be read or written, or another run is writing it.
        """
        about = header(config, facts, corpus_revision)
        beside = journal_beside(path)
        with writing(path), ExitStack() as opened:
            if not (force or (resume and beside.exists())):
                _refuse_to_replace(path)
            journal = opened.enter_context(_opened(beside))
            _hold_alone(journal.fileno(), path)
            _require_ours(journal, beside)
            output = opened.enter_context(_opened(path))
            _hold_alone(output.fileno(), path)  # the file may have a second name, with another journal beside it
            before = read_header(journal) if resume else None
            if before is None:
                if not force:
                    _refuse_to_replace(path)
                _begin(output, journal, to_json(about) + b"\n")
                state = State()
            else:
                if changed := changes(before, about):
                    raise _not_resumable(path, changed)
                state = _continue(output, journal, path)
            opened.pop_all()
            return cls(output, journal, state)

    def add(self, batch: Batch, answers: Answers) -> None:
        write_all(self._output.fileno(), answers.output)
        self.state = _after(self.state, batch, answers)
        tally = _tally(batch, answers)
        write_all(self._journal.fileno(), entry(self.state, answers.output, tally))

    def finish(self) -> None:
        if self.state.finished:
            return
        os.fsync(self._output.fileno())
        write_all(self._journal.fileno(), last_entry(self.state))
        os.fsync(self._journal.fileno())

    def close(self) -> None:
        self._output.close()
        self._journal.close()


def journal_beside(path: Path) -> Path:
    """Where the journal of an output is."""
    return path.with_name(path.name + SUFFIX)


def is_regular(path: Path) -> bool:
    """Whether a path is a file that can be read again, and not a pipe or a device; a missing one counts as such."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def _begin(output: BinaryIO, journal: BinaryIO, header_line: bytes) -> None:
    os.ftruncate(journal.fileno(), 0)
    os.ftruncate(output.fileno(), 0)
    write_all(journal.fileno(), header_line)
    os.fsync(journal.fileno())


def _continue(output: BinaryIO, journal: BinaryIO, path: Path) -> State:
    """Drop what cannot be trusted of both files; where the run stands then."""
    state, end = trusted(journal, output)
    if not state.finished:
        os.ftruncate(output.fileno(), state.output)
        os.ftruncate(journal.fileno(), end)
    elif output.read(1):
        problem = f"{path} goes on behind what its finished run wrote"
        raise InvalidInputError(problem, _ANEW_HINT, {"path": str(path)})
    return state


def _opened(path: Path) -> BinaryIO:
    """A file to be read here and there and written at its end, created if need be."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666), "rb")


def _hold_alone(descriptor: int, path: Path) -> None:
    """Lock a file itself, so that nothing is left behind; the lock ends with the process."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StorageError(f"another replay is writing {path}", "wait for it, or write elsewhere") from None


def _require_ours(journal: BinaryIO, path: Path) -> None:
    """Refuse a file of somebody else's in the place of a journal, also where results may be replaced."""
    beginning = journal.read(len(BEGINNING))
    journal.seek(0)
    if not BEGINNING.startswith(beginning):
        raise InvalidInputError(f"{path} is no journal of a replay", "write elsewhere", {"path": str(path)})


def _refuse_to_replace(path: Path) -> None:
    if path.exists() and path.stat().st_size:
        raise InvalidInputError(f"{path} has content already", _FRESH_HINT, {"path": str(path)})


def _not_resumable(path: Path, changed: Sequence[str]) -> InvalidInputError:
    return InvalidInputError(
        f"{path} cannot be continued: {'; '.join(changed)}",
        _ANEW_HINT,
        {"path": str(path), "changes": list(changed)},
    )


def _after(state: State, batch: Batch, answers: Answers) -> State:
    return state.after(batch.end, len(answers.output), _tally(batch, answers))


def _tally(batch: Batch, answers: Answers) -> Tally:
    return answers.tally + Tally(blank_lines=batch.blank_lines)
