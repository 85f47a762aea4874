"""Documents given one by one: where they belong, that they stay, and that no path escapes."""

import os
import subprocess
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from kebab_stream.config import Chunking, Embedding, Ingest, Models, Source, load_config
from kebab_stream.errors import (
    ConfigInvalidError,
    DocNotFoundError,
    InvalidInputError,
    ModelUnavailableError,
    NotIndexedError,
)
from kebab_stream.ingest import Text, ingest_files, ingest_text, prepare, remove
from kebab_stream.ingest.document import ParsedDocument
from kebab_stream.ingest.given import given_text
from kebab_stream.ingest.identity import doc_id_of
from kebab_stream.ingest.parse import parse
from kebab_stream.model import FILES, TEXTS
from kebab_stream.reports.ingest import DocumentReport
from tests.embed.loopback import vector_server
from tests.embed.test_static import write_model
from tests.ingest.runs import Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """One document in the source `notes`."""
    library = Library.at(tmp_path)
    library.update({"a.md": "# A\n\napple\n"})
    return library


def taken_in(library: Library, *paths: Path, copies_allowed: bool = True) -> list[DocumentReport]:
    return ingest_files(library.config, paths, copies_allowed=copies_allowed)


def given(library: Library, data: str, title: str = "A title", **fields: object) -> DocumentReport:
    return ingest_text(library.config, Text(data=data.encode(), title=title, **fields))  # type: ignore[arg-type]


# --- files -----------------------------------------------------------------------------------------------


def test_a_file_in_a_source_is_the_document_that_a_scan_would_make(library: Library) -> None:
    library.write({"sub/b.md": "banana"})
    (report,) = taken_in(library, library.root / "sub" / "b.md")

    assert (report.status, report.source_id, report.doc_path) == ("new", "notes", "sub/b.md")
    assert library.find("banana") == ["sub/b.md"]
    assert library.update() == "0 0 2 0"


def test_the_innermost_source_gets_the_file(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    library.write({"a.md": "apple", "inner/b.md": "banana"})
    library = library.configured(Source(id="outer", root=library.root), Source(id="inner", root=library.root / "inner"))

    assert taken_in(library, library.root / "inner" / "b.md")[0].source_id == "inner"


def test_an_edited_file_is_updated_and_an_unchanged_one_is_not(library: Library) -> None:
    revision = library.revision()
    (same,) = taken_in(library, library.root / "a.md")
    assert (same.status, same.corpus_revision, library.revision()) == ("unchanged", revision, revision)

    library.write({"a.md": "avocado"})
    (edited,) = taken_in(library, library.root / "a.md")
    assert (edited.status, library.find("avocado"), library.find("apple")) == ("updated", ["a.md"], [])


@pytest.mark.parametrize(("name", "rule"), [("drafts/x.md", "drafts/"), (".hidden/x.md", ""), ("x.md", "*.md\n!a.md")])
def test_an_explicit_wish_outweighs_what_a_scan_ignores_and_lasts(library: Library, name: str, rule: str) -> None:
    library.write({name: "xylophone", ".kebabignore": rule})
    (report,) = taken_in(library, library.root / name)

    assert "because you named it" in report.warnings[0]
    assert library.update().startswith("0 0 ")
    assert library.find("xylophone") == [name]


def test_a_file_elsewhere_is_a_copy_that_no_scan_removes(library: Library, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "c.md"
    other.parent.mkdir()
    other.write_text("cherry")
    (report,) = taken_in(library, other)
    assert (report.source_id, report.doc_path) == (FILES, str(other.resolve()).lstrip("/"))

    other.unlink()
    library.ingest()
    library.update()
    library.ingest(rebuild_index=True)
    assert library.find("cherry") == [report.doc_path]


def test_two_files_of_one_name_are_two_documents(library: Library, tmp_path: Path) -> None:
    paths = [tmp_path / folder / "same.md" for folder in ("x", "y")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("identical twins")

    assert len({report.doc_id for report in taken_in(library, *paths)}) == 2
    assert [report.status for report in taken_in(library, *paths)] == ["unchanged", "unchanged"]


def test_a_first_file_makes_an_index(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    library.write({"a.md": "apple"})
    (report,) = taken_in(library, library.root / "a.md")

    assert report.source_id == FILES
    assert library.find("apple") == [report.doc_path]


def test_of_several_files_all_or_none_are_taken_in(library: Library) -> None:
    library.write({"b.md": "banana", "c.md": b"\0\0"})
    with pytest.raises(InvalidInputError, match=r"c\.md"):
        taken_in(library, library.root / "b.md", library.root / "c.md")

    assert library.find("banana") == []


@pytest.mark.parametrize("way", ["link", "dots", "plain", "folder link"])
def test_no_path_leads_out_of_the_sources_where_copies_are_refused(library: Library, tmp_path: Path, way: str) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("secret")
    (library.root / "link.md").symlink_to(outside)
    (library.root / "folder").symlink_to(tmp_path)
    path = {
        "link": library.root / "link.md",
        "dots": library.root / ".." / "secret.md",
        "plain": outside,
        "folder link": library.root / "folder" / "secret.md",
    }[way]
    with pytest.raises(InvalidInputError, match="outside all known sources"):
        taken_in(library, path, copies_allowed=False)


def test_a_link_within_a_source_is_the_file_it_leads_to(library: Library) -> None:
    (library.root / "link.md").symlink_to(library.root / "a.md")

    assert taken_in(library, library.root / "link.md", copies_allowed=False)[0].doc_path == "a.md"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.md", "no such file"),
        ("sub", "no regular file|not indexed"),
        ("a\0.md", "zero byte"),
        ("picture.png", "not indexed"),
        ("pipe.md", "no regular file"),
        ("large.md", "max_file_bytes"),
    ],
)
def test_what_is_no_document_is_refused(library: Library, name: str, message: str) -> None:
    (library.root / "sub").mkdir()
    os.mkfifo(library.root / "pipe.md")
    library.write({"picture.png": b"\x89PNG", "large.md": "x" * 101})
    limited = replace(library.config, ingest=Ingest(max_file_bytes=100))
    with pytest.raises(InvalidInputError, match=message):
        ingest_files(limited, [library.root / name])


def test_the_data_folder_is_no_source_of_documents(library: Library) -> None:
    (library.data_dir / "x.md").write_text("x")
    with pytest.raises(InvalidInputError, match="its own files"):
        taken_in(library, library.data_dir / "x.md")


# --- texts -----------------------------------------------------------------------------------------------


def test_a_text_is_found_under_its_title_and_stays(library: Library) -> None:
    report = given(library, "cherry pie", "Recipes: pies")

    assert (report.status, report.source_id, report.doc_path) == ("new", TEXTS, "Recipes: pies.md")
    assert report.title == "Recipes: pies"
    library.ingest()
    assert library.find("cherry") == library.find("recipes") == ["Recipes: pies.md"]


def test_a_text_of_the_same_title_replaces_the_old_one(library: Library) -> None:
    given(library, "cherry")
    assert given(library, "cherry").status == "unchanged"
    assert given(library, "cherry", tags=("fruit",)).status == "updated"
    assert given(library, "damson").status == "updated"
    assert (library.find("cherry"), library.find("damson")) == ([], ["A title.md"])


def test_front_matter_of_a_text_is_merged_with_what_its_giver_says(library: Library) -> None:
    text = "---\ntitle: Own\ntags: [own]\ntrust_level: primary\n---\ncherry\n"
    report = given(library, text, "Given", tags=("given",), trust_level="generated")

    assert report.title == "Given"
    assert library.rows(f"SELECT tag FROM tags JOIN documents USING (doc_no) WHERE source_id = '{TEXTS}'") == [
        ("given",),
        ("own",),
    ]
    assert library.row(f"SELECT trust_level FROM documents WHERE source_id = '{TEXTS}'") == ("generated",)


@pytest.mark.parametrize(
    "title", ["a/b", "../../etc/passwd", "x\n\ty", "\x1b[2J", "한글 제목", "." * 300, "가" * 300, "\0"]
)
def test_a_title_is_never_a_path(library: Library, title: str) -> None:
    path = given(library, "cherry", title).doc_path

    assert "/" not in path
    assert path.isprintable()
    assert path.endswith(".md")
    assert len(path.encode()) <= 255
    assert given(library, "damson", title).doc_path == path


def test_titles_that_make_the_same_name_do_not_collide(library: Library) -> None:
    titles = ["a/b", "a\\b", "a b"]
    paths = [given(library, "cherry", title).doc_path for title in titles]
    paths += [given(library, "cherry", path.removesuffix(".md")).doc_path for path in paths[:2]]
    paths.append(given(library, "cherry", "0123abcd").doc_path)

    assert len(set(paths)) == 6
    assert paths[2] == "a b.md"
    assert given(library, "cherry", "Minutes 20240105").doc_path == "Minutes 20240105.md"


def test_the_digest_in_a_name_is_no_date(library: Library) -> None:
    names = [given_text(Text(data=b"x", title=f"{number}/y"), library.config).file.doc_path for number in range(300)]

    assert not [name for name in names if name.removesuffix(".md").rpartition(" ")[2].isdecimal()]


@pytest.mark.parametrize("name", ["../x.md", "a/b.md", "", "..", "x.png", "x.pdf", "a\0.md", "y" * 300 + ".md"])
def test_a_name_is_one_of_a_text_file(library: Library, name: str) -> None:
    with pytest.raises(InvalidInputError):
        given(library, "cherry", name=name)


def test_a_name_tells_the_kind_of_text(library: Library) -> None:
    given(library, "def cherry(): pass\n", "Code", name="code.py")

    assert library.row("SELECT media, code_lang, title FROM documents WHERE doc_path = 'code.py'") == (
        "code",
        "python",
        "Code",
    )


@pytest.mark.parametrize(("data", "title"), [("", "T"), (" \n", "T"), ("x", " "), ("x\0", "T")])
def test_a_text_needs_content_and_a_title(library: Library, data: str, title: str) -> None:
    with pytest.raises(InvalidInputError):
        given(library, data, title)


def test_a_file_that_is_refused_is_named_by_its_whole_path(library: Library, tmp_path: Path) -> None:
    (tmp_path / "nul.md").write_bytes(b"a\0")
    with pytest.raises(InvalidInputError) as caught:
        taken_in(library, tmp_path / "nul.md")

    path = str((tmp_path / "nul.md").resolve())
    assert str(caught.value).startswith(f"{path}: binary data")
    assert caught.value.details["path"] == path


def test_copies_are_cut_again_when_settings_change(library: Library, tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("# Long\n\n" + "A sentence of words. " * 100)
    taken_in(library, tmp_path / "long.md")
    given(library, "Cherry. " * 200, "Pies", tags=("fruit",))
    before = library.row("SELECT count(*) FROM chunks")[0]

    small = replace(library.config, ingest=Ingest(chunking=Chunking(target_chars=200, overlap_chars=0, max_chars=400)))
    report = replace(library, config=small).ingest()

    assert report.updated == 3
    assert library.row("SELECT count(*) FROM chunks")[0] > before + 10
    assert library.rows("SELECT tag FROM tags") == [("fruit",)]
    assert library.row("SELECT title FROM documents WHERE doc_path = 'Pies.md'") == ("Pies",)
    assert replace(library, config=small).ingest().updated == 0


def small_chunks(library: Library) -> Library:
    chunking = Chunking(target_chars=200, overlap_chars=0, max_chars=400)
    return replace(library, config=replace(library.config, ingest=Ingest(chunking=chunking)))


@pytest.mark.parametrize("way", ["plain", "path", "rebuild"])
def test_every_ingest_brings_copies_up_to_date(tmp_path: Path, way: str) -> None:
    library = Library.at(tmp_path)
    (tmp_path / "long.md").write_text("# Long\n\n" + "A sentence of words. " * 100)
    taken_in(library, tmp_path / "long.md")
    before = given(library, "Cherry. " * 200, "Pies").chunks

    small = small_chunks(library)
    report = small.ingest(*[library.root] if way == "path" else [], rebuild_index=way == "rebuild")

    assert (report.updated, report.documents) == (2, 2)
    assert library.row("SELECT count(*) FROM chunks JOIN documents USING (doc_no) WHERE title = 'Pies'")[0] > before
    assert small.ingest().updated == 0


def test_copies_alone_get_the_vectors_of_another_model(tmp_path: Path) -> None:
    given(Library.at(tmp_path), "dog")
    with_model = Library.at(tmp_path, write_model(tmp_path / "model"))

    assert with_model.ingest().windows == 1
    assert with_model.find("dog", mode="vector") == ["A title.md"]


def test_where_copies_were_removed_there_is_no_folder_to_ingest(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    report = given(library, "Cherry.")
    remove(library.config, [report.doc_id], [])

    with pytest.raises(InvalidInputError, match="no folder to ingest"):
        library.ingest()


def test_a_copy_goes_when_the_folder_of_its_file_is_ingested(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "\u1112\u1161\u11ab"  # NFD, as a Mac writes it
    folder.mkdir()
    for name in ("taken.md", "ignored.md", "broken.md"):
        (folder / name).write_text("cherry")
    taken_in(library, *folder.iterdir())
    (folder / ".gitignore").write_text("ignored.md")
    (folder / "broken.md").write_bytes(b"\xff")
    report = library.ingest(folder)

    (path,) = report.replaced_copies
    assert path.endswith("/\ud55c/taken.md")
    assert (report.new, report.deleted, report.documents) == (1, 1, 4)
    assert sorted(source for (source,) in library.rows("SELECT source_id FROM documents")) == [
        FILES,
        FILES,
        "notes",
        "\ud55c",
    ]
    assert library.ingest().replaced_copies == ()


# --- removing --------------------------------------------------------------------------------------------


def test_a_document_is_removed_by_id_path_or_source_and_path(library: Library) -> None:
    report = given(library, "cherry", "One")
    given(library, "cherry", "Two")
    given(library, "cherry", "Three")

    removed = remove(library.config, [report.doc_id, "Two.md", f"{TEXTS}/Three.md"], [])

    assert removed.documents == (f"{TEXTS}/One.md", f"{TEXTS}/Three.md", f"{TEXTS}/Two.md")
    assert removed.warnings == ()
    assert removed.corpus_revision == library.revision()
    assert library.find("cherry") == []


def test_a_removed_document_of_a_source_comes_back_and_that_is_said(library: Library) -> None:
    assert "comes back" in remove(library.config, ["a.md"], []).warnings[0]
    assert library.update() == "1 0 0 0"


def test_a_forgotten_source_is_not_scanned_again(library: Library) -> None:
    given(library, "cherry")
    removed = remove(library.config, [], ["notes"])

    assert (removed.documents, removed.sources) == (("notes/a.md",), ("notes",))
    assert library.ingest().documents == 1
    assert library.find("cherry") == ["A title.md"]
    assert (library.root / "a.md").exists()


def test_what_is_not_there_cannot_be_removed_and_nothing_is(library: Library, tmp_path: Path) -> None:
    with pytest.raises(DocNotFoundError, match="missing"):
        remove(library.config, ["a.md", "missing"], [])
    with pytest.raises(InvalidInputError, match="no source 'missing'"):
        remove(library.config, ["a.md"], ["missing"])
    assert library.find("apple") == ["a.md"]
    with pytest.raises(NotIndexedError):
        remove(replace(library.config, storage=replace(library.config.storage, data_dir=tmp_path / "none")), ["a"], [])
    assert not (tmp_path / "none").exists()


def test_a_path_in_two_sources_must_say_which(library: Library, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.md").write_text("apple")
    library.ingest(tmp_path / "more")
    with pytest.raises(InvalidInputError, match="in several sources") as caught:
        remove(library.config, ["a.md"], [])
    assert caught.value.hint == 'say which one: "more/a.md" or "notes/a.md"'

    assert remove(library.config, ["more/a.md"], []).documents == ("more/a.md",)


def test_what_is_a_path_here_and_source_and_path_there_must_say_which(library: Library, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "x.md").write_text("banana")
    library.update({"p/x.md": "cherry"})
    library.ingest(tmp_path / "p")
    with pytest.raises(InvalidInputError) as caught:
        remove(library.config, ["p/x.md"], [])

    removed_from_p = doc_id_of("p", "x.md")
    assert caught.value.details["doc_ids"] == [doc_id_of("notes", "p/x.md"), removed_from_p]
    assert "(source 'notes', path 'p/x.md')" in str(caught.value.hint)
    assert "(source 'p', path 'x.md')" in str(caught.value.hint)
    assert remove(library.config, ["notes/p/x.md"], []).documents == ("notes/p/x.md",)
    assert remove(library.config, [removed_from_p], []).documents == ("p/x.md",)


def test_names_of_copies_are_no_names_for_folders(tmp_path: Path) -> None:
    library = Library.at(tmp_path)
    (tmp_path / TEXTS).mkdir()
    with pytest.raises(InvalidInputError, match="one by one"):
        library.ingest(tmp_path / TEXTS)


def test_the_repository_of_a_file_is_that_of_a_scan(library: Library) -> None:
    subprocess.run(["git", "init", "-q", str(library.root / "work")], check=True)
    library.write({"work/sub/b.md": "banana"})
    taken_in(library, library.root / "work" / "sub" / "b.md")

    assert library.row("SELECT repo FROM documents WHERE doc_path = 'work/sub/b.md'") == ("work",)
    assert library.update() == "0 0 2 0"


# --- what a critical reading found -----------------------------------------------------------------------


def test_a_document_is_removed_after_a_change_of_model(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    library = Library.at(tmp_path)
    library.update({"a.md": "apple", "b.md": "banana"})
    changed = Library(library.root, replace(library.config, models=Library.at(tmp_path / "other", model).config.models))

    assert remove(changed.config, ["a.md"], []).documents == ("notes/a.md",)
    assert changed.find("banana") == ["b.md"]
    assert changed.find("apple") == []


def test_names_that_differ_in_normalisation_only_are_refused_together(library: Library) -> None:
    names = [unicodedata.normalize(form, "é.md") for form in ("NFC", "NFD")]
    library.write(dict.fromkeys(names, "cherry"))
    with pytest.raises(InvalidInputError, match="normalisation"):
        taken_in(library, *(library.root / name for name in names))

    assert len(taken_in(library, library.root / "a.md", library.root / "a.md")) == 1
    assert library.find("cherry") == []


def test_an_unchanged_document_leaves_the_store_as_it_is(library: Library) -> None:
    given(library, "cherry")
    before = (library.data_dir / "kebab.sqlite").stat()
    assert given(library, "cherry").status == "unchanged"
    assert taken_in(library, library.root / "a.md")[0].status == "unchanged"

    assert (library.data_dir / "kebab.sqlite").stat() == before


def test_copies_with_labels_of_their_own_stay_unchanged(library: Library, tmp_path: Path) -> None:
    text = "---\ntrust_level: generated\nsource_type: log\n---\ncherry\n"
    (tmp_path / "c.md").write_text(text)
    taken_in(library, tmp_path / "c.md")
    given(library, text, source_type="mail")

    assert not library.ingest().changed
    assert library.rows("SELECT source_type, trust_level FROM documents WHERE source_id != 'notes' ORDER BY 1") == [
        ("log", "generated"),
        ("mail", "generated"),
    ]


def test_a_copy_that_a_parser_fails_on_is_listed_and_stays(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    given(library, "cherry", "One")
    given(library, "damson", "Two")

    def fail(path: str, text: str) -> ParsedDocument:
        if path == "One.md":
            raise RuntimeError("bad parser")
        return parse(path, text)

    monkeypatch.setattr("kebab_stream.ingest.parse.parse", fail)
    monkeypatch.setattr(prepare, "PARSER_VERSION", "next")
    report = library.ingest()

    assert [(problem.source_id, problem.path) for problem in report.errors] == [(TEXTS, "One.md")]
    assert report.updated == 2
    assert (library.find("cherry"), library.find("damson")) == (["One.md"], ["Two.md"])


@pytest.mark.parametrize("label", ["a,b", " ", " a"])
def test_a_label_is_one_that_a_filter_can_name(library: Library, label: str) -> None:
    with pytest.raises(InvalidInputError, match="source type"):
        given(library, "cherry", source_type=label)


def test_a_configured_source_comes_back_and_that_is_said(library: Library) -> None:
    configured = library.configured(Source(id="notes", root=library.root))

    assert "comes back" in remove(configured.config, [], ["notes"]).warnings[0]


def test_ids_of_copies_are_refused_in_the_settings(tmp_path: Path) -> None:
    (tmp_path / "kebab.toml").write_text('[[workspace.sources]]\nid = "_stdin"\nroot = "."\n')
    with pytest.raises(ConfigInvalidError, match="_stdin"):
        load_config(tmp_path / "kebab.toml", environ={})


# --- the embedding model ---------------------------------------------------------------------------------


def on_a_server(library: Library, address: str) -> Library:
    """The same with another model in its settings, on a server."""
    embedding = Embedding(provider="ollama", endpoint=address, model="letters")
    return replace(library, config=replace(library.config, models=Models(embedding=embedding)))


def test_what_embeds_nothing_asks_no_server_and_keeps_the_vectors(tmp_path: Path) -> None:
    library = Library.at(tmp_path, write_model(tmp_path / "model"))
    library.update({"a.md": "dog", "b.md": "cat"})
    with vector_server() as vectors:
        elsewhere = on_a_server(library, vectors.address)
        assert taken_in(elsewhere, library.root / "a.md")[0].status == "unchanged"
        assert remove(elsewhere.config, ["b.md"], []).documents == ("notes/b.md",)
        assert vectors.paths == []

    assert library.find("dog", mode="vector") == ["a.md"]
    assert library.update() == "1 0 1 0"  # the file of what was removed is still there


def test_what_has_to_be_embedded_needs_the_model_and_changes_nothing_without(tmp_path: Path) -> None:
    library = Library.at(tmp_path, write_model(tmp_path / "model"))
    library.update({"a.md": "dog"})
    library.write({"b.md": "cat"})
    revision = library.revision()
    with pytest.raises(ModelUnavailableError, match="cannot connect"):
        taken_in(on_a_server(library, "http://127.0.0.1:9"), library.root / "b.md")
    assert (library.revision(), library.find("cat")) == (revision, [])

    with vector_server() as vectors:
        elsewhere = on_a_server(library, vectors.address)
        assert taken_in(elsewhere, library.root / "b.md")[0].status == "new"
        assert elsewhere.find("god", mode="vector") == ["a.md", "b.md"]  # all vectors are of one model
        assert {text for texts in vectors.texts for text in texts} >= {"dog", "cat"}


def test_a_damaged_index_is_made_anew_by_a_removal_with_the_model(tmp_path: Path) -> None:
    library = Library.at(tmp_path, write_model(tmp_path / "model"))
    library.update({"a.md": "dog", "b.md": "cat"})
    (generation,) = (library.data_dir / "index").iterdir()
    (generation / "manifest.json").write_text("{}")

    with pytest.raises(ModelUnavailableError, match="cannot connect"):
        remove(on_a_server(library, "http://127.0.0.1:9").config, ["b.md"], [])
    assert remove(library.config, ["b.md"], []).documents == ("notes/b.md",)
    assert library.find("dog", mode="vector") == ["a.md"]
