"""The index files: no trace of how they came about, new ones for every real change and only then, and a way back."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab_stream.analyser import ANALYSER_VERSION
from kebab_stream.config import Embedding, Ingest, Models
from kebab_stream.errors import IndexCorruptError, NotIndexedError
from kebab_stream.index import generation
from kebab_stream.ingest import prepare
from tests.embed.test_static import ROWS, write_model
from tests.index.test_generation import NAMES
from tests.ingest.runs import Library
from tests.paths import ROOT

SENTENCES = ["cat dog.", "dog anticat bird!", "# cat", "## dog", "nothing known here", "---", "", "```", "- cat\n- dog"]
TEXTS = st.lists(st.sampled_from(SENTENCES), max_size=6).map("\n\n".join)
CHANGES = st.dictionaries(st.sampled_from(["a.md", "b.md", "c.txt", "d/a.md", "d/é.py"]), st.none() | TEXTS, max_size=4)

EVERY_ROW = """
    SELECT hex(doc_id), source_id, doc_path, title, media, lang, code_lang, repo, source_type, trust_level,
           content_hash, size, signature, chunker_version, hex(chunk_id), ordinal, text, heading_path, symbol,
           line_start, line_end, page,
           (SELECT group_concat(tag) FROM (SELECT tag FROM tags WHERE tags.doc_no = documents.doc_no ORDER BY tag))
    FROM documents LEFT JOIN chunks USING (doc_no) ORDER BY doc_id, ordinal
"""
"""All that is stored, but for times and numbers of rows."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows cat, dog and anticat."""
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def library(tmp_path: Path, model: Path) -> Library:
    library = Library.at(tmp_path, model)
    library.update({"a.md": "# Cat\n\ncat dog", "b.md": "dog bird", "empty.md": ""})
    return library


@contextmanager
def fresh(library: Library) -> Iterator[Library]:
    """The same documents, ingested into an empty data folder."""
    with TemporaryDirectory() as place:
        config = replace(library.config, storage=replace(library.config.storage, data_dir=Path(place)))
        other = Library(library.root, config)
        other.ingest(library.root)
        yield other


# --- no trace of how they came about ---------------------------------------------------------------------


@settings(max_examples=40)
@given(st.lists(CHANGES, min_size=1, max_size=4), st.booleans())
def test_index_and_store_are_those_of_a_fresh_ingest(
    model: Path, steps: list[dict[str, str | None]], vectors: bool
) -> None:
    with TemporaryDirectory() as place:
        library = Library.at(Path(place), model if vectors else None)
        (library.root / ".hidden").touch()  # an empty folder would look like a mount that is missing
        for changes in steps:
            library.update({path: text for path, text in changes.items() if text or (library.root / path).exists()})

        with fresh(library) as other:
            assert library.index_files() == other.index_files()
            assert library.rows(EVERY_ROW) == other.rows(EVERY_ROW)
            library.ingest(rebuild_index=True)
            assert library.index_files() == other.index_files()


def test_the_order_of_writing_files_makes_no_difference(tmp_path: Path, model: Path) -> None:
    names = [f"{folder}{name}.md" for folder in ("", "x/", "가/") for name in "abcde"]
    libraries = [Library.at(tmp_path / "1", model), Library.at(tmp_path / "2", model)]
    for library, order in zip(libraries, (names, names[::-1]), strict=True):
        library.update({name: f"cat {name}" for name in order})

    assert libraries[0].index_files() == libraries[1].index_files()
    assert libraries[0].rows(EVERY_ROW) == libraries[1].rows(EVERY_ROW)


def test_the_number_of_processes_makes_no_difference(tmp_path: Path, model: Path) -> None:
    pages = {path.name: path.read_bytes() for path in sorted((ROOT / "docs").glob("*.md"))}
    libraries = []
    for processes in (1, 2, 3):
        library = Library.at(tmp_path / str(processes), model)
        config = replace(library.config, ingest=Ingest(processes=processes))
        library = replace(library, config=config)
        library.update(pages)
        library.update({"ingest.md": "# Cats\n\ncat dog 고양이", "search.md": None})
        libraries.append(library)

    one, *others = libraries
    for other in others:
        assert one.index_files() == other.index_files()
        assert one.rows(EVERY_ROW) == other.rows(EVERY_ROW)


# --- new ones for every real change ----------------------------------------------------------------------


def test_the_revision_changes_with_every_real_change_and_only_then(library: Library) -> None:
    seen = [library.revision()]
    for changes in ({"a.md": "cat"}, {"c.md": "dog"}, {"b.md": None}, {"empty.md": "bird"}, {"empty.md": None}):
        library.update(changes)
        seen.append(library.revision())
        before = library.generations()
        assert not library.ingest().changed
        assert (library.revision(), library.generations()) == (seen[-1], before)

    assert len(set(seen)) == len(seen)


def test_only_the_current_generation_is_kept_under_the_name_of_its_revision(library: Library) -> None:
    assert library.generations() == [library.revision()]
    library.update({"a.md": "bird"})

    assert library.generations() == [library.revision()]
    assert library.revision().startswith("00000002-")


def test_what_a_killed_run_left_is_removed_by_the_next_one(library: Library) -> None:
    for name in ("00000002-0123456789ab", ".00000003-0123456789ab.partial", "00000000-0123456789ab"):
        (library.data_dir / "index" / name).mkdir()
        (library.data_dir / "index" / name / "file").touch()
    (library.data_dir / ".kebab.sqlite.partial").write_bytes(b"half")

    assert not library.ingest().changed
    assert library.generations() == [library.revision()]
    assert not (library.data_dir / ".kebab.sqlite.partial").exists()


def test_what_is_not_ours_is_not_removed(library: Library) -> None:
    foreign = ["2024-0123456789ab", "20240131", "20240131-notes", "chapters"]
    for name in foreign:
        (library.data_dir / "index" / name / "1").mkdir(parents=True)
    library.update({"a.md": "bird"})

    assert library.generations() == sorted([library.revision(), *foreign])


# --- another model or version ----------------------------------------------------------------------------


def with_model(library: Library, embedding: Embedding) -> Library:
    return replace(library, config=replace(library.config, models=Models(embedding=embedding)))


def test_another_model_embeds_every_document_again(library: Library, tmp_path: Path) -> None:
    other = write_model(tmp_path / "other", rows=-ROWS)
    lexical = with_model(library, Embedding(provider="none"))
    times = library.rows("SELECT doc_path, indexed_at FROM documents")
    seen = {library.revision()}
    for changed, windows in (
        (lexical, 0),
        (with_model(library, Embedding(provider="static", model="tiny", model_path=other)), 2),
        (with_model(library, Embedding(provider="static", model="renamed", model_path=other)), 2),
        (library, 2),
    ):
        report = changed.ingest()
        seen.add(changed.revision())

        assert (report.unchanged, report.updated, report.windows, report.changed) == (3, 0, windows, True)
        assert changed.find("cat") == ["a.md"]
        with fresh(changed) as afresh:
            assert changed.index_files() == afresh.index_files()
        assert not changed.ingest().changed
    assert len(seen) == 5
    assert library.rows("SELECT doc_path, indexed_at FROM documents") == times


def test_another_version_of_the_analyser_indexes_every_document_again(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = ANALYSER_VERSION
    monkeypatch.setattr(generation, "ANALYSER_VERSION", "next")
    with pytest.raises(IndexCorruptError, match=f"analyser_version is '{written}', this program has 'next'") as caught:
        library.find("cat")
    assert caught.value.hint == "run `kebab ingest --rebuild-index`"

    report = library.ingest()

    assert (report.unchanged, report.changed) == (3, True)
    assert library.find("cat") == ["a.md"]
    assert not library.ingest().changed


def test_another_version_of_what_is_indexed_updates_every_document(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "INDEXED_VERSION", "next")

    assert (library.update(), library.update()) == ("0 3 0 0", "0 0 3 0")


# --- a way back ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_index_is_rebuilt_from_the_store_alone(library: Library, name: str) -> None:
    whole, revision = library.index_files(), library.revision()
    shutil.rmtree(library.root)
    (path,) = (library.data_dir / "index").rglob(name)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexCorruptError):
        library.find("cat")

    report = library.ingest(rebuild_index=True)

    assert (report.documents, report.chunks, report.windows, report.changed) == (3, 2, 2, True)
    assert library.index_files() == whole
    assert library.revision() != revision


def test_an_ordinary_ingest_mends_a_damaged_index_too(library: Library) -> None:
    whole = library.index_files()
    shutil.rmtree(library.data_dir / "index")

    assert library.ingest().changed
    assert library.index_files() == whole


def test_flipped_bits_are_gone_after_a_rebuild(library: Library) -> None:
    whole = library.index_files()
    (path,) = (library.data_dir / "index").rglob("vectors.rows")
    np.zeros(len(whole["vectors.rows"]), dtype=np.int8).tofile(path)

    assert library.ingest(rebuild_index=True).changed
    assert library.index_files() == whole


def test_the_index_of_an_emptied_store_can_be_rebuilt(library: Library) -> None:
    library.update({"a.md": None, "b.md": None, "empty.md": None, ".keep": ""})
    shutil.rmtree(library.data_dir / "index")

    assert library.ingest(rebuild_index=True).changed
    assert library.find("cat") == []


def test_a_rebuild_with_a_path_scans_it_too(library: Library) -> None:
    library.write({"c.md": "cat"})
    report = library.ingest(library.root, rebuild_index=True)

    assert (report.new, report.unchanged) == (1, 3)
    with fresh(library) as other:
        assert library.index_files() == other.index_files()


def test_there_is_nothing_to_rebuild_without_a_store(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    with pytest.raises(NotIndexedError):
        library.ingest(rebuild_index=True)
    with pytest.raises(NotIndexedError):
        library.find("cat")


def test_an_index_that_does_not_belong_to_the_store_is_refused_and_made_anew(library: Library) -> None:
    (current,) = (library.data_dir / "index").iterdir()
    foreign = library.data_dir.parent / "foreign"
    shutil.copytree(current, foreign)
    library.update({"c.md": "more", "a.md": None})
    (current,) = (library.data_dir / "index").iterdir()
    shutil.rmtree(current)
    foreign.rename(current)

    with pytest.raises(IndexCorruptError, match="not those that were written") as caught:
        library.find("cat")
    assert caught.value.hint == "run `kebab ingest --rebuild-index`"
    assert library.update({"d.md": "cat"}) == "1 0 3 0"
    with fresh(library) as other:
        assert library.index_files() == other.index_files()


def test_damage_in_what_would_be_carried_over_gets_no_new_checksum_but_all_is_indexed_again(library: Library) -> None:
    path = library.data_dir / "index" / library.revision() / "vectors.rows"
    path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))

    assert library.update({"c.md": "a third"}) == "1 0 3 0"
    with fresh(library) as other:
        assert library.index_files() == other.index_files()
