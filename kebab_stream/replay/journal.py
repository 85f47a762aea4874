"""The journal of a run: what it was about, then one line for each batch that is in the output.

A line is written after the output it speaks of, and has a checksum of that output and of itself. So whatever a crash
left behind, what can be trusted is what both files still have: no order of writes is relied on, and nothing but the
first line of the journal is synced before the end.
"""

import hashlib
import io
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

FORMAT: Final = "kebab-replay-journal.2"
SUFFIX: Final = ".journal"
BEGINNING: Final = b'{"journal":"kebab-replay-journal.'
"""Of every journal, whatever its format."""

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

    def after(self, position: Position, size: int, tally: Tally) -> "State":
        """The state after a batch whose output has this size, and whose counts these are."""
        return State(position=position, output=self.output + size, tally=self.tally + tally)


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
    """The line about a batch: the state after it, its own output and its own counts."""
    return _line(state, io.BytesIO(output), tally)


def last_entry(state: State) -> bytes:
    """The line that says that a run is finished."""
    return _line(replace(state, finished=True), io.BytesIO(), Tally())


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
        size, expected = line.get("size"), line.pop("checksum", None)
        if not isinstance(size, int) or expected != _checksum(line, output, size):
            return
        position = Position(line["offset"], line["lines"])
        state = replace(state.after(position, size, Tally.from_json(line["tally"])), finished=line["finished"])
        yield state, journal.tell()


def _line(state: State, output: BinaryIO, tally: Tally) -> bytes:
    position = state.position
    size = output.seek(0, io.SEEK_END)
    output.seek(0)
    fields = {
        "offset": position.offset,
        "lines": position.lines,
        "size": size,
        "finished": state.finished,
        "tally": tally.as_json(),
    }
    return to_json({**fields, "checksum": _checksum(fields, output, size)}) + b"\n"


def _whole_line(journal: BinaryIO) -> object:
    line = journal.readline()
    return parse_json(line) if line.endswith(b"\n") else None


def _checksum(fields: dict[str, Any], output: BinaryIO, size: int) -> str:
    """Of what a line says, and of the next `size` bytes of the output, or as many as there are."""
    found = hashlib.blake2b(to_json(fields), digest_size=16)
    while size > 0 and (block := output.read(min(size, _BLOCK_BYTES))):
        found.update(block)
        size -= len(block)
    return found.hexdigest()


def _setting(config: Config, name: str) -> object:
    value: object = config
    for part in name.split("."):
        value = getattr(value, part)
    return str(value) if isinstance(value, Path) else value
