"""Settings that have another name by now: they go on working, and a config file can be brought up to date.

A name is changed where it stands and nothing else is, so comments, order, spelling of numbers and white space stay.
No TOML library is needed for that: among the few places where an old name is written, the one is taken whose change
gives, parsed again, exactly the settings that are wanted. A name in a comment or in a text is not such a place.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kebab_stream.config.file import read_toml
from kebab_stream.config.keys import printable
from kebab_stream.config.renames import current_name
from kebab_stream.config.settings import KEYS, SECTIONS, SOURCE_KEYS, SOURCES
from kebab_stream.errors import ConfigNotFoundError
from kebab_stream.index.durable import sync, writing
from kebab_stream.reports.housekeeping import MigrationReport, Rename


@dataclass(frozen=True, slots=True)
class Migration:
    """A config file brought up to date."""

    text: str
    renames: tuple[Rename, ...]
    unknown: tuple[str, ...]
    """Dotted names of what no version of these settings knows; it stays in the text."""


def pending(document: Mapping[str, object]) -> tuple[Rename, ...]:
    """The settings in a parsed config file that have another name by now."""
    return tuple(
        Rename(old=name, new=new) for name, table in _names(document, "") if (new := current_name(name, table)) != name
    )


def migrate_file(path: Path, *, dry_run: bool) -> MigrationReport:
    """Bring a config file up to date, and keep it as it was beside it. A symbolic link stays one.

    Raises:
        ConfigNotFoundError: there is no such file.
        ConfigInvalidError: it cannot be read, or is no TOML.
        StorageError: it, or the backup, cannot be written; the file is as it was.
    """
    import difflib  # 2 ms, and shutil 6, that no other command need spend

    if read_toml(path) is None:
        raise ConfigNotFoundError(
            f"config file {printable(str(path))} does not exist",
            "`kebab init` writes one",
            {"path": printable(str(path))},
        )
    file = path.resolve()
    before = file.read_bytes().decode("utf-8")
    migration = migrated(before)
    backup = None
    if migration.renames and not dry_run:
        backup = _replace(file, before.encode("utf-8"), migration.text.encode("utf-8"))
    lines = before.splitlines(), migration.text.splitlines()
    return MigrationReport(
        path=str(path),
        written=backup is not None,
        backup=None if backup is None else str(backup),
        renames=migration.renames,
        unknown=migration.unknown,
        diff="\n".join(difflib.unified_diff(*lines, "before", "after", lineterm="")),
    )


def _replace(file: Path, before: bytes, after: bytes) -> Path:
    """Write a file anew, all at once; where it is kept as it was."""
    import shutil

    with writing(file):
        backup = _kept(file, before)
        partial = file.with_name(f".{file.name}.partial")
        try:
            partial.write_bytes(after)
            shutil.copymode(file, partial)
            sync(partial)
            partial.replace(file)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    return backup


def _kept(file: Path, content: bytes) -> Path:
    """The content under a name beside the file that nothing has yet."""
    import shutil

    for number in itertools.count(1):
        backup = file.with_name(f"{file.name}.backup-{number}")
        try:
            with backup.open("xb") as stream:
                stream.write(content)
        except FileExistsError:
            continue
        shutil.copymode(file, backup)
        return backup
    raise AssertionError  # the numbers do not end


def migrated(text: str) -> Migration:
    """The text of a config file with the names of today. Doing it twice changes nothing more.

    Raises:
        ValueError: the text is no TOML.
    """
    done = []
    for rename in pending(_parsed(text)):
        changed = _renamed(text, rename)
        if changed is not None:
            text = changed
            done.append(rename)
    return Migration(text, tuple(done), tuple(_unknown(_parsed(text))))


def _renamed(text: str, rename: Rename) -> str | None:
    """The text with one name changed; None where it is spelled with escapes, and so is not found."""
    old, new = (name.rpartition(".")[2] for name in (rename.old, rename.new))
    wanted = _parsed(text)
    table: Any = wanted
    for part in rename.old.split(".")[:-1]:
        table = table[part]
    table[new] = table.pop(old)
    for match in re.finditer(rf"(?<![\w-]){re.escape(old)}(?=[\"']?[ \t]*=)", text):
        changed = text[: match.start()] + new + text[match.end() :]
        if _parsed_or_none(changed) == wanted:
            return changed
    return None


def _parsed(text: str) -> dict[str, Any]:
    """The document, numbers with a fraction as they are spelled, so that they can be compared."""
    import tomllib  # 5 ms that a run without a config file need not spend

    return tomllib.loads(text.removeprefix("\ufeff"), parse_float=str)


def _parsed_or_none(text: str) -> dict[str, Any] | None:
    try:
        return _parsed(text)
    except ValueError:
        return None


def _names(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Every name in the tables that hold settings, dotted, with the table it is in."""
    for key, value in table.items():
        name = f'{prefix}"{key}"' if "." in key else prefix + key  # a quoted "search.default_k" is one key, not two
        yield name, table
        if isinstance(value, dict) and name in SECTIONS:
            yield from _names(value, f"{name}.")


def _unknown(document: Mapping[str, Any]) -> Iterator[str]:
    for name, table in _names(document, ""):
        if name not in (*KEYS, *SECTIONS, SOURCES) and current_name(name, table) == name:
            yield name
        elif name == SOURCES and isinstance(sources := table["sources"], list):
            for number, source in enumerate(sources):
                keys = source if isinstance(source, dict) else ()
                yield from (f"{name}[{number}].{key}" for key in keys if key not in SOURCE_KEYS)
