"""Which folders are scanned: what is given, configured and known, and which names are refused."""

import os
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kebab_stream.config import Config, Source, Storage, Workspace
from kebab_stream.errors import InvalidInputError
from kebab_stream.ingest.sources import source_row, sources_to_scan
from tests.limits import public_folder, restricted


def scanned(
    *paths: Path,
    root: Path | None = None,
    configured: Sequence[Source] = (),
    known: Sequence[Source] = (),
    source_id: str | None = None,
    data_dir: Path = Path("/data"),
) -> list[Source]:
    workspace = Workspace(root=root, sources=tuple(configured))
    config = Config(storage=Storage(data_dir=data_dir), workspace=workspace)
    return sources_to_scan(config, paths, [source_row(source) for source in known], source_id=source_id)


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def source(path: Path, source_id: str | None = None, **settings: object) -> Source:
    return Source(id=source_id or path.name, root=path, **settings)  # type: ignore[arg-type]


def test_a_given_folder_is_a_source_named_after_it(tmp_path: Path) -> None:
    notes, docs = folder(tmp_path / "notes"), folder(tmp_path / "docs")

    assert scanned(notes, docs) == [source(docs), source(notes)]
    assert scanned(notes, source_id="mine") == [source(notes, "mine")]


def test_a_folder_given_in_several_spellings_is_one_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = folder(tmp_path / "notes")
    (tmp_path / "link").symlink_to(notes)
    monkeypatch.chdir(tmp_path)

    assert scanned(Path("notes"), notes, tmp_path / "link", Path("notes/../notes")) == [source(notes)]
    monkeypatch.chdir(notes)
    assert scanned(Path()) == [source(notes)]


def test_without_paths_all_configured_and_known_sources_are_scanned(tmp_path: Path) -> None:
    notes, docs, code = (folder(tmp_path / name) for name in ("notes", "docs", "code"))
    configured = source(docs, trust_level="generated", exclude=("*.log",), source_type="wiki")
    known = source(code, "src", trust_level="secondary", exclude=("*.o",), source_type="code")

    assert scanned(root=notes, configured=[configured], known=[known]) == [configured, source(notes), known]


def test_configured_settings_replace_those_known_from_before(tmp_path: Path) -> None:
    notes = folder(tmp_path / "notes")
    now = source(notes, trust_level="generated")

    assert scanned(configured=[now], known=[source(notes)]) == [now]
    assert scanned(notes, configured=[now], known=[source(notes)]) == [now]


def test_a_given_folder_keeps_the_name_and_settings_it_is_known_by(tmp_path: Path) -> None:
    notes = folder(tmp_path / "notes")
    known = source(notes, "mine", trust_level="generated")

    assert scanned(notes, known=[known]) == scanned(notes, configured=[known]) == [known]
    assert scanned(notes, known=[known], source_id="mine") == [known]
    assert scanned(notes, known=[known], source_id="other") == [source(notes, "other")]


def test_the_root_of_the_workspace_may_be_one_of_its_sources(tmp_path: Path) -> None:
    notes = folder(tmp_path / "notes")
    (tmp_path / "link").symlink_to(notes)

    assert scanned(root=tmp_path / "link", configured=[source(notes, "mine")]) == [source(notes, "mine")]


def test_nothing_to_scan_is_refused_with_a_hint() -> None:
    with pytest.raises(InvalidInputError, match="no folder to ingest") as caught:
        scanned()

    assert caught.value.hint == "give one: `kebab ingest PATH`, or set workspace.root in the config file"


@pytest.mark.parametrize("where", ["known", "configured", "given"])
def test_a_name_that_belongs_to_another_root_is_refused(tmp_path: Path, where: str) -> None:
    one, two = folder(tmp_path / "1" / "notes"), folder(tmp_path / "2" / "notes")
    paths = [one, two] if where == "given" else [two]
    known = [source(one)] if where == "known" else []
    with pytest.raises(InvalidInputError) as caught:
        scanned(*paths, known=known, root=one if where == "configured" else None)

    assert str(one) in str(caught.value)
    assert str(two) in str(caught.value)
    assert "--source-id" in str(caught.value.hint)
    assert caught.value.details == {"source_id": "notes", "roots": [str(one), str(two)]}


def test_a_name_given_for_another_root_is_refused(tmp_path: Path) -> None:
    notes, docs = folder(tmp_path / "notes"), folder(tmp_path / "docs")
    with pytest.raises(InvalidInputError, match="cannot be"):
        scanned(docs, known=[source(notes)], source_id="notes")

    assert scanned(docs, known=[source(notes)]) == [source(docs)]


def test_a_source_whose_folder_was_moved_is_told_its_new_place_by_name_or_configuration(tmp_path: Path) -> None:
    new = folder(tmp_path / "new" / "notes")
    known = source(tmp_path / "old" / "notes", exclude=("*.log",), trust_level="generated")
    moved = source(new, exclude=("*.log",), trust_level="generated")

    assert scanned(new, known=[known], source_id="notes") == [moved]
    assert scanned(new, known=[known], configured=[source(new)]) == [source(new)]
    assert scanned(known=[known], configured=[source(new)]) == [source(new)]


def test_a_folder_of_the_same_name_alone_is_no_move(tmp_path: Path) -> None:
    new = folder(tmp_path / "new" / "notes")
    known = [source(tmp_path / "old" / "notes")]
    attempts: list[Callable[[], object]] = [
        lambda: scanned(new, known=known),
        lambda: scanned(root=new, known=known),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInputError, match=f"is {tmp_path}/old/notes, and cannot be {new} as well") as caught:
            attempt()
        assert "this name with --source-id" in str(caught.value.hint)


def test_a_source_whose_folder_is_still_there_was_not_moved(tmp_path: Path) -> None:
    old, new = folder(tmp_path / "old"), folder(tmp_path / "new")
    known = [source(old, "notes")]

    for configured, source_id in (([source(new, "notes")], None), ([], "notes")):
        with pytest.raises(InvalidInputError, match="cannot be"):
            scanned(new, known=known, configured=configured, source_id=source_id)


def test_a_folder_that_cannot_be_looked_at_was_not_moved(tmp_path: Path) -> None:
    new = folder(tmp_path / "new")
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(InvalidInputError, match="cannot be"):
        scanned(new, known=[source(tmp_path / "loop" / "notes")], source_id="notes")


def test_the_root_of_a_configured_source_is_changed_in_the_configuration_only(tmp_path: Path) -> None:
    new = folder(tmp_path / "new")
    with pytest.raises(InvalidInputError, match="cannot be"):
        scanned(new, configured=[source(tmp_path / "old", "notes")], source_id="notes")


@pytest.mark.parametrize("place", [".", "sub", "link"])
def test_a_folder_that_is_or_lies_in_the_data_folder_is_refused(tmp_path: Path, place: str) -> None:
    data = folder(tmp_path / "data")
    folder(data / "sub")
    (tmp_path / "link").symlink_to("data/sub")
    root = data / place if place != "link" else tmp_path / place

    attempts: list[Callable[[], object]] = [
        lambda: scanned(root, data_dir=data),
        lambda: scanned(configured=[source(root, "x")], data_dir=data),
        lambda: scanned(known=[source(root, "x")], data_dir=data),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInputError, match="where kebab keeps its own files"):
            attempt()
    assert scanned(tmp_path, data_dir=data) == [source(tmp_path)]


def test_a_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file.md").touch()
    (tmp_path / "loop").symlink_to("loop")
    problems = {
        "file.md": "is not a folder",
        "missing": "no such file or directory",
        "file.md/sub": "not a directory",
        "loop": "too many levels of symbolic links",
    }

    for name, problem in problems.items():
        with pytest.raises(InvalidInputError, match=f"{name}: {problem}"):
            scanned(tmp_path / name)


def test_a_folder_that_may_not_be_entered_is_refused() -> None:
    with public_folder() as place:
        notes = folder(place / "sub" / "notes")
        with restricted(place / "sub", 0), pytest.raises(InvalidInputError, match="permission denied"):
            scanned(notes)


def test_a_folder_name_that_filters_could_not_be_given_is_changed(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "메모")
    names = {" a, b ": "a_ b", decomposed: "메모"}

    for name, expected in names.items():
        assert [one.id for one in scanned(folder(tmp_path / name))] == [expected]
    assert [one.id for one in scanned(Path("/"))] == ["root"]


@pytest.mark.parametrize("source_id", ["", " ", "a,b", " a", "a\n"])
def test_a_given_name_that_filters_could_not_be_given_is_refused(tmp_path: Path, source_id: str) -> None:
    with pytest.raises(InvalidInputError, match="source id"):
        scanned(tmp_path, source_id=source_id)


def test_a_folder_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9"))
    try:
        path.mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")

    with pytest.raises(InvalidInputError, match="not UTF-8"):
        scanned(path)
