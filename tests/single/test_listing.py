"""What is listed is what passes the filters, by source and path."""

from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import TRUST_LEVELS, Filters
from kebab_stream.render import to_json
from kebab_stream.single.filters import CHUNK_FILTERS, DOCUMENT_FILTERS, FILTERS
from tests.corpora import config_of, ingest_files
from tests.single.library import ITEMS, LANGS, TAGS, TYPES, passes
from tests.wire import checked

SUBSETS = {
    "tag": st.lists(st.sampled_from([*TAGS, "none"]), max_size=2).map(tuple),
    "lang": st.none() | st.sampled_from([*LANGS, "xx"]),
    "media": st.lists(st.sampled_from(["md", "text", "code", "pdf"]), max_size=2).map(tuple),
    "source": st.lists(st.sampled_from(["left", "right", "x"]), max_size=2).map(tuple),
    "source_type": st.lists(st.sampled_from(TYPES), max_size=2).map(tuple),
    "trust_min": st.none() | st.sampled_from(TRUST_LEVELS),
}


@given(given_filters=st.fixed_dictionaries({}, optional=SUBSETS))
def test_the_documents_listed_are_those_that_pass_the_filters(
    plain_library: Engine, given_filters: dict[str, Any]
) -> None:
    filters = Filters(**given_filters)
    wanted = sorted((item.source, item.path) for item in ITEMS if passes(item, "", filters))

    assert [(each.source_id, each.doc_path) for each in plain_library.documents(filters)] == wanted


def test_every_document_is_listed_once_with_what_is_known_of_it(plain_library: Engine) -> None:
    listed = {(each.source_id, each.doc_path): each for each in plain_library.documents()}

    assert len(listed) == len(ITEMS)
    for item in ITEMS:
        each = listed[item.source, item.path]
        checked(to_json(each))
        assert (each.media, each.lang, each.code_lang) == (item.media, item.lang, item.code_lang)
        assert (each.tags, each.trust_level, each.source_type) == (
            tuple(sorted(item.tags)),
            item.trust,
            item.source_type,
        )
        assert (each.repo, each.chunks, each.size) == (item.repo, 1, len(item.text.encode()))
        assert datetime.fromisoformat(each.indexed_at) == item.indexed_at


def test_the_order_is_that_of_bytes(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    names = ["B.md", "a.md", "a/b.md", "a-b.md", "z.md", "é.md", "가.md", "\U00020000.md"]
    ingest_files(config, tmp_path / "notes", dict.fromkeys(names, "text\n"))

    with Engine.open(config) as engine:
        assert [each.doc_path for each in engine.documents()] == sorted(names, key=str.encode)


def test_a_document_of_no_chunk_is_listed(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest_files(config, tmp_path / "notes", {"empty.md": "\n\n", "a.md": "text\n"})

    with Engine.open(config) as engine:
        assert [(each.doc_path, each.chunks) for each in engine.documents()] == [("a.md", 1), ("empty.md", 0)]
        assert [each.chunks for each in engine.sources()] == [1]
        assert engine.fetch_document("empty.md").text == "\n\n"
        assert engine.inspect("empty.md").chunks == ()


def test_a_glob_and_an_id_keep_what_they_name(plain_library: Engine) -> None:
    everything = list(plain_library.documents())
    one = everything[3]

    assert list(plain_library.documents(Filters(doc_id=one.doc_id))) == [one]
    assert [each.doc_path for each in plain_library.documents(Filters(path_glob="docs/**"))] == [
        each.doc_path for each in everything if each.doc_path.startswith("docs/")
    ]


@pytest.mark.parametrize(
    "filters",
    [
        Filters(must=("x",)),
        Filters(must_not=("x",)),
        Filters(path_glob="["),
        Filters(lang="\udcff"),
        replace(Filters(), tag="alpha"),  # type: ignore[arg-type]  # a text is no list of texts
        replace(Filters(), trust_min="high"),  # type: ignore[arg-type]  # no such level
    ],
)
def test_filters_that_cannot_be_are_refused_before_anything_is_read(plain_library: Engine, filters: Filters) -> None:
    with pytest.raises(InvalidInputError):
        plain_library.documents(filters)
    with pytest.raises(InvalidInputError):
        plain_library.tags(filters)


def test_documents_are_read_one_by_one(plain_library: Engine) -> None:
    documents = plain_library.documents()

    assert len(list(islice(documents, 2))) == 2
    assert len(list(documents)) == len(ITEMS) - 2


def test_tags_are_counted_over_the_documents_that_pass(plain_library: Engine) -> None:
    for filters in (Filters(), Filters(lang="ko"), Filters(path_glob="docs/*"), Filters(tag=("alpha",))):
        items = [item for item in ITEMS if passes(item, "", replace(filters, path_glob=None))]
        if filters.path_glob:
            items = [item for item in items if item.path.startswith("docs/") and item.path.count("/") == 1]
        counts = {tag: sum(tag in item.tags for item in items) for tag in sorted(TAGS, key=str.encode)}
        listed = plain_library.tags(filters)

        assert {each.tag: each.documents for each in listed} == {tag: count for tag, count in counts.items() if count}
        assert [each.tag for each in listed] == [tag for tag, count in counts.items() if count]
        for each in listed:
            checked(to_json(each))


def test_sources_tell_what_the_index_has_of_them(plain_library: Engine) -> None:
    left, right = plain_library.sources()
    checked(to_json(left))

    for source, name in ((left, "left"), (right, "right")):
        items = [item for item in ITEMS if item.source == name]
        assert (source.source_id, source.documents, source.chunks) == (name, len(items), len(items))
        assert source.root.endswith(f"/{name}")
        assert source.indexed_at is not None
        assert datetime.fromisoformat(source.indexed_at) == max(item.indexed_at for item in items)


def test_a_source_without_documents_is_listed(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest_files(config, tmp_path / "notes", {"a.md": "text\n"})
    (tmp_path / "empty").mkdir()
    ingest_files(config, tmp_path / "empty", {})

    with Engine.open(config) as engine:
        empty, notes = engine.sources()
    assert (empty.source_id, empty.documents, empty.chunks, empty.indexed_at) == ("empty", 0, 0, None)
    assert (notes.documents, notes.chunks) == (1, 1)


def test_a_value_that_no_document_has_is_told_with_the_closest(plain_library: Engine) -> None:
    hint = plain_library.nothing_listed_hint(Filters(tag=("alpah",)))

    assert hint == 'no document has the tag "alpah", the closest is "alpha"'
    assert plain_library.nothing_listed_hint(Filters()) is None


def test_every_filter_looks_at_documents_or_at_chunks() -> None:
    assert {each.name for each in CHUNK_FILTERS} == {"must", "must_not"}
    assert sorted(each.name for each in (*DOCUMENT_FILTERS, *CHUNK_FILTERS)) == sorted(each.name for each in FILTERS)
