"""The folded texts of a generation: what contains what."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.analyser import fold
from kebab_stream.errors import IndexCorruptError
from kebab_stream.index.texts import FOLDED_FILE, OFFSETS_FILE, TextIndex, write_texts
from tests.index.stored import all_added, moves

texts = st.text(st.sampled_from("ab가나 \n\0é")).map(fold).map(lambda text: text.replace("\0", ""))


def write(folder: Path, chunks: list[str]) -> TextIndex:
    """An index of chunks numbered as they come."""
    folder.mkdir(exist_ok=True)
    write_texts(folder, all_added(len(chunks)), old=None, added=[text.encode() for text in chunks])
    return TextIndex.open(folder)


@given(chunks=st.lists(texts, max_size=8), needle=texts)
def test_containing_is_what_python_says(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[str], needle: str
) -> None:
    index = write(tmp_path_factory.mktemp("texts"), chunks)

    assert index.containing(needle).tolist() == [needle in text for text in chunks]
    assert [index.raw(number).decode() for number in range(index.n_chunks)] == chunks


def test_nothing_is_found_across_the_border_of_two_chunks(tmp_path: Path) -> None:
    index = write(tmp_path, ["one", "two"])

    assert not index.containing("onetwo").any()
    assert not index.containing("one\0two").any()


@given(data=st.data(), old=st.lists(texts, max_size=6), added=st.lists(texts, max_size=4))
def test_a_merge_is_a_rebuild(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, old: list[str], added: list[str]
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(old), max_size=len(old)))
    numbers = data.draw(st.permutations(range(sum(kept) + len(added))))
    places = iter(numbers)
    old_to_new = [next(places) if keep else -1 for keep in kept]
    added_to_new = list(places)
    folder = tmp_path_factory.mktemp("merge")
    merged = folder / "merged"
    merged.mkdir()
    write_texts(
        merged,
        moves(len(numbers), old_to_new, added_to_new),
        old=write(folder / "old", old),
        added=[text.encode() for text in added],
    )
    chunks = [""] * len(numbers)
    for text, number in zip([*old, *added], [*old_to_new, *added_to_new], strict=True):
        if number >= 0:
            chunks[number] = text
    write(folder / "rebuilt", chunks)

    for name in (FOLDED_FILE, OFFSETS_FILE):
        assert (merged / name).read_bytes() == (folder / "rebuilt" / name).read_bytes()


@pytest.mark.parametrize("name", [FOLDED_FILE, OFFSETS_FILE])
def test_a_missing_or_short_file_is_corrupt(tmp_path: Path, name: str) -> None:
    write(tmp_path, ["one", "two"])
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexCorruptError):
        TextIndex.open(tmp_path)

    path.unlink()
    with pytest.raises(IndexCorruptError, match="missing"):
        TextIndex.open(tmp_path)
