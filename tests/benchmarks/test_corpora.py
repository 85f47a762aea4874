"""The folders that the speed is measured with."""

import random
from pathlib import Path

import numpy as np

from benchmarks.speed.corpora import HALF, HUNDREDTH, first_files, multiplied_folder, varied
from benchmarks.speed.synthetic import synthetic_index, synthetic_queries
from kebab_stream.index.lexical import LexicalIndex
from kebab_stream.single.glob import glob_pattern
from tests.paths import FIXTURES


def test_the_first_files_are_those_with_the_first_paths(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a-/x.md", "a/b.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("# x\n")

    assert [path.relative_to(tmp_path).as_posix() for path in first_files(tmp_path, 2)] == ["a-/x.md", "a/z.md"]


def test_a_varied_text_keeps_its_lines_and_length_and_exchanges_words() -> None:
    text = "# Some heading of a page\n\n- an item with words\n\n```sh\n" + "word " * 100

    again = [varied(text, ["other"], random.Random(1)) for _ in range(2)]

    assert again[0] == again[1]
    assert [line.split(" ")[0] for line in again[0].split("\n")] == ["#", "", "-", "", "```sh", "word"]
    assert len(again[0].split(" ")) == len(text.split(" "))
    assert 20 < again[0].count("other") < 60


def test_a_multiplied_folder_has_the_chunks_wanted_and_files_in_known_shares(tmp_path: Path) -> None:
    folder = multiplied_folder(FIXTURES / "corpus", 5, 400, tmp_path / "made")
    paths = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.md"))]

    shares = [sum(bool(glob_pattern(glob).match(path)) for path in paths) / len(paths) for glob in (HALF, HUNDREDTH)]
    assert 0.45 < shares[0] <= 0.55
    assert 0 < shares[1] < 0.03
    assert multiplied_folder(FIXTURES / "no-corpus", 5, 400, folder) == folder


def test_a_larger_synthetic_index_begins_with_the_chunks_of_a_smaller_one(tmp_path: Path) -> None:
    few, many = (LexicalIndex.open(synthetic_index(count, tmp_path)) for count in (100, 300))
    (query, *_) = synthetic_queries(5)

    found = [np.flatnonzero(index.scores(query)[0]).tolist() for index in (few, many)]
    assert found[0]
    assert found[0] == [number for number in found[1] if number < 100]
