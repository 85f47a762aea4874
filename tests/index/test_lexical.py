"""BM25 against bm25s, and carrying postings over against building anew."""

import json
import math
import random
import string
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kebab_stream.analyser import terms
from kebab_stream.errors import IndexCorruptError, StorageError
from kebab_stream.index.lexical import LexicalBuilder, LexicalIndex, _packed, write_lexical
from tests.index.stored import all_added, moves
from tests.index.test_generation import NAMES
from tests.paths import SHARED

SCIFACT = SHARED / "data" / "retrieval" / "scifact"
LEXICAL_FILES = [name for name in NAMES if name.startswith("lexical")]
TERM = st.text("ab가é\0", max_size=3)
CHUNKS = st.lists(st.lists(TERM, max_size=6), max_size=8)


def builder_of(chunks: Sequence[Sequence[str]]) -> LexicalBuilder:
    builder = LexicalBuilder()
    for chunk in chunks:
        builder.add(Counter(chunk))
    return builder


def build(folder: Path, chunks: Sequence[Sequence[str]]) -> LexicalIndex:
    write_lexical(folder, all_added(len(chunks)), old=None, added=builder_of(chunks))
    return LexicalIndex.open(folder)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def oracle(chunks: Sequence[Sequence[str]]) -> Callable[[list[str]], NDArray[np.float64]]:
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    retriever.index([list(chunk) for chunk in chunks], show_progress=False)
    get_scores: Callable[[list[str]], NDArray[np.float64]] = retriever.get_scores
    return get_scores


def test_scores_follow_the_formula(tmp_path: Path) -> None:
    index = build(tmp_path, [["a", "b", "a"], ["b"], []])
    idf_a, idf_b = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    norms = [1.2 * (0.25 + 0.75 * length / (4 / 3)) for length in (3, 1)]

    scores, bound = index.scores(["b", "a", "a", "absent"])

    assert scores == pytest.approx([2 * idf_a * 2 / (2 + norms[0]) + idf_b / (1 + norms[0]), idf_b / (1 + norms[1]), 0])
    assert bound == pytest.approx(2 * idf_a + idf_b + math.log(1 + 3.5 / 0.5))
    assert [index.document_frequency(term) for term in ("a", "b", "absent")] == [1, 2, 0]


@pytest.mark.parametrize("seed", range(8))
def test_scores_equal_bm25s(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    vocabulary = ["".join(draw.choices("abc가나é", k=draw.randint(1, 6))) for _ in range(draw.choice([5, 50, 500]))]
    chunks = [
        [draw.choice(vocabulary[: draw.randint(1, len(vocabulary))]) for _ in range(draw.choice([0, 3, 20, 200]))]
        for _ in range(draw.choice([2, 20, 200]))
    ]
    index, expected = build(tmp_path, [*chunks, vocabulary]), oracle([*chunks, vocabulary])

    for _ in range(20):
        query = draw.choices([*vocabulary, "absent"], k=draw.randint(1, 8))
        scores, bound = index.scores(query)

        np.testing.assert_allclose(scores, expected(query), rtol=0, atol=1e-5)
        assert scores.max() < bound


@pytest.mark.skipif(not SCIFACT.exists(), reason="shared data sets are not here")
def test_scores_equal_bm25s_on_scifact(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (SCIFACT / "corpus.jsonl").read_text("utf-8").splitlines()[:1000]]
    queries = [json.loads(line)["text"] for line in (SCIFACT / "queries.jsonl").read_text("utf-8").splitlines()[:50]]
    chunks = [terms(f"{row['title']}\n{row['text']}") for row in rows]
    index, expected = build(tmp_path, chunks), oracle(chunks)

    for query in map(terms, queries):
        np.testing.assert_allclose(index.scores(query)[0], expected(query), rtol=0, atol=1e-5)


@settings(deadline=None)
@given(CHUNKS, CHUNKS, st.data())
def test_carrying_postings_over_equals_a_rebuild(
    before: list[list[str]], added: list[list[str]], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before)))
    n_chunks = sum(kept) + len(added)
    places = iter(data.draw(st.permutations(range(n_chunks))))
    old_to_new = [next(places) if keep else -1 for keep in kept]
    added_to_new = [next(places) for _ in added]
    after: list[list[str]] = [[] for _ in range(n_chunks)]
    for chunk, place in zip(before + added, old_to_new + added_to_new, strict=True):
        if place >= 0:
            after[place] = chunk

    with TemporaryDirectory() as old, TemporaryDirectory() as new, TemporaryDirectory() as rebuilt:
        write_lexical(
            Path(new),
            moves(n_chunks, old_to_new, added_to_new),
            old=build(Path(old), before),
            added=builder_of(added),
        )
        build(Path(rebuilt), after)

        assert content(Path(new)) == content(Path(rebuilt))


@settings(deadline=None)
@given(CHUNKS.filter(bool), st.data())
def test_files_do_not_depend_on_the_order_of_adding(chunks: list[list[str]], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(chunks))))
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        build(Path(first), chunks)
        write_lexical(
            Path(second),
            moves(len(chunks), [], order),
            old=None,
            added=builder_of([chunks[number] for number in order]),
        )

        assert content(Path(first)) == content(Path(second))


@settings(deadline=None)
@given(CHUNKS, st.lists(TERM, max_size=6), st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_order_of_the_query(
    chunks: list[list[str]], query: list[str], shuffler: random.Random
) -> None:
    shuffled = query.copy()
    shuffler.shuffle(shuffled)
    with TemporaryDirectory() as folder:
        index = build(Path(folder), chunks)
        scores, bound = index.scores(query)
        again, bound_again = index.scores(shuffled)

        assert (scores.tobytes(), bound) == (again.tobytes(), bound_again)
        assert bool((scores <= bound).all())
        assert np.flatnonzero(scores).tolist() == [i for i, chunk in enumerate(chunks) if set(chunk) & set(query)]


def test_terms_compare_by_their_utf8_bytes(tmp_path: Path) -> None:
    words = ["z", "é", "가", "\uffee", "\U00020000", "", "\ud800"]  # UTF-16 would put U+20000 before U+FFEE
    index = build(tmp_path, [words])

    assert index.postings().terms == sorted(word.encode("utf-8", "surrogatepass") for word in words)
    assert [index.document_frequency(word) for word in words] == [1] * len(words)


def test_an_empty_index_answers(tmp_path: Path) -> None:
    scores, bound = build(tmp_path, []).scores(["a"])

    assert scores.tolist() == []
    assert bound == pytest.approx(math.log(2))


def test_chunks_without_terms_and_queries_without_terms_score_nothing(tmp_path: Path) -> None:
    index = build(tmp_path, [[], []])

    assert index.n_chunks == 2
    assert index.scores(["a"])[0].tolist() == [0.0, 0.0]
    assert index.scores([])[1] == 0.0


def test_a_term_repeated_beyond_the_counter_saturates_alike_when_carried_over(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    index = build(old, [["a"] * 70_000])
    write_lexical(new, moves(1, [0], []), old=index, added=LexicalBuilder())

    assert index.postings().frequencies.tolist() == [65_535]
    assert content(new) == content(old)


def test_more_terms_and_chunks_than_64_bits_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="more than one index holds"):
        _packed(builder_of([["a"]]).postings(), np.array([0], dtype=np.int32), {b"a": 0}, 1 << 48)


@pytest.mark.parametrize("name", LEXICAL_FILES)
def test_a_missing_file_is_reported(tmp_path: Path, name: str) -> None:
    build(tmp_path, [["a", "b"], ["b"]])
    (tmp_path / name).unlink()

    with pytest.raises(IndexCorruptError, match=f"{name}: missing"):
        LexicalIndex.open(tmp_path)


@pytest.mark.parametrize("name", LEXICAL_FILES)
@pytest.mark.parametrize("cut", [1, 2, 4, 8, 10_000])
def test_a_short_file_is_reported(tmp_path: Path, name: str, cut: int) -> None:
    build(tmp_path, [list(string.ascii_letters), ["b"]])
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: max(len(data) - cut, 0)])

    with pytest.raises(IndexCorruptError):
        LexicalIndex.open(tmp_path)


@settings(deadline=None)
@given(st.sampled_from(LEXICAL_FILES), st.data())
def test_changed_bytes_never_raise_anything_else(name: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        build(Path(folder), [["a", "b", "b"], ["b", "c"], ["가"]])
        damaged = bytearray(path.read_bytes())
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
        path.write_bytes(damaged)
        with suppress(IndexCorruptError):
            index = LexicalIndex.open(Path(folder))
            index.scores(["a", "b", "c", "가"])
            index.postings()


def test_a_file_that_cannot_be_read_is_an_io_error(tmp_path: Path) -> None:
    build(tmp_path, [["a"]])
    (tmp_path / "lexical_lengths.bin").unlink()
    (tmp_path / "lexical_lengths.bin").mkdir()

    with pytest.raises(StorageError, match=r"cannot read .*lexical_lengths\.bin"):
        LexicalIndex.open(tmp_path)
