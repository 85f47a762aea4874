"""What `tools/list` says is true: descriptions name what there is, schemas say what is checked."""

import dataclasses
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kebab_stream import model
from kebab_stream.description import wire_names
from kebab_stream.errors import ErrorCode, InvalidInputError
from kebab_stream.mcp_server.arguments import Argument, checked
from kebab_stream.mcp_server.calls import ASK, FETCH, STDIN
from kebab_stream.mcp_server.published import input_schema, search_schema
from kebab_stream.mcp_server.tools import TOOLS, Tool
from kebab_stream.reports import housekeeping, lookup
from kebab_stream.schemas import schema_files
from kebab_stream.single import validate
from kebab_stream.wire import SearchItem, parse_item
from tests.paths import ROOT

SCHEMAS = {name.removesuffix(".schema.json"): schema for name, schema in schema_files()}
TOOL_NAMES = {tool.name for tool in TOOLS}
FIELDS = {
    field.name
    for kind in (model.SearchHit, model.BulkSearchItem, housekeeping.Check, lookup.FetchResult)
    for field in dataclasses.fields(kind)
}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_description_names_only_what_there_is(tool: Tool) -> None:
    named = set(re.findall("`([^`]+)`", tool.description))
    known = TOOL_NAMES | {*tool.accepts["properties"], *tool.returns["properties"], *get_args(ErrorCode)} | FIELDS

    assert named <= known | {"citation.uri", "id"}


def test_a_description_fits_on_a_screen_and_leaves_no_tool_unnamed() -> None:
    assert all(40 < len(tool.description) < 600 for tool in TOOLS)
    assert max(len(tool.description) for tool in TOOLS) == len(TOOLS[2].description)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_answer_has_the_keys_of_its_object(tool: Tool) -> None:
    version = tool.returns["properties"]["schema_version"]["enum"][0]
    assert list(tool.returns["properties"]) == list(SCHEMAS[version]["properties"])


def test_the_page_about_the_server_names_every_tool_argument_and_answer() -> None:
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = {row[0]: set(re.findall("`([^`]+)`", row[1])) for row in re.findall(r"(?m)^\| `(\w+)` \|(.*)$", page)}

    assert list(rows) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        if tool.name != "search":
            assert set(tool.accepts["properties"]) <= rows[tool.name]
        assert set(tool.returns["properties"]["schema_version"]["enum"]) & rows[tool.name]


def test_objects_inside_an_answer_are_named_by_schemas_that_exist() -> None:
    titles = re.findall(r"'title': '([^']+)'", str([tool.returns for tool in TOOLS]))

    assert {"search_hit.v1", "citation.v1", "bulk_search_item.v1"} <= set(titles) <= set(wire_names())


def test_the_schema_of_a_search_has_every_key_and_limit_of_an_item() -> None:
    properties = search_schema()["properties"]

    assert list(properties) == [name for name in SearchItem.model_fields if name not in ("tags", "id", "meta")]
    assert (properties["k"]["minimum"], properties["k"]["maximum"]) == validate.K
    assert properties["mode"]["enum"] == list(model.MODES)
    assert properties["trust_min"]["enum"] == list(model.TRUST_LEVELS)


scalars = st.none() | st.booleans() | st.integers(-2, 12_000) | st.floats() | st.text(max_size=3) | st.just("hybrid")
values = scalars | st.lists(scalars, max_size=2)


def fits(arguments: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Whether a schema accepts arguments. It says less than is accepted of null and of one text for an array."""
    arrays = {key for key, value in schema["properties"].items() if value.get("type") == "array"}
    full = {
        key: [value] if key in arrays and isinstance(value, str) else value
        for key, value in arguments.items()
        if value is not None
    }
    return Draft202012Validator(schema).is_valid(full)


@given(st.dictionaries(st.sampled_from(list(search_schema()["properties"])), values))
def test_a_search_that_the_schema_refuses_is_refused(arguments: dict[str, Any]) -> None:
    if not fits(arguments, search_schema()):
        # JSON Schema takes 1.0 for whole, so the check is the stricter of the two.
        with pytest.raises(InvalidInputError):
            parse_item(arguments)


@pytest.mark.parametrize("accepted", [ASK, FETCH, STDIN], ids=["ask", "fetch", "ingest_stdin"])
@given(data=st.data())
def test_arguments_that_the_schema_refuses_are_refused(accepted: tuple[Argument, ...], data: st.DataObject) -> None:
    arguments = data.draw(st.dictionaries(st.sampled_from([argument.name for argument in accepted]), values))
    if fits(arguments, input_schema(accepted)):
        return

    with pytest.raises(InvalidInputError):
        checked(arguments, accepted)


def test_one_text_and_an_array_of_texts_arrive_the_same() -> None:
    tag = [Argument(name="tag", kind="texts", accepts="tags")]

    assert checked({"tag": "a"}, tag) == checked({"tag": ["a"]}, tag) == {"tag": ("a",)}
