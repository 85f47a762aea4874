"""What an ingest does to the documents: counts, replacements, problems of single files, and sources."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from blockbuster import BlockBuster

from kebab_stream.config import Chunking, Ingest, Source, Storage
from kebab_stream.errors import InvalidInputError, NotIndexedError, StorageError
from kebab_stream.ingest import ingest_files, parse
from tests.index.stored import changed_store
from tests.ingest.runs import Library
from tests.limits import public_folder, restricted


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library.at(tmp_path)


def let_everybody_write(place: Path) -> None:
    for path in [place, *place.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)


def later(path: Path) -> None:
    """Give a file another time of change, its content being what it was."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000_000))


# --- what happened ---------------------------------------------------------------------------------------


def test_new_updated_unchanged_and_deleted_documents_are_counted(library: Library) -> None:
    assert library.update({"a.md": "apple", "b.md": "banana", "c.md": "cherry"}) == "3 0 0 0"
    assert library.update() == "0 0 3 0"
    assert library.update({"a.md": "damson", "b.md": None, "d.md": "elderberry"}) == "1 1 1 1"
    assert library.find("damson OR cherry") == ["a.md", "c.md"]


def test_an_edit_replaces_what_was_there(library: Library) -> None:
    library.update({"a.md": "---\ntags: [old]\n---\n# Apple\n\nold words\n", "b.md": "banana"})
    assert library.update({"a.md": "---\ntags: [new]\n---\n# Cherry\n\nnew words\n"}) == "0 1 1 0"

    assert [library.find(word) for word in ("apple", "old", "cherry", "new", "banana")] == [
        [],
        [],
        ["a.md"],
        ["a.md"],
        ["b.md"],
    ]
    assert library.rows("SELECT tag FROM tags") == [("new",)]


def test_a_moved_file_is_another_document(library: Library) -> None:
    library.update({"a.md": "apple"})
    (library.root / "a.md").rename(library.root / "b.md")

    assert library.update() == "1 0 0 1"
    assert library.find("apple") == ["b.md"]


def test_twins_are_two_documents_and_stay_so(library: Library) -> None:
    assert library.update({"a.md": "twin", "b.md": "twin"}) == "2 0 0 0"
    for _ in range(2):
        assert library.update() == "0 0 2 0"
        assert library.find("twin") == ["a.md", "b.md"]

    assert library.update({"a.md": "changed"}) == "0 1 1 0"
    assert library.find("twin") == ["b.md"]
    assert library.update({"b.md": None}) == "0 0 1 1"
    assert (library.find("twin"), library.find("changed")) == ([], ["a.md"])


def test_documents_without_chunks_are_documents(library: Library) -> None:
    library.write({"empty.md": "", "blank.txt": "\n \n", "a.md": "apple"})
    report = library.ingest(library.root)

    assert (report.documents, report.chunks) == (3, 1)
    assert library.update() == "0 0 3 0"
    assert library.update({"empty.md": None}) == "0 0 2 1"


def test_an_empty_folder_can_be_ingested_and_searched(library: Library) -> None:
    report = library.ingest(library.root)

    assert (report.new, report.documents, report.chunks, report.changed) == (0, 0, 0, True)
    assert library.find("anything") == []
    assert not library.ingest(library.root).changed


def test_a_touched_file_is_unchanged_and_not_read_a_second_time(library: Library) -> None:
    library.update({"a.md": "apple"})
    revision = library.revision()
    later(library.root / "a.md")

    assert library.update() == "0 0 1 0"
    assert library.row("SELECT mtime_ns FROM documents") == ((library.root / "a.md").stat().st_mtime_ns,)
    assert library.revision() == revision
    before = (library.data_dir / "kebab.sqlite").stat()
    assert library.update() == "0 0 1 0"
    assert (library.data_dir / "kebab.sqlite").stat() == before


def test_a_change_that_keeps_size_and_time_goes_unnoticed_until_the_next_one(library: Library) -> None:
    library.update({"a.md": "apple"})
    times = (library.root / "a.md").stat()
    library.write({"a.md": "grape"})
    os.utime(library.root / "a.md", ns=(times.st_atime_ns, times.st_mtime_ns))

    assert library.update() == "0 0 1 0"
    later(library.root / "a.md")
    assert library.update() == "0 1 0 0"
    assert library.find("grape") == ["a.md"]


def test_the_time_of_indexing_changes_with_the_document_only(library: Library) -> None:
    library.update({"a.md": "apple", "b.md": "banana"})
    with changed_store(library.data_dir) as connection:
        connection.execute("UPDATE documents SET indexed_at = 5")
    later(library.root / "a.md")
    started = int(time.time())
    assert library.update({"b.md": "cherry"}) == "0 1 1 0"

    times = dict(library.rows("SELECT doc_path, indexed_at FROM documents"))
    assert times["a.md"] == 5
    assert started <= times["b.md"] <= time.time()


def test_the_report_knows_what_is_there_now(library: Library) -> None:
    library.write({"a.md": "apple", ".hidden.md": "x", "photo.png": b"\x89PNG", "data": b"a\0b"})
    report = library.ingest(library.root)

    assert report.skipped == {"binary": 1, "hidden": 1, "unsupported": 1}
    assert report.skipped_examples == {"binary": ("data",), "hidden": (".hidden.md",), "unsupported": ("photo.png",)}
    assert (report.windows, report.embedding_model) == (0, None)
    assert report.corpus_revision == library.revision()
    assert report.elapsed_ms > 0


def test_of_what_was_passed_over_the_first_five_of_each_reason_are_named(library: Library) -> None:
    (other,) = folders(library, "other")
    library.write({f"{number}.png": "x" for number in range(5, 0, -1)})
    (other / "0.png").touch()
    report = library.ingest(library.root, other)

    assert report.skipped == {"unsupported": 6}
    assert report.skipped_examples == {"unsupported": tuple(f"{number}.png" for number in range(5))}


def test_the_name_of_a_new_repository_reaches_its_documents(library: Library) -> None:
    library.update({"a.md": "apple", "sub/b.md": "banana"})
    (library.root / "sub" / ".git").mkdir()

    assert library.update() == "0 1 1 0"
    assert library.rows("SELECT doc_path, repo FROM documents ORDER BY 1") == [("a.md", None), ("sub/b.md", "sub")]
    (library.root / "sub").rename(library.root / "renamed")
    assert library.update() == "1 0 1 1"
    (library.root / ".git").mkdir()
    assert library.update() == "0 1 1 0"
    assert library.rows("SELECT DISTINCT repo FROM documents ORDER BY 1") == [("notes",), ("renamed",)]


def test_a_web_page_is_found_as_one(library: Library) -> None:
    library.update({"a.html": "<p>apple</p>", "b.md": "apple"})

    assert library.rows("SELECT doc_path, media, code_lang FROM documents WHERE media = 'html'") == [
        ("a.html", "html", None)
    ]


# --- problems of single files ----------------------------------------------------------------------------


def test_files_that_are_no_text_are_listed_and_stop_nothing(library: Library) -> None:
    library.write({"a.md": "apple", "bytes.md": b"\xff\xff", "z.md": "zebra", "nul.txt": b"nul\0"})
    report = library.ingest(library.root)

    assert (report.new, report.documents) == (2, 2)
    assert [(problem.source_id, problem.path) for problem in report.errors] == [("notes", "bytes.md")]
    assert "UTF-8" in report.errors[0].message
    assert (report.skipped, report.skipped_examples) == ({"binary": 1}, {"binary": ("nul.txt",)})
    assert library.find("zebra") == ["z.md"]


def test_a_file_that_may_not_be_read_is_listed_and_what_is_known_of_it_stays() -> None:
    with public_folder() as place:
        library = Library.at(place)
        library.update({"a.md": "apple", "b.md": "banana"})
        library.write({"a.md": "apricot"})
        let_everybody_write(place)
        with restricted(library.root / "a.md", 0):
            report = library.ingest(library.root)

        assert [(problem.path, problem.message) for problem in report.errors] == [
            ("a.md", "cannot be read: Permission denied")
        ]
        assert (report.updated, report.unchanged, report.deleted, report.documents) == (0, 1, 0, 2)
        assert (library.find("apple"), library.find("apricot")) == (["a.md"], [])
        assert library.update() == "0 1 1 0"
        assert library.find("apricot") == ["a.md"]


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("notes/sub/.gitignore", "sub/.gitignore"),
        ("notes/.kebabignore", ".kebabignore"),
        (".gitignore", "../.gitignore"),
    ],
)
def test_where_an_ignore_file_may_not_be_read_nothing_is_indexed_and_nothing_goes(rules: str, path: str) -> None:
    with public_folder() as place:
        library = Library.at(place)
        (place / ".git").mkdir()
        library.update({"sub/a.md": "apple"})
        library.write({"sub/secret.md": "banana"})
        (place / rules).write_text("secret.md")
        let_everybody_write(place)
        with restricted(place / rules, 0):
            report = library.ingest(library.root)
            given = ingest_files(library.config, [library.root / "sub/a.md"])

        assert report.skipped["unreadable_rules"] == 1
        assert [(problem.source_id, problem.path) for problem in report.errors] == [("notes", path)]
        assert "passed over" in report.errors[0].message
        assert (report.new, report.deleted, report.documents) == (0, 0, 1)
        assert [warning.partition(" ")[0] for warning in given[0].warnings] == [str((place / rules).resolve())]
        assert library.update() == "0 0 1 0"


@pytest.mark.parametrize(
    ("content", "errors", "skipped"),
    [(b"\xff\xfe\xff", 1, {}), (b"a\0b", 0, {"binary": 1}), (b"x" * 2000, 0, {"too_large": 1})],
)
def test_a_text_that_became_something_else_is_no_document_any_more(
    library: Library, content: bytes, errors: int, skipped: dict[str, int]
) -> None:
    library = Library(library.root, replace(library.config, ingest=Ingest(max_file_bytes=1000)))
    library.update({"a.md": "apple", "b.md": "banana"})
    library.write({"a.md": content})

    for deleted in (1, 0):
        report = library.ingest(library.root)
        assert (len(report.errors), report.skipped, report.deleted) == (errors, skipped, deleted)
        assert (report.documents, report.changed) == (1, bool(deleted))
    assert library.find("apple") == []
    assert library.update({"a.md": "apple"}) == "1 0 1 0"
    assert library.find("apple") == ["a.md"]


def test_a_file_that_a_parser_fails_on_is_listed_and_stops_nothing(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_on_b(path: str, text: str) -> object:
        if path == "b.md":
            raise RecursionError("too deep\ud800")
        return real_parse(path, text)

    real_parse = parse.parse
    monkeypatch.setattr("kebab_stream.ingest.parse.parse", fail_on_b)
    library.write({"a.md": "apple", "b.md": "banana", "c.md": "cherry"})
    report = library.ingest(library.root)

    assert [(problem.path, problem.message) for problem in report.errors] == [
        ("b.md", "RecursionError: too deep\\ud800")
    ]
    assert (report.new, report.documents) == (2, 2)


def test_a_file_that_goes_away_while_others_are_read_is_listed(library: Library, blockbuster: BlockBuster) -> None:
    library.write({f"{number:03}.md": "apple" for number in range(100)})
    blockbuster.functions["os.unlink"].deactivate()

    def remove_the_last(phase: str, done: int, total: int) -> None:
        if phase == "read" and done < total:
            (library.root / "099.md").unlink(missing_ok=True)

    report = library.ingest(library.root, progress=remove_the_last)

    assert [(problem.path, problem.message) for problem in report.errors] == [
        ("099.md", "cannot be read: No such file or directory")
    ]
    assert (report.new, len(library.find("apple"))) == (99, 99)


# --- sources ---------------------------------------------------------------------------------------------


def folders(library: Library, *names: str) -> Sequence[Path]:
    """Folders beside `notes`, each with one file `a.md` whose word is the folder's name."""
    for name in names:
        (library.root.parent / name).mkdir()
        (library.root.parent / name / "a.md").write_text(name)
    return [library.root.parent / name for name in names]


def test_one_path_in_two_sources_is_two_documents(library: Library) -> None:
    left, right = folders(library, "left", "right")
    report = library.ingest(left, right)

    assert (report.new, report.documents) == (2, 2)
    assert (library.find("left"), library.find("right")) == (["a.md"], ["a.md"])
    (left / "a.md").rename(left / ".hidden")
    assert library.ingest(left).deleted == 1
    assert (library.find("left"), library.find("right")) == ([], ["a.md"])


def test_without_paths_every_known_source_is_scanned_again(library: Library) -> None:
    left, right = folders(library, "left", "right")
    library.ingest(left)
    library.ingest(right, source_id="other")
    (left / "a.md").rename(left / "a.png")
    (right / "b.md").write_text("more")

    report = library.ingest()

    assert (report.new, report.unchanged, report.deleted) == (1, 1, 1)
    assert library.rows("SELECT source_id, root FROM sources") == [("left", str(left)), ("other", str(right))]


def test_a_folder_given_twice_is_ingested_once(library: Library) -> None:
    (left,) = folders(library, "left")
    assert library.ingest(left, left).new == 1
    assert library.ingest(left, left).unchanged == 1


def test_a_name_of_another_root_is_refused_and_changes_nothing(library: Library) -> None:
    library.update({"a.md": "apple"})
    revision = library.revision()
    other = library.root.parent / "other" / "notes"
    other.mkdir(parents=True)
    with pytest.raises(InvalidInputError, match="cannot be"):
        library.ingest(other)

    assert (library.find("apple"), library.revision()) == (["a.md"], revision)
    assert library.ingest(other, source_id="notes2").unchanged == 0
    assert library.find("apple") == ["a.md"]


def test_nothing_configured_and_nothing_known_is_refused(library: Library) -> None:
    with pytest.raises(InvalidInputError, match="no folder to ingest"):
        library.ingest()
    with pytest.raises(NotIndexedError):
        library.find("anything")


@pytest.mark.parametrize("problem", ["missing", "unreadable"])
def test_a_root_that_cannot_be_read_ends_the_run_and_changes_nothing(problem: str) -> None:
    with public_folder() as place:
        library = Library.at(place)
        library.update({"a.md": "apple"})
        (left,) = folders(library, "left")
        library.ingest(left)
        revision = library.revision()
        library.write({"b.md": "banana"})
        let_everybody_write(place)
        if problem == "missing":
            left.rename(place / "elsewhere")
        else:
            left.chmod(0)
        with restricted(place, 0o777), pytest.raises(StorageError, match="left"):
            library.ingest()
        if problem == "unreadable":
            left.chmod(0o777)

        assert library.revision() == revision
        assert [library.find(word) for word in ("apple", "left", "banana")] == [["a.md"], ["a.md"], []]


def test_a_moved_folder_keeps_its_documents(library: Library) -> None:
    library.update({"a.md": "apple", "b.md": "banana"})
    ids = library.rows("SELECT doc_id FROM documents")
    moved = library.root.rename(library.root.parent / "moved")
    with pytest.raises(StorageError) as caught:
        library.ingest()
    assert "`kebab ingest NEW_FOLDER --source-id notes`" in str(caught.value.hint)

    report = library.ingest(moved, source_id="notes")

    assert (report.unchanged, report.deleted, report.changed) == (2, 0, False)
    assert library.rows("SELECT doc_id FROM documents") == ids
    assert library.rows("SELECT source_id, root FROM sources") == [("notes", str(moved))]
    assert library.ingest().unchanged == 2


def test_a_folder_that_became_empty_changes_nothing_until_it_is_said_to_be_meant(library: Library) -> None:
    library.update({"a.md": "apple"})
    (library.root / "a.md").unlink()
    with pytest.raises(StorageError, match="is empty"):
        library.ingest()
    assert library.find("apple") == ["a.md"]

    (library.root / ".keep").touch()
    assert library.ingest().deleted == 1
    assert library.find("apple") == []


@pytest.mark.parametrize("root", [".", "notes"])
def test_a_folder_that_is_in_the_data_folder_is_refused(library: Library, root: str) -> None:
    library.write({"a.md": "apple"})
    place = library.root.parent
    misplaced = Library(library.root, replace(library.config, storage=Storage(data_dir=place)))

    with pytest.raises(InvalidInputError, match="where kebab keeps its own files"):
        misplaced.ingest(place / root)


def test_a_new_folder_without_documents_is_remembered(library: Library) -> None:
    library.update({"a.md": "apple"})
    empty = library.root.parent / "empty"
    empty.mkdir()
    assert not library.ingest(empty).changed
    (empty / "b.md").write_text("banana")

    assert library.ingest().new == 1


def test_the_data_folder_may_lie_in_a_source(library: Library) -> None:
    (library.root.parent / "z.md").write_text("zebra")
    (library.root / "link").symlink_to(library.root.parent)
    linked = library.configured(Source(id="s", root=library.root / "link"))
    for expected in (1, 0, 0):
        report = linked.ingest()
        assert (report.new, report.skipped) == (expected, {"data_folder": 1, "symlink": 1})
    assert library.find("zebra") == ["z.md"]


# --- settings --------------------------------------------------------------------------------------------


def test_other_chunk_sizes_cut_every_document_of_the_scanned_sources_again(library: Library) -> None:
    paragraphs = "\n\n".join(f"paragraph {number} " + "word " * 30 for number in range(6))
    left, right = folders(library, "left", "right")
    (left / "long.md").write_text(paragraphs)
    chunks = library.ingest(left, right).chunks
    smaller = Ingest(chunking=Chunking(target_chars=200, overlap_chars=0))
    changed = Library(library.root, replace(library.config, ingest=smaller))

    report = changed.ingest(left)

    assert (report.new, report.updated, report.unchanged) == (0, 2, 0)
    assert report.chunks > chunks
    assert changed.ingest(left, right).updated == 1
    assert changed.ingest().unchanged == 3


def test_the_trust_of_a_source_reaches_its_documents_and_no_others(library: Library) -> None:
    left, right = folders(library, "left", "right")
    (left / "own.md").write_text("---\ntrust_level: primary\n---\nown trust")
    library.ingest(left, right)
    changed = library.configured(Source(id="left", root=left, trust_level="generated", source_type="log"))

    report = changed.ingest()

    assert (report.updated, report.unchanged) == (2, 1)
    assert library.rows("SELECT source_id, doc_path, trust_level, source_type FROM documents ORDER BY 1, 2") == [
        ("left", "a.md", "generated", "log"),
        ("left", "own.md", "primary", "log"),
        ("right", "a.md", "primary", "notes"),
    ]
    assert changed.ingest().unchanged == 3


def test_a_source_that_excludes_more_keeps_the_documents_it_has(library: Library) -> None:
    library.update({"a.md": "apple", "b.md": "banana"})
    narrowed = library.configured(Source(id="notes", root=library.root, exclude=("b.md",)))

    report = narrowed.ingest()

    assert (report.unchanged, report.deleted, report.documents) == (1, 0, 2)
    (library.root / "b.md").unlink()
    assert narrowed.ingest().deleted == 1
