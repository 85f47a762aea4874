"""The mapped vocabulary: the ids of the library's tokenizer, and its file made from the model's."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from kebab_stream.embed.static import BUNDLED_FOLDER, LOOKED_UP_CHARS, TOKENIZER_FILE, VOCABULARY_FILE, StaticEmbedder
from kebab_stream.embed.unigram import MappedUnigram, is_common, words
from kebab_stream.errors import ModelUnavailableError
from tools.write_vocabulary import vocabulary_bytes

MAPPED = MappedUnigram.open(BUNDLED_FOLDER / VOCABULARY_FILE, BUNDLED_FOLDER / TOKENIZER_FILE)
TOKENIZER = Tokenizer.from_file(str(BUNDLED_FOLDER / TOKENIZER_FILE))
PIECES = [piece for piece, _ in json.loads((BUNDLED_FOLDER / TOKENIZER_FILE).read_bytes())["model"]["vocab"]]
UNKNOWN = 0

COMMON = st.characters(exclude_categories=["Cs"]).filter(is_common)
MIXED = st.lists(st.sampled_from(PIECES) | st.text(COMMON, max_size=4)).map("".join)


def ids_of_the_library(text: str) -> list[int]:
    return [token_id for token_id in TOKENIZER.encode(text, add_special_tokens=False).ids if token_id != UNKNOWN]


@given(MIXED)
def test_a_text_has_the_ids_of_the_library(text: str) -> None:
    assert MAPPED.token_ids(text) == ids_of_the_library(text)


def test_pieces_of_all_kinds_have_the_ids_of_the_library() -> None:
    text = " ".join(PIECES[::40])
    assert MAPPED.token_ids(text) == ids_of_the_library(text)


def test_common_characters_have_the_ids_of_the_library_wherever_it_stands() -> None:
    characters = [chr(point) for point in range(0, 0x10000, 17) if not 0xD800 <= point < 0xE000]
    texts = [
        f"a{character}b 가{character}나 1{character}2 я{character}д" for character in filter(is_common, characters)
    ]
    text = "\n".join(texts)  # a newline is a border, so one text will do
    assert MAPPED.token_ids(text) == ids_of_the_library(text)


def test_words_end_where_the_kind_of_character_changes() -> None:
    assert words("검색API 2판, getUserName ΛΟΓΟΣ Ｆｕｌｌ") == [
        "검색", "api", "2", "판", "get", "user", "name", "λογοσ", "full",
    ]  # fmt: skip


def test_the_file_is_the_one_made_from_the_tokenizer() -> None:
    made = vocabulary_bytes((BUNDLED_FOLDER / TOKENIZER_FILE).read_bytes())
    assert made == (BUNDLED_FOLDER / VOCABULARY_FILE).read_bytes(), "run `python -m tools.write_vocabulary`"


def test_a_query_has_the_same_vector_looked_up_or_tokenised() -> None:
    embedder = StaticEmbedder(BUNDLED_FOLDER, model_id="bundled")
    first = embedder.embed_query("한국어 검색 engine")
    embedder.embed_query("long " * LOOKED_UP_CHARS)  # from here on the library is quicker
    assert embedder.embed_query("한국어 검색 engine").tobytes() == first.tobytes()


def a_copy(folder: Path, name: str, content: bytes) -> Path:
    """The bundled model with other content in one file."""
    for file in BUNDLED_FOLDER.iterdir():
        (folder / file.name).symlink_to(file)
    (folder / name).unlink()
    (folder / name).write_bytes(content)
    return folder


WHOLE = (BUNDLED_FOLDER / VOCABULARY_FILE).read_bytes()


@pytest.mark.parametrize(
    "content",
    [b"", WHOLE[:20], WHOLE[:-1], WHOLE + b"x", bytes(99), WHOLE[:500_000] + b"\1" + WHOLE[500_001:]],
)
def test_a_cut_or_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ModelUnavailableError, match=VOCABULARY_FILE):
        StaticEmbedder(a_copy(tmp_path, VOCABULARY_FILE, content), model_id="damaged")


def test_a_file_of_another_tokenizer_is_refused(tmp_path: Path) -> None:
    tokenizer = (BUNDLED_FOLDER / TOKENIZER_FILE).read_bytes()
    folder = a_copy(tmp_path, TOKENIZER_FILE, tokenizer.replace(b"-11.62", b"-11.63", 1))
    with pytest.raises(ModelUnavailableError, match="made from another tokenizer"):
        StaticEmbedder(folder, model_id="mixed")
