"""Remembered vectors: the same back, for the same model only; damage and full disks cost time and nothing else."""

import resource
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kebab_stream.index.cache import CACHE_FILE, EmbeddingCache
from tests.limits import public_folder, restricted

DIM = 4


def rows(*numbers: int) -> NDArray[np.int8]:
    """A window vector for each number."""
    return np.repeat(np.array(numbers, dtype=np.int8)[:, np.newaxis], DIM, axis=1)


def opened(folder: Path, scope: str = "model|1") -> EmbeddingCache:
    return EmbeddingCache.open(folder, scope=scope, dim=DIM)


def plain(found: dict[str, NDArray[np.int8]]) -> dict[str, list[list[int]]]:
    return {text: vectors.tolist() for text, vectors in found.items()}


def test_what_was_put_outlives_the_process(tmp_path: Path) -> None:
    opened(tmp_path).put({"one": rows(1), "two": rows(2, 3), "none": rows()})  # not even closed

    cache = opened(tmp_path)
    assert plain(cache.get(["two", "none", "three", "two"])) == {"two": rows(2, 3).tolist(), "none": []}
    cache.close()


def test_another_model_knows_nothing_of_it(tmp_path: Path) -> None:
    opened(tmp_path).put({"one": rows(1)})

    assert opened(tmp_path, "model|2").get(["one"]) == {}


@given(st.dictionaries(st.text(), st.lists(st.integers(-127, 127), max_size=3), max_size=700))
def test_every_text_gets_its_own_vectors_back(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, list[int]]
) -> None:
    cache = opened(tmp_path_factory.mktemp("cache"))
    cache.put({text: rows(*numbers) for text, numbers in texts.items()})

    assert plain(cache.get(list(texts))) == {text: rows(*numbers).tolist() for text, numbers in texts.items()}
    cache.close()


def test_the_oldest_entries_are_forgotten_first(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    for number in range(5):
        cache.put({str(number): rows(number)})
    cache.trim(2)
    cache.trim(10)

    assert sorted(cache.get([str(number) for number in range(5)])) == ["3", "4"]
    cache.close()


def test_a_flipped_bit_is_unknown_rather_than_a_wrong_vector(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    cache.put({"one": rows(77), "two": rows(3)})
    cache.close()
    path = tmp_path / CACHE_FILE
    data = path.read_bytes()
    assert data.count(bytes([77] * DIM)) == 1
    path.write_bytes(data.replace(bytes([77] * DIM), bytes([78] + [77] * (DIM - 1))))

    assert sorted(opened(tmp_path).get(["one", "two"])) == ["two"]


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + bytes(4096)])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CACHE_FILE).write_bytes(content)
    cache = opened(tmp_path)
    cache.put({"one": rows(1)})
    cache.put({"one": rows(1)})
    cache.close()

    again = opened(tmp_path)
    again.put({"two": rows(2)})
    assert "two" in again.get(["two"])
    again.close()


def test_a_folder_that_cannot_be_written_only_remembers_nothing() -> None:
    with public_folder() as folder, restricted(folder, 0o555):
        cache = opened(folder)
        cache.put({"one": rows(1)})
        cache.trim(0)

        assert cache.get(["one"]) == {}
        cache.close()


def test_a_full_disk_only_forgets(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        cache.put({str(number): rows(*range(100)) for number in range(1000)})
        cache.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    again = opened(tmp_path)
    again.put({"one": rows(1)})
    assert "one" in again.get(["one"])
    again.close()


def test_no_flipped_byte_gives_a_wrong_vector_or_ends_an_ingest(tmp_path: Path) -> None:
    opened(tmp_path).put({"one": rows(1), "two": rows(2, 3)})
    path = tmp_path / CACHE_FILE
    whole = path.read_bytes()
    used = [place for place, byte in enumerate(whole) if byte]
    for place in used[:: max(1, len(used) // 300)]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        cache = opened(tmp_path)
        found = plain(cache.get(["one", "two"]))
        cache.put({"three": rows(3)})
        cache.close()

        assert found.items() <= {"one": rows(1).tolist(), "two": rows(2, 3).tolist()}.items()
