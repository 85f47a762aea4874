"""What counts as an answer, which citations count, and what may be shown before that is known."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ask.citing import Draft, checked, is_declined
from kebab_stream.ask.prompt import SENTINEL


@pytest.mark.parametrize(
    ("text", "clean", "cited"),
    [
        ("Yes [1].", "Yes [1].", (1,)),
        ("Yes [2][1] and [2].", "Yes [2][1] and [2].", (1, 2)),
        ("Yes [1, 3].", "Yes [1][3].", (1, 3)),
        ("Yes [1-3].", "Yes [1][2][3].", (1, 2, 3)),
        ("Yes [^1].", "Yes [1].", (1,)),
        ("그렇다【2】.", "그렇다[2].", (2,)),
        ("그렇다[1].", "그렇다[1].", (1,)),
        ("Yes [99].", "Yes.", ()),
        ("Yes [0] [1] [4].", "Yes [1].", (1,)),
        ("Yes [2, 99].", "Yes [2].", (2,)),
        ("Yes [1-9999].", "Yes [1][2][3].", (1, 2, 3)),
        ("See [the notes] and [x].", "See [the notes] and [x].", ()),
        ("Use `a[1]` [2].", "Use `a[1]` [2].", (2,)),
        ("```\na[3] = b[1]\n```\nSo [2].", "```\na[3] = b[1]\n```\nSo [2].", (2,)),
        ("```\na[3]", "```\na[3]", ()),
        ("", "", ()),
    ],
)
def test_citations_are_those_of_passages_that_exist(text: str, clean: str, cited: tuple[int, ...]) -> None:
    assert checked(text, 3) == (clean, cited)


@given(st.text(alphabet="ab 0123456789[]【】,-^`\n"), st.integers(1, 8))
def test_a_checked_answer_cites_exactly_what_it_says_it_cites(text: str, passages: int) -> None:
    clean, cited = checked(text, passages)

    assert all(1 <= number <= passages for number in cited)
    assert all(f"[{number}]" in clean for number in cited)


@pytest.mark.parametrize("text", [SENTINEL, f"**{SENTINEL}**.", f"It is so [1]. {SENTINEL}", f"`{SENTINEL}`"])
def test_the_sentinel_declines_wherever_it_stands(text: str) -> None:
    assert is_declined(text)


def test_a_word_like_the_sentinel_declines_nothing() -> None:
    assert not is_declined("gRPC answers NOT_FOUND [1].")


def shown(pieces: list[str]) -> str:
    draft = Draft()
    return "".join([*map(draft.add, pieces), draft.end()])


@given(st.text(alphabet=f"{SENTINEL} a<think>/", max_size=60), st.lists(st.integers(0, 60)))
def test_it_does_not_matter_where_pieces_are_cut(text: str, cuts: list[int]) -> None:
    ends = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(ends)]

    assert shown(pieces) == shown([text])


@given(st.lists(st.text(alphabet="ab N"), max_size=9))
def test_what_is_shown_is_the_answer(pieces: list[str]) -> None:
    assert shown(pieces) == "".join(pieces).lstrip()


def test_the_sentinel_is_never_shown() -> None:
    assert shown(list(SENTINEL)) == ""
    assert shown(["It is so. NO_ANS", "WER_IN_SOURCES and more"]) == "It is so. "
    assert shown(["It is NO_ANS", "WER at all"]) == "It is NO_ANSWER at all"


def test_what_a_model_thinks_before_it_answers_is_neither_shown_nor_part_of_the_answer() -> None:
    draft = Draft()
    pieces = ["\n<th", "ink>hm [2]", " no</thi", "nk>\n\nYes", " [1]."]

    assert "".join(map(draft.add, pieces)) == draft.text == "Yes [1]."
