"""The same index and query give the same bytes; a new index of the same files gives the same answers."""

import json
import re
from pathlib import Path
from typing import Any

from tests.cli.program import kebab
from tests.paths import FIXTURES

QUERIES = (FIXTURES / "queries.ndjson").read_bytes()


def answers(data_dir: Path, seed: str = "0") -> bytes:
    """The items of all fixture queries, without the timings of traces."""
    extra = {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": seed, "RAYON_NUM_THREADS": seed}
    done = kebab("search", "--bulk", "--json", stdin=QUERIES, data_dir=data_dir, extra=extra)
    assert done.status == 0
    return re.sub(rb'"timing":\{[^}]*\}', b'"timing":{}', done.out)


def without_time(value: Any) -> Any:
    """The value without what tells when it was indexed."""
    if isinstance(value, dict):
        return {
            key: without_time(item) for key, item in value.items() if key not in ("indexed_at", "stale", "next_cursor")
        }
    return [without_time(item) for item in value] if isinstance(value, list) else value


def test_another_process_and_hash_seed_give_the_same_bytes(fixture_data: Path) -> None:
    assert answers(fixture_data, "1") == answers(fixture_data, "2")


def test_a_fresh_index_gives_the_same_answers(fixture_data: Path, tmp_path: Path) -> None:
    assert kebab("ingest", str(FIXTURES / "corpus"), data_dir=tmp_path, extra={"PYTHONHASHSEED": "7"}).status == 0

    fresh = [without_time(json.loads(line)) for line in answers(tmp_path).splitlines()]
    assert fresh == [without_time(json.loads(line)) for line in answers(fixture_data).splitlines()]
