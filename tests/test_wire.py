"""One search as JSON: what is accepted, and that whatever is not names its key, its value and what would be."""

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.errors import InvalidInputError
from kebab_stream.model import Filters, SearchOpts, SearchQuery
from kebab_stream.single import validate
from kebab_stream.single.filters import FILTERS, FilterDef
from kebab_stream.wire import SearchItem, parse_item

LIST_KEYS = ("tag", "media", "repo", "code_lang", "source", "source_type", "must", "must_not")
NO_TEXTS: tuple[object, ...] = (5, ["a", 5], {}, [["a"]], True)
EVERYTHING: dict[str, object] = {
    "query": "러스트 async",
    "mode": "lexical",
    "k": 5,
    "per_doc": 2,
    "rerank": True,
    "max_tokens": 1000,
    "snippet_chars": 200,
    "cursor": "abc",
    "trace": True,
    "tag": ["rust", "a,b"],
    "lang": "ko",
    "path_glob": "src/**",
    "trust_min": "secondary",
    "media": ["md"],
    "ingested_after": "2026-01-31T09:00:00+09:00",
    "doc_id": "0" * 32,
    "repo": ["r"],
    "code_lang": ["python"],
    "source": ["s"],
    "source_type": ["notes"],
    "must": ["x"],
    "must_not": ["y"],
    "id": 7,
    "meta": {"any": [None]},
}


def problem_of(value: object) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        parse_item(value)
    return caught.value


def filters_of(**keys: object) -> Filters:
    return parse_item({"query": "x", **keys})[0].filters


def test_a_query_alone_takes_every_default() -> None:
    assert parse_item({"query": "x"}) == (SearchQuery(query="x"), SearchOpts())


def test_every_key_reaches_the_engine() -> None:
    assert parse_item(EVERYTHING) == (
        SearchQuery(
            query="러스트 async",
            mode="lexical",
            k=5,
            per_doc=2,
            rerank=True,
            filters=Filters(
                tag=("rust", "a,b"),
                lang="ko",
                doc_id="0" * 32,
                path_glob="src/**",
                trust_min="secondary",
                media=("md",),
                code_lang=("python",),
                repo=("r",),
                source=("s",),
                source_type=("notes",),
                ingested_after=datetime(2026, 1, 31, tzinfo=UTC),
                must=("x",),
                must_not=("y",),
            ),
        ),
        SearchOpts(max_tokens=1000, snippet_chars=200, cursor="abc", trace=True),
    )


def test_null_is_the_same_as_absent() -> None:
    nulls = {key: None for key in SearchItem.model_fields if key != "query"}

    assert parse_item({"query": "x", **nulls}) == parse_item({"query": "x"})


@pytest.mark.parametrize("key", LIST_KEYS)
def test_a_list_key_accepts_one_text_as_one_value_never_split_at_commas(key: str) -> None:
    assert getattr(filters_of(**{key: "a,b"}), key) == ("a,b",)
    assert getattr(filters_of(**{key: []}), key) == ()


def test_tags_is_another_name_for_tag() -> None:
    assert filters_of(tags="a") == filters_of(tag=["a"])
    assert filters_of(tags=["a"], tag=None) == filters_of(tags=None, tag="a")


def test_tag_and_tags_together_are_refused() -> None:
    error = problem_of({"query": "x", "tag": "a", "tags": "a"})

    assert error.message == 'tags: expected text or an array of texts where tag is absent: another name for it, got "a"'


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("query", None),
        ("query", ""),
        ("query", " \n"),
        ("query", 5),
        ("query", ["x"]),
        ("mode", "fuzzy"),
        ("mode", "LEXICAL"),
        ("mode", 1),
        ("k", -1),
        ("k", 1001),
        ("k", 5.0),
        ("k", True),
        ("k", "5"),
        ("k", 1e30),
        ("per_doc", -1),
        ("per_doc", 1001),
        ("per_doc", 1.0),
        ("rerank", 1),
        ("max_tokens", 0),
        ("max_tokens", -1),
        ("max_tokens", "many"),
        ("snippet_chars", 0),
        ("snippet_chars", 10_001),
        ("cursor", 5),
        ("trace", 1),
        ("trace", "true"),
        ("lang", ["ko"]),
        ("path_glob", {}),
        ("trust_min", "high"),
        ("ingested_after", "2026-01-31T09:00:00"),
        ("ingested_after", 20260131),
        ("doc_id", 1),
        *[(key, value) for key in LIST_KEYS for value in NO_TEXTS],
    ],
)
def test_a_wrong_value_is_refused_by_naming_key_value_and_what_is_accepted(key: str, value: object) -> None:
    error = problem_of({"query": "x", key: value})
    accepted, seen = validate.ACCEPTED[key], orjson.dumps(value).decode()

    assert error.message == f"{key}: expected {accepted}, got {validate.shortened(seen)}"
    assert error.details == {"key": key, "value": validate.shortened(seen), "accepted": accepted}


def test_a_missing_query_is_refused_with_the_shape_of_an_item() -> None:
    error = problem_of({"k": 5})

    assert error.message == "query: missing, expected text that is not blank"
    assert error.hint == 'an item looks like {"query": "text", "mode": "hybrid", "k": 10, "tag": ["a"], …}'


def test_an_unknown_key_is_refused_with_the_closest_known_one() -> None:
    error = problem_of({"query": "x", "tag_s": ["a"]})

    assert error.message.startswith(
        'unknown key "tag_s" with value ["a"]; did you mean tags?; accepted are query, mode, '
    )
    assert (error.details["key"], error.details["value"]) == ("tag_s", '["a"]')


def test_an_unknown_key_like_no_other_gets_no_guess() -> None:
    assert "did you mean" not in problem_of({"query": "x", "zzzzzz": 1}).message


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ([1], "array [1]"),
        (None, "null"),
        (True, "boolean true"),
        (1.5, "number 1.5"),
        ("x" * 99, f'string "{"x" * 78}…'),
    ],
)
def test_what_is_no_object_is_refused(value: object, seen: str) -> None:
    assert problem_of(value).message == f'expected a JSON object with a "query", got {seen}'


def test_the_first_of_several_problems_is_told_and_all_are_listed() -> None:
    error = problem_of({"query": "", "foo": 1, "k": -1, "mode": "x", "bar": 2})
    problems = error.details["problems"]
    assert isinstance(problems, list)

    assert error.message.startswith("query: expected text that is not blank")
    assert [problem["key"] for problem in problems] == ["query", "mode", "k", "foo", "bar"]
    assert all(problem["message"] and problem["accepted"] for problem in problems)


def test_where_the_query_is_missing_the_unknown_key_is_told_first() -> None:
    problems = problem_of({"text": "coffee"}).details["problems"]
    assert isinstance(problems, list)

    assert [problem["key"] for problem in problems] == ["text", "query"]


def test_a_crowd_of_unknown_keys_is_not_all_listed() -> None:
    problems = problem_of({"query": "x", **{f"key{number}": 1 for number in range(1000)}}).details["problems"]
    assert isinstance(problems, list)

    assert len(problems) == 10


@pytest.mark.parametrize("value", [{1: 2}, {"\ud800": 1}, {"query": "\ud800"}])
def test_values_that_no_json_text_holds_are_refused_too(value: object) -> None:
    orjson.dumps(problem_of(value).details)


def test_ignored_keys_may_hold_anything() -> None:
    deep: list[object] = []
    for _ in range(1000):
        deep = [deep]

    assert parse_item({"query": "x", "id": deep, "meta": 10**40}) == parse_item({"query": "x"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
odd_items = st.dictionaries(st.sampled_from(list(SearchItem.model_fields)) | st.text(), json_values, max_size=6)


@given(json_values | odd_items)
def test_any_value_is_a_search_or_an_invalid_input(value: object) -> None:
    try:
        query, _ = parse_item(value)
    except InvalidInputError as error:
        problem = error
    else:
        assert query.query.strip()
        return

    orjson.dumps(problem.details)
    assert len(problem.message) < 1000


@given(odd_items)
def test_an_accepted_item_has_only_known_keys(item: dict[str, Any]) -> None:
    try:
        parse_item({"query": "x", **item})
    except InvalidInputError:
        return

    assert item.keys() <= SearchItem.model_fields.keys()


def test_the_published_schema_describes_every_key_and_forbids_others() -> None:
    schema = SearchItem.model_json_schema()

    assert schema["additionalProperties"] is False
    assert schema["required"] == ["query"]
    assert all(schema["properties"][key]["description"] for key in SearchItem.model_fields)
    assert schema["properties"]["k"]["anyOf"][0] == {"type": "integer", "minimum": 0, "maximum": 1000}


@pytest.mark.parametrize("key", [key for key in EVERYTHING if key in validate.ACCEPTED])
def test_no_key_accepts_an_object(key: str) -> None:
    assert problem_of({"query": "x", key: {"value": EVERYTHING[key]}}).details["key"] == key


@pytest.mark.parametrize("definition", FILTERS, ids=lambda definition: definition.name)
def test_every_filter_of_the_table_is_a_key_of_an_item(definition: FilterDef) -> None:
    given = EVERYTHING[definition.name]

    assert isinstance(given, list) == (definition.values != "one")
    assert definition.name in SearchItem.model_fields
    assert {definition.name for definition in FILTERS} == {field.name for field in fields(Filters)}
