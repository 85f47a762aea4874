"""What the program says of itself is what it is, and what it says of its index is what the index holds."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from kebab_stream.description import describe, statistics, wire_names
from kebab_stream.errors import ErrorCode
from kebab_stream.index.snapshot import Snapshot
from kebab_stream.render import to_json
from kebab_stream.reports.housekeeping import Count, SchemaReport
from kebab_stream.single.filters import FILTERS, MEDIA
from tests.corpora import config_of, ingest_files
from tests.paths import ROOT
from tests.wire import checked

COMMANDS = {"search": "Search.", "ingest-file": "Ingest a file."}
FILES = {
    "a.md": "---\ntags: [x, y]\nlang: en\n---\n# Alpha\n\nfirst words\n\n## More\n\nsecond words\n",
    "b.md": "# 둘째\n\n한국어로 쓴 글이다\n",
    "c.py": "def f() -> int:\n    return 1\n",
}


def described(snapshot: Snapshot | None, *, data_dir: Path) -> SchemaReport:
    report = describe(config_of(data_dir), snapshot, commands=COMMANDS, batch={"items": 100})
    checked(to_json(report))
    return report


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("described")
    ingest_files(config_of(folder / "data"), folder / "notes", FILES)
    return folder / "data"


@pytest.fixture
def snapshot(data_dir: Path) -> Iterator[Snapshot]:
    with closing(Snapshot.open(data_dir)) as opened:
        yield opened


def test_the_objects_are_those_that_have_a_schema() -> None:
    files = {path.name.removesuffix(".schema.json") for path in (ROOT / "schemas").iterdir()}

    assert set(wire_names()) == files


def test_documents_and_chunks_are_counted_by_each_property(snapshot: Snapshot) -> None:
    found = statistics(snapshot)

    chunks = found.by_media["markdown"].chunks
    assert (found.documents, found.sources, found.tags) == (3, 1, 2)
    assert found.by_media == {"code": Count(documents=1, chunks=1), "markdown": Count(documents=2, chunks=chunks)}
    assert found.by_code_lang == {"python": Count(documents=1, chunks=1)}
    assert {name: count.documents for name, count in found.by_lang.items()} == {"en": 1, "ko": 1}
    assert found.by_repo == {}
    assert found.by_source == {"notes": Count(documents=3, chunks=found.chunks)}
    assert chunks + 1 == found.chunks == snapshot.generation.manifest.n_chunks


def test_breakdowns_that_every_document_has_add_up_to_all(fixture_data: Path) -> None:
    with closing(Snapshot.open(fixture_data)) as snapshot:
        found = statistics(snapshot)

    for breakdown in (found.by_media, found.by_source, found.by_source_type, found.by_trust_level):
        assert sum(count.documents for count in breakdown.values()) == found.documents
        assert sum(count.chunks for count in breakdown.values()) == found.chunks
    assert set(found.by_media) <= set(MEDIA)
    assert len(found.by_media) > 1


def test_an_index_without_documents_has_no_time(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest_files(config, tmp_path / "notes", {"a.md": "# Alpha\n"})
    (tmp_path / "notes" / "a.md").unlink()
    ingest_files(config, tmp_path / "notes", {".keep": ""})

    with closing(Snapshot.open(tmp_path / "data")) as snapshot:
        found = statistics(snapshot)

    assert (found.documents, found.by_media, found.indexed_at, found.sources) == (0, {}, None, 1)


def test_what_it_accepts_is_taken_from_the_code(data_dir: Path, snapshot: Snapshot) -> None:
    report = described(snapshot, data_dir=data_dir)

    assert list(report.filters) == [definition.name for definition in FILTERS]
    assert report.error_codes == get_args(ErrorCode)
    assert report.commands == COMMANDS
    assert report.limits == {"k": 1000, "snippet_chars": 10_000, "results": 1000, "bulk_items": 100}
    assert report.defaults["k"] == config_of(data_dir).search.default_k


def test_capabilities_follow_from_commands_settings_and_index(data_dir: Path, snapshot: Snapshot) -> None:
    config = replace(config_of(data_dir, provider="none"), readonly=True)

    here = described(snapshot, data_dir=data_dir).capabilities
    there = describe(config, snapshot, commands={}, batch={}).capabilities

    assert here == {"search": True, "ingest_file": True, "bulk_search": True, "vector_search": True, "write": True}
    assert there == {"bulk_search": False, "vector_search": False, "write": False}


def test_without_an_index_there_are_no_statistics_and_no_vectors(tmp_path: Path) -> None:
    report = described(None, data_dir=tmp_path)

    assert (report.statistics, report.models.embedding.indexed) == (None, None)
    assert not report.capabilities["vector_search"]


def test_the_model_of_the_vectors_is_named(data_dir: Path, snapshot: Snapshot) -> None:
    indexed = described(snapshot, data_dir=data_dir).models.embedding.indexed

    assert indexed is not None
    assert (indexed.model, indexed.dim, len(indexed.fingerprint)) == ("static-koen-256", 256, 16)
