"""Bringing a config file up to date: it means the same before and after, and nothing else in it changes."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config.migrate import migrate_file, migrated
from kebab_stream.config.renames import RENAMED
from kebab_stream.config.settings import KEYS
from kebab_stream.errors import ConfigInvalidError, ConfigNotFoundError, StorageError
from kebab_stream.reports.housekeeping import Rename
from tests.config.loading import load, refusal
from tests.limits import public_folder, restricted

FUSION = Rename(old="search.hybrid_fusion", new="search.fusion")
OLD = """\
# My settings.\r
[search]   # ranking\r
hybrid_fusion = "rrf"\t# hybrid_fusion = "convex" was worse\r
fusion_weight = 0.30000001192092896\r
chars_per_token = 1e1\r

[models.llm]
  request_timeout_secs=300
"""
NEW = OLD.replace('\nhybrid_fusion = "rrf"', '\nfusion = "rrf"').replace("request_timeout_secs", "timeout_s")


def test_names_change_where_they_stand_and_nothing_else_does() -> None:
    migration = migrated(OLD)

    assert migration.text == NEW
    assert migration.renames == (FUSION, Rename(old="models.llm.request_timeout_secs", new="models.llm.timeout_s"))
    assert migration.unknown == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('search.hybrid_fusion = "rrf"', 'search.fusion = "rrf"'),
        ('search = { default_k = 5, hybrid_fusion = "rrf" }', 'search = { default_k = 5, fusion = "rrf" }'),
        ('[search]\n"hybrid_fusion" = "rrf"', '[search]\n"fusion" = "rrf"'),
        ("[ search ]\n'hybrid_fusion'  =  'rrf'", "[ search ]\n'fusion'  =  'rrf'"),
        ('\ufeff[search]\nhybrid_fusion = "rrf"', '\ufeff[search]\nfusion = "rrf"'),
        (
            'readonly = false # hybrid_fusion = 1\n[search]\nhybrid_fusion = "rrf"',
            'readonly = false # hybrid_fusion = 1\n[search]\nfusion = "rrf"',
        ),
        (
            '[models.llm]\nmodel = """\nhybrid_fusion = 1"""\n[search]\nhybrid_fusion = "rrf"',
            '[models.llm]\nmodel = """\nhybrid_fusion = 1"""\n[search]\nfusion = "rrf"',
        ),
        (
            '[other]\nhybrid_fusion = "rrf"\n[search]\nhybrid_fusion = "rrf"\nx = nan',
            '[other]\nhybrid_fusion = "rrf"\n[search]\nfusion = "rrf"\nx = nan',
        ),
    ],
)
def test_a_name_is_found_however_it_is_written(old: str, new: str) -> None:
    migration = migrated(old)

    assert (migration.text, migration.renames) == (new, (FUSION,))


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ('[search]\nfusion = "convex"\nhybrid_fusion = "rrf"\n', ("search.hybrid_fusion",)),
        ("schema_version = 2\n[rag]\nscore_gate = 0.3\n", ("schema_version", "rag")),
        ("[ingest.chunking]\ntarget_tokens = 500\n", ("ingest.chunking.target_tokens",)),
        ('[[workspace.sources]]\nid = "a"\nroot = "/a"\ncolour = "red"\n', ("workspace.sources[0].colour",)),
        ('"search.hybrid_fusion" = "rrf"\n', ('"search.hybrid_fusion"',)),
    ],
)
def test_what_is_not_known_is_listed_and_never_dropped(text: str, unknown: tuple[str, ...], file: Path) -> None:
    migration = migrated(text)

    assert (migration.text, migration.renames, migration.unknown) == (text, (), unknown)
    assert refusal(text, file=file).code == "config_invalid"


def test_an_old_name_goes_on_working_and_is_checked_like_the_new_one(file: Path) -> None:
    assert load('[search]\nhybrid_fusion = "rrf"\n', file=file).search.fusion == "rrf"
    assert refusal('[search]\nhybrid_fusion = "best"\n', file=file).details["key"] == "search.fusion"


def test_every_old_name_is_gone_and_stands_for_a_setting() -> None:
    for old, new in RENAMED.items():
        assert old not in KEYS
        assert f"{old.rpartition('.')[0]}.{new}" in KEYS


_LINES = st.sampled_from(
    [
        ("search", 'hybrid_fusion = "rrf"'),
        ("search", "fusion_weight = 0.30000001192092896"),
        ("search", "default_k = 0x0A # hybrid_fusion = 3"),
        ("search", "# hybrid_fusion = 3"),
        ("models.embedding", "num_threads = 2"),
        ("models.embedding", "batch_size = 6_4"),
        ("models.llm", "request_timeout_secs = 5e1"),
        ("models.llm", 'model = "num_threads = 2"'),
    ]
)


@given(st.lists(_LINES, unique_by=lambda line: line[1]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_file_means_the_same_afterwards_and_has_no_old_name_left(
    lines: list[tuple[str, str]], end: str, dotted: bool
) -> None:
    if dotted:
        text = end.join(line if line.startswith("#") else f"{section}.{line}" for section, line in lines)
    else:
        text = end.join(
            f"[{section}]{end}" + end.join(line for here, line in lines if here == section) for section in dict(lines)
        )

    migration = migrated(text)

    assert meaning(migration.text) == meaning(text)
    assert migrated(migration.text).renames == ()
    assert migrated(migration.text).text == migration.text
    assert len(migration.text.split(end)) == len(text.split(end))


def meaning(text: str) -> Any:
    """The settings, by their names of today."""
    document: dict[str, Any] = tomllib.loads(text)
    for old, new in RENAMED.items():
        table = document
        for part in old.split(".")[:-1]:
            table = table.get(part, {})
        if old.rpartition(".")[2] in table:
            table[new] = table.pop(old.rpartition(".")[2])
    return document


def test_the_file_as_it_was_stays_beside_it(file: Path) -> None:
    file.write_bytes(OLD.encode())
    file.chmod(0o600)

    first = migrate_file(file, dry_run=False)
    second = migrate_file(file, dry_run=False)
    file.write_bytes(OLD.encode())
    third = migrate_file(file, dry_run=False)

    assert (first.written, second.written, second.backup) == (True, False, None)
    assert [first.backup, third.backup] == [f"{file}.backup-1", f"{file}.backup-2"]
    assert (file.read_bytes().decode(), Path(f"{file}.backup-1").read_bytes().decode()) == (NEW, OLD)
    assert file.stat().st_mode & 0o777 == Path(f"{file}.backup-1").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in file.parent.iterdir()) == [
        file.name,
        f"{file.name}.backup-1",
        f"{file.name}.backup-2",
    ]


def test_a_dry_run_shows_the_difference_and_changes_nothing(file: Path) -> None:
    file.write_bytes(OLD.encode())

    report = migrate_file(file, dry_run=True)

    assert (report.written, report.backup, report.renames[0]) == (False, None, FUSION)
    assert '-hybrid_fusion = "rrf"' in report.diff
    assert '+fusion = "rrf"' in report.diff
    assert [path.read_bytes() for path in file.parent.iterdir()] == [OLD.encode()]


def test_a_link_to_a_config_file_stays_one(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "kebab.toml").write_text(OLD)
    (tmp_path / "config.toml").symlink_to("dotfiles/kebab.toml")

    report = migrate_file(tmp_path / "config.toml", dry_run=False)

    assert (tmp_path / "config.toml").is_symlink()
    assert report.backup == str(tmp_path / "dotfiles" / "kebab.toml.backup-1")
    assert migrated((tmp_path / "dotfiles" / "kebab.toml").read_text()).renames == ()


def test_a_folder_that_cannot_be_written_to_keeps_the_file(tmp_path: Path) -> None:
    with public_folder() as folder:
        (folder / "config.toml").write_text(OLD)
        (folder / "config.toml").chmod(0o644)
        with restricted(folder, 0o555), pytest.raises(StorageError, match="cannot write"):
            migrate_file(folder / "config.toml", dry_run=False)

        assert [path.read_text() for path in folder.iterdir()] == [OLD.replace("\r\n", "\n")]


def test_what_is_no_config_file_is_refused(file: Path) -> None:
    with pytest.raises(ConfigNotFoundError):
        migrate_file(file, dry_run=True)
    file.write_text("no toml")
    with pytest.raises(ConfigInvalidError):
        migrate_file(file, dry_run=True)
