"""The journal of a run: what it was about, then one line for each batch that is in the output.

A line is written after the output it speaks of, and has the checksum of that output. So whatever a crash left behind,
what can be trusted is what the output still has: no order of writes is relied on, and nothing but the first line of the
journal is synced before the end.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from kebab_stream.config import Config
from kebab_stream.config.settings import KEYS
from kebab_stream.extras import version
from kebab_stream.ndjson import parse_json
from kebab_stream.render import to_json
from kebab_stream.replay.lines import Position
from kebab_stream.replay.tally import Tally

FORMAT: Final = "kebab-replay-journal.1"
SUFFIX: Final = ".journal"

_BLOCK_BYTES: Final = 1 << 20
_SETTINGS: Final = ("search.", "models.embedding.")
"""Settings that answers depend on."""
_HOW: Final = tuple(
    f"models.embedding.{name}" for name in ("batch_size", "threads", "endpoint", "api_key_env", "timeout_s")
)
"""Those among them that only say how work is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """An input file at one moment."""

    size: int
    checksum: str
    lines: int
    """Physical lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Where a run stands, counted from its very beginning."""

    position: Position = field(default_factory=Position)
    """In the input."""
    output: int = 0
    """Bytes of output."""
    tally: Tally = field(default_factory=Tally)
    finished: bool = False

    def after(self, position: Position, output: bytes, tally: Tally) -> "State":
        """The state after a batch whose output and counts these are."""
        return State(position=position, output=self.output + len(output), tally=self.tally + tally)


def facts_of(file: BinaryIO) -> SourceFacts:
    """Read a file as a whole: its size, checksum and lines. May raise OSError."""
    checksum = hashlib.blake2b(digest_size=16)
    size = lines = 0
    last = b"\n"
    while block := file.read(_BLOCK_BYTES):
        checksum.update(block)
        size += len(block)
        lines += block.count(b"\n")
        last = block[-1:]
    return SourceFacts(size=size, checksum=checksum.hexdigest(), lines=lines + (last != b"\n"))


def header(config: Config, facts: SourceFacts, corpus_revision: str) -> dict[str, Any]:
    """What a run is about: it may only be continued while none of this changes."""
    return {
        "journal": FORMAT,
        "version": version(),
        "input": asdict(facts),
        "corpus_revision": corpus_revision,
        "settings": {name: _setting(config, name) for name in KEYS if name.startswith(_SETTINGS) and name not in _HOW},
    }


def changes(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What is not as it was, for people."""
    found = []
    if before.get("journal") != now["journal"]:
        return ["the journal is of another format"]
    if before.get("version") != now["version"]:
        found.append(f"kebab is {now['version']}, it was {before.get('version')}")
    if before.get("input") != now["input"]:
        found.append("the input changed")
    if before.get("corpus_revision") != now["corpus_revision"]:
        found.append(f"the index changed: corpus_revision is {now['corpus_revision']}")
    old = before.get("settings")
    old = old if isinstance(old, dict) else {}
    for name, value in now["settings"].items():
        if old.get(name) != value:
            found.append(f"{name} is {value}, it was {old.get(name)}")
    return found


def entry(state: State, output: bytes, tally: Tally) -> bytes:
    """The line that says how `state` came about: by this output, which counts so."""
    return _line(state, _checksum(output), tally)


def last_entry(state: State) -> bytes:
    """The line that says that a run is finished."""
    return _line(replace(state, finished=True), _checksum(b""), Tally())


def read_header(journal: BinaryIO) -> dict[str, Any] | None:
    """The first line of a journal; None where it is missing or was cut off. May raise OSError."""
    value = _whole_line(journal)
    return value if isinstance(value, dict) else None


def trusted(journal: BinaryIO, output: BinaryIO) -> tuple[State, int]:
    """Follow a journal, from behind its header, as far as the output is what it says. May raise OSError.

    Returns:
        The state up to which the output can be trusted, and the end of the journal's part about it.
    """
    last = State(), journal.tell()
    for found in _followed(journal, output):
        last = found
    return last


def _followed(journal: BinaryIO, output: BinaryIO) -> Iterator[tuple[State, int]]:
    state = State()
    while isinstance(line := _whole_line(journal), dict):
        try:
            position = Position(line["offset"], line["lines"])
            size, checksum, tally = line["output"] - state.output, line["checksum"], Tally.from_json(line["tally"])
            finished = line["finished"]
        except (KeyError, TypeError, ValueError, AttributeError):
            return
        data = output.read(size) if size else b""
        if len(data) != size or _checksum(data) != checksum:
            return
        state = replace(state.after(position, data, tally), finished=finished)
        yield state, journal.tell()


def _line(state: State, checksum: str, tally: Tally) -> bytes:
    position = state.position
    fields = {
        "offset": position.offset,
        "lines": position.lines,
        "output": state.output,
        "checksum": checksum,
        "finished": state.finished,
        "tally": tally.as_json(),
    }
    return to_json(fields) + b"\n"


def _whole_line(journal: BinaryIO) -> object:
    line = journal.readline()
    return parse_json(line) if line.endswith(b"\n") else None


def _checksum(output: bytes) -> str:
    return hashlib.blake2b(output, digest_size=16).hexdigest()


def _setting(config: Config, name: str) -> object:
    value: object = config
    for part in name.split("."):
        value = getattr(value, part)
    return str(value) if isinstance(value, Path) else value
