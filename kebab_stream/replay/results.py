"""Where the answers go: a stream that is written once, or a file with a journal beside it that can be continued."""

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, Protocol, Self

from kebab_stream.concurrency import write_all
from kebab_stream.config import Config
from kebab_stream.errors import InvalidInputError, StorageError
from kebab_stream.index.durable import writing
from kebab_stream.render import to_json
from kebab_stream.replay.answers import Answers
from kebab_stream.replay.journal import (
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
    """Answers on a descriptor, which stays open: standard output, or a file that cannot have a journal."""

    def __init__(self, descriptor: int) -> None:
        self.state = State()
        self._descriptor = descriptor

    def add(self, batch: Batch, answers: Answers) -> None:
        write_all(self._descriptor, answers.output)
        self.state = _after(self.state, batch, answers)

    def finish(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        """The descriptor is the caller's."""


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
                continued, since the input, the settings, the program or the index changed, or a journal is missing.
            StorageError: a file cannot be read or written, or another run is writing it.
        """
        about = header(config, facts, corpus_revision)
        with writing(path):
            journal = _opened(path.with_name(path.name + SUFFIX))
            try:
                _hold_alone(journal, path)
                output = _opened(path)
                try:
                    before = read_header(journal) if resume else None
                    if before is None:
                        return cls(output, journal, _begun(output, journal, path, to_json(about) + b"\n", force=force))
                    if changed := changes(before, about):
                        raise _not_resumable(path, changed)
                    return cls(output, journal, _continued(output, journal))
                except BaseException:
                    output.close()
                    raise
            except BaseException:
                journal.close()
                raise

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


def is_regular(path: Path) -> bool:
    """Whether a path is a file that can be read again, and not a pipe or a device; a missing one counts as such."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def _after(state: State, batch: Batch, answers: Answers) -> State:
    return state.after(batch.end, answers.output, _tally(batch, answers))


def _tally(batch: Batch, answers: Answers) -> "Tally":
    return answers.tally + Tally(blank_lines=batch.blank_lines)
