"""An inspection tells what the index really has of a document or a chunk."""

from collections import Counter
from pathlib import Path

import pytest

from kebab_stream.engine import Engine
from kebab_stream.errors import DocNotFoundError, InvalidInputError
from kebab_stream.ingest.prepare import embedded_windows, indexed_terms
from kebab_stream.model import ChunkId, SearchQuery
from kebab_stream.render import to_json
from tests.corpora import config_of, ingest_files
from tests.wire import checked


def test_the_terms_of_a_chunk_are_those_it_was_indexed_with(fixture_data: Path) -> None:
    with Engine.open(config_of(fixture_data)) as engine:
        chunks = list(engine.snapshot.store.every_chunk())
        in_chunks: Counter[str] = Counter()
        windows = 0
        for chunk, document in chunks:
            in_chunks.update(set(indexed_terms(chunk, document)))
        for chunk, document in chunks:
            result = engine.inspect(chunk.chunk_id)
            checked(to_json(result))
            assert result.terms is not None
            assert {term.term: term.frequency for term in result.terms} == Counter(indexed_terms(chunk, document))
            assert all(term.document_frequency == in_chunks[term.term] for term in result.terms)
            assert [term.idf for term in result.terms] == sorted((term.idf for term in result.terms), reverse=True)
            assert (result.kind, result.text) == ("chunk", chunk.text)
            (each,) = result.chunks
            assert each.chunk_id == chunk.chunk_id
            assert each.windows <= len(embedded_windows(chunk.text))  # one without a known word has no vector
            windows += each.windows
        assert windows == engine.snapshot.generation.manifest.n_windows


def test_a_document_has_all_its_chunks_in_order(fixture_data: Path) -> None:
    with Engine.open(config_of(fixture_data)) as engine:
        for listed in list(engine.documents()):
            result = engine.inspect(listed.doc_path)
            checked(to_json(result))
            chunks = engine.snapshot.store.chunks_in(listed.doc_id)
            assert (result.kind, result.document, result.text, result.terms) == ("document", listed, None, None)
            assert [(each.chunk_id, each.ordinal, each.chars) for each in result.chunks] == [
                (chunk.chunk_id, chunk.ordinal, len(chunk.text)) for chunk in chunks
            ]
            assert engine.inspect(listed.doc_id) == result
            assert result.embedding_model == "static-koen-256"


def test_the_citation_of_a_chunk_is_that_of_its_hit(fixture_data: Path) -> None:
    with Engine.open(config_of(fixture_data)) as engine:
        (hit, *_) = engine.search(SearchQuery(query="ring buffer", mode="lexical"))

        assert engine.inspect(hit.chunk_id).chunks[0].citation == hit.citation


def test_without_vectors_there_are_no_windows(plain_library: Engine) -> None:
    (document, *_) = plain_library.documents()
    result = plain_library.inspect(document.doc_id)

    assert (result.embedding_model, [each.windows for each in result.chunks]) == (None, [0])


@pytest.mark.parametrize("wanted", ["nothing.md", "0" * 32])
def test_what_is_not_there_is_told(plain_library: Engine, wanted: str) -> None:
    with pytest.raises(DocNotFoundError):
        plain_library.inspect(wanted)


@pytest.mark.parametrize("wanted", ["", " ", None, 7])
def test_what_is_no_text_is_refused(plain_library: Engine, wanted: str) -> None:
    with pytest.raises(InvalidInputError):
        plain_library.inspect(wanted)


def test_a_path_in_two_sources_needs_the_source(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    for name in ("one", "two"):
        ingest_files(config, tmp_path / name, {"a.md": f"{name}\n"})

    with Engine.open(config) as engine:
        with pytest.raises(InvalidInputError, match="several sources: one, two"):
            engine.inspect("a.md")
        assert engine.inspect("a.md", source="two").document.source_id == "two"


def test_a_chunk_id_wins_over_anything_else(fixture_data: Path) -> None:
    with Engine.open(config_of(fixture_data)) as engine:
        (chunk, _), *_ = engine.snapshot.store.every_chunk()

        assert engine.inspect(ChunkId(chunk.chunk_id)).kind == "chunk"
