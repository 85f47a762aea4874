"""An agent's loop: a budget, the cursor to the end, a change of the corpus in between, and on."""

import shutil
from pathlib import Path
from typing import Any

from tests.cli.program import kebab
from tests.paths import FIXTURES

TOKENS = 16_000
QUERY = ("search", "백업을 복구하는 방법과 backup restore", "--max-tokens", str(TOKENS), "--json")


def pages(data_dir: Path, *, until: int | None = None) -> tuple[list[Any], str | None]:
    """The hits of a query page by page, to the end or for some pages; and the cursor that is left."""
    hits: list[Any] = []
    cursor: str | None = None
    for _ in range(until or 1000):
        arguments = [] if cursor is None else ["--cursor", cursor]
        done = kebab(*QUERY, *arguments, data_dir=data_dir)
        (response,) = done.lines
        assert len(done.out.decode().rstrip("\n")) <= 4 * TOKENS or len(response["hits"]) == 1
        hits += response["hits"]
        cursor = response["next_cursor"]
        if cursor is None:
            break
    return hits, cursor


def test_a_budgeted_loop_sees_every_hit_and_recovers_from_a_change(tmp_path: Path) -> None:
    corpus, data_dir = tmp_path / "corpus", tmp_path / "data"
    shutil.copytree(FIXTURES / "corpus", corpus)
    assert kebab("ingest", str(corpus), data_dir=data_dir).status == 0
    every = kebab("search", QUERY[1], "--k", "1000", "--json", data_dir=data_dir).lines[0]["hits"]

    hits, cursor = pages(data_dir)
    assert cursor is None
    assert [(hit["rank"], hit["chunk_id"], hit["score"]) for hit in hits] == [
        (hit["rank"], hit["chunk_id"], hit["score"]) for hit in every
    ]

    _, cursor = pages(data_dir, until=2)
    assert cursor is not None
    (corpus / "new.md").write_text("# 백업\n\n새 백업 절차: backup, then restore.\n", encoding="utf-8")
    assert kebab("ingest", data_dir=data_dir).status == 0
    refused = kebab(*QUERY, "--cursor", cursor, data_dir=data_dir)

    assert (refused.status, refused.out) == (2, b"")
    assert (refused.error["code"], refused.error["details"]["reason"]) == ("stale_cursor", "revision")
    fresh, _ = pages(data_dir)
    assert "new.md" in {hit["doc_path"] for hit in fresh}
