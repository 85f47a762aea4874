"""Where the chunks of a new generation come from."""

import pytest

from tests.index.stored import moves


def test_added_chunks_come_first_in_the_count_of_origins() -> None:
    assert moves(4, [2, -1, 0], [3, -1, 1]).origins().tolist() == [5, 2, 3, 0]
    assert moves(0, [-1], []).origins().tolist() == []


@pytest.mark.parametrize(
    ("n_chunks", "old", "added"),
    [(2, [], [0]), (2, [], [0, 0]), (2, [0], [0]), (2, [0], [2]), (2, [0, 1], [2]), (3, [], [0, 1])],
)
def test_new_numbers_that_leave_a_gap_or_collide_are_refused(n_chunks: int, old: list[int], added: list[int]) -> None:
    with pytest.raises(ValueError, match="each once"):
        moves(n_chunks, old, added).origins()
