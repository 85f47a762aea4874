"""What each setting accepts, from the file and from the environment."""

import pickle
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab_stream.config.keys import Key
from kebab_stream.config.settings import ENVIRONMENT, KEYS, variable_of
from kebab_stream.errors import ConfigInvalidError
from tests.config.loading import DEFAULT, load, refusal, value_of


@pytest.mark.parametrize(
    ("name", "literal"),
    [
        ("search.default_k", "0"),
        ("search.default_k", "1001"),
        ("search.default_k", "5.0"),
        ("search.default_k", "true"),
        ("search.default_k", '"5"'),
        ("search.default_k", "[5]"),
        ("search.default_k", "2024-01-01"),
        ("search.default_k", "0x" + "f" * 9000),
        ("search.fusion_weight", "1.01"),
        ("search.fusion_weight", "-0.1"),
        ("search.fusion_weight", "nan"),
        ("search.fusion_weight", "inf"),
        ("search.fusion_weight", "1e999"),
        ("search.fusion_weight", "true"),
        ("search.chars_per_token", "0"),
        ("search.fusion", '"RRF"'),
        ("search.fusion", '""'),
        ("search.fusion", "{ a = 1 }"),
        ("search.snippet_chars", "0"),
        ("search.candidate_depth", "0"),
        ("ingest.chunking.max_chars", "0"),
        ("ingest.chunking.target_chars", "99"),
        ("ingest.chunking.overlap_chars", "-1"),
        ("models.llm.timeout_s", "0"),
        ("models.llm.endpoint", '"localhost:11434"'),
        ("models.llm.model", '"a\\u001bb"'),
        ("storage.data_dir", '"a\\u0000b"'),
        ("storage.data_dir", '"a\\nb"'),
        ("storage.data_dir", "5"),
        ("readonly", '"yes"'),
        ("readonly", "1"),
    ],
)
def test_a_value_that_is_not_accepted_names_key_file_and_what_is(file: Path, name: str, literal: str) -> None:
    error = refusal(f"{name} = {literal}", file=file)

    assert re.match(rf"{re.escape(name)} = .+ \({re.escape(str(file))}\): expected ", str(error), re.DOTALL)
    assert str(error).isprintable()
    assert error.hint
    assert (error.details["key"], error.details["origin"]) == (name, str(file))


@pytest.mark.parametrize("text", ["", " ", "five", "5.0", "1e1", "0", "٥", "1_0", "true", "9" * 5000])
def test_a_variable_that_is_no_number_in_range_names_itself(text: str) -> None:
    error = refusal(environ={"KEBAB_SEARCH_DEFAULT_K": text})

    assert "(KEBAB_SEARCH_DEFAULT_K): expected a whole number from 1 to 1000" in str(error)
    assert len(str(error)) < 200


@pytest.mark.parametrize("text", ["", "nan", "inf", "-inf", "half", "0,5", "½", "0_0.5"])
def test_a_variable_that_is_no_finite_number_is_refused(text: str) -> None:
    error = refusal(environ={"KEBAB_SEARCH_FUSION_WEIGHT": text})

    assert str(error) == (
        f"search.fusion_weight = {text!r} (KEBAB_SEARCH_FUSION_WEIGHT): expected a number from 0 to 1"
    )


def test_a_bad_override_says_that_it_came_from_the_command_line() -> None:
    error = refusal(overrides={"search.default_k": 0})

    assert str(error) == "search.default_k = 0 (the command line): expected a whole number from 1 to 1000"


def test_a_bad_choice_lists_the_choices_and_hints_at_the_closest() -> None:
    error = refusal(environ={"KEBAB_SEARCH_VECTOR_INDEX": "hsnw"})

    assert str(error).endswith('expected "auto", "hnsw" or "exact"')
    assert error.hint == 'the closest accepted value is "hnsw"'


def test_a_number_may_be_written_without_fraction_where_fractions_are_accepted(file: Path) -> None:
    weight = load("search.fusion_weight = 1", file=file).search.fusion_weight

    assert (weight, type(weight)) == (1.0, float)


@pytest.mark.parametrize(
    ("text", "expected"),
    [(text, True) for text in ("1", "true", "YES", "On")] + [(text, False) for text in ("0", "False", "no", "OFF", "")],
)
def test_readonly_is_read_from_the_environment(text: str, expected: bool) -> None:
    assert load(environ={"KEBAB_READONLY": text}).readonly is expected


def test_readonly_takes_no_other_word() -> None:
    assert str(refusal(environ={"KEBAB_READONLY": "2"})) == ("readonly = '2' (KEBAB_READONLY): expected true or false")


def test_an_empty_path_or_text_counts_as_not_given(file: Path) -> None:
    text = 'storage.data_dir = ""\nworkspace.root = ""\nmodels.embedding.model = ""\nmodels.llm.model = "gemma"'
    environ = {"KEBAB_STORAGE_DATA_DIR": "", "KEBAB_MODELS_LLM_MODEL": ""}

    config = load(text, file=file, environ=environ)

    assert config.storage == DEFAULT.storage
    assert config.workspace.root is None
    assert config.models.embedding == DEFAULT.models.embedding
    assert config.models.llm.model == "gemma"


def test_the_keys_are_those_of_the_documentation() -> None:
    assert list(KEYS) == [
        "readonly",
        "storage.data_dir",
        "workspace.root",
        *(f"models.embedding.{name}" for name in ("provider", "model", "model_path")),
        *(f"models.embedding.{name}" for name in ("pooling", "query_prefix", "passage_prefix", "score_floor")),
        *(f"models.embedding.{name}" for name in ("batch_size", "threads", "endpoint", "api_key_env", "timeout_s")),
        *(f"models.rerank.{name}" for name in ("model", "model_path", "depth")),
        *(f"models.llm.{name}" for name in ("provider", "endpoint", "model", "api_key_env", "timeout_s")),
        "ingest.max_file_bytes",
        "ingest.processes",
        *(f"ingest.chunking.{name}" for name in ("target_chars", "overlap_chars", "max_chars")),
        "search.default_k",
        "search.snippet_chars",
        "search.fusion",
        "search.fusion_weight",
        "search.rrf_k",
        "search.candidate_depth",
        "search.vector_index",
        "search.exact_below",
        "search.stale_threshold_days",
        "search.chars_per_token",
    ]


def test_each_key_has_its_own_variable() -> None:
    assert len(ENVIRONMENT) == len(KEYS)
    assert variable_of("models.embedding.batch_size") == "KEBAB_MODELS_EMBEDDING_BATCH_SIZE"


def scalars(key: Key) -> st.SearchStrategy[object]:
    """Values near what the key accepts, good and bad."""
    numbers = [key.low, key.high, key.low - 1, key.high + 1]
    return st.one_of(
        st.sampled_from([*numbers, *key.choices, key.default, True, False, 0, 1, ""]),
        st.integers(int(key.low) - 1, int(key.high) + 1),
        st.floats(key.low - 1, key.high + 1),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
    )


def toml_literal(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + "".join(f"\\U{ord(character):08x}" for character in value) + '"'
        case _:
            return repr(value)


def outcome(key: Key, file: Path, *, text: str = "", environ: Mapping[str, str] = {}) -> object:
    """The value that was loaded, or None for a refusal."""
    try:
        return value_of(load(text, file=file, environ=environ, cwd=file.parent), key.name), "loaded"
    except ConfigInvalidError:
        return None


@settings(deadline=None, max_examples=400)
@given(data=st.data())
def test_what_the_file_may_say_the_environment_may_say_with_the_same_result(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / "law.toml"
    key = data.draw(st.sampled_from(list(KEYS.values())))
    value = data.draw(scalars(key))
    in_file = outcome(key, file, text=f"{key.name} = {toml_literal(value)}")

    in_environment = outcome(key, file, environ={variable_of(key.name): str(value)})

    if in_file is not None:
        assert in_environment == in_file
    elif not isinstance(value, str):  # text may stand for a number in the environment only
        assert in_environment is None or key.kind in ("bool", "path", "text")


@pytest.mark.parametrize("key", KEYS.values(), ids=str)
def test_every_default_is_accepted_from_the_environment(key: Key) -> None:
    assert load(environ={variable_of(key.name): str(key.default)}) == DEFAULT


def test_settings_cross_process_boundaries() -> None:
    config = load(overrides={"search.default_k": 3})

    assert pickle.loads(pickle.dumps(config)) == config
