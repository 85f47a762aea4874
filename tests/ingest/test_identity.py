"""Ids: the same on every machine, another for every document and chunk."""

from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.identity import ChunkIds, doc_id_of
from kebab_stream.model import ChunkId, DocId

DOC = DocId("0123456789abcdef" * 2)


def ids_of(texts: list[str], doc_id: DocId = DOC) -> list[ChunkId]:
    ids = ChunkIds(doc_id)
    return [ids.next(text) for text in texts]


def test_ids_never_change() -> None:
    assert doc_id_of("notes", "a.md") == "60537a8f42cbd069082554d5e4fd67e5"
    assert doc_id_of("메모", "가/나.md") == "5125944e882ceb885e735984c3369346"
    assert ids_of(["text", "text", ""]) == [
        "9e6aff23f826b385facc2a66b91a826b",
        "a84bb41933ea0eec228a6028029d7955",
        "d8ca32b2fdf27f73f18872beb57ad9e2",
    ]


def test_where_one_part_ends_makes_a_difference() -> None:
    assert doc_id_of("ab", "c") != doc_id_of("a", "bc")
    assert doc_id_of("", "abc") != doc_id_of("abc", "")
    assert ids_of(["text1"]) != ids_of(["text"])


@given(st.text(), st.text(), st.text(), st.text())
def test_another_place_is_another_document(source: str, path: str, other_source: str, other_path: str) -> None:
    same_place = (source, path) == (other_source, other_path)

    assert (doc_id_of(source, path) == doc_id_of(other_source, other_path)) == same_place


@given(st.lists(st.text(max_size=2)))
def test_chunks_of_a_document_have_distinct_ids(texts: list[str]) -> None:
    assert len(set(ids_of(texts))) == len(texts)


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("def")))
def test_an_id_depends_on_equal_texts_before_it_and_on_nothing_else(texts: list[str], others: list[str]) -> None:
    assert ids_of(others + texts)[len(others) :] == ids_of(texts)


def test_equal_texts_of_two_documents_have_distinct_ids() -> None:
    assert ids_of(["text"]) != ids_of(["text"], doc_id_of("notes", "a.md"))


@given(st.text(st.characters()))
def test_any_text_has_an_id(text: str) -> None:
    (chunk_id,) = ids_of([text])

    assert len(bytes.fromhex(chunk_id)) == 16
