"""The tools that change nothing, through the SDK's client, on a real server."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp_types import CallToolResult

from tests.cli.program import kebab
from tests.mcp.clients import call, connected, text_of

NAMES = ["schema", "doctor", "search", "ask", "ingest_file", "ingest_stdin", "fetch", "bulk_search"]
ERROR: dict[str, Any] = {"schema_version": "error.v1", "code": "timeout", "message": "m", "details": {}, "hint": None}


async def test_the_eight_tools_are_listed_in_their_order(client: Client) -> None:
    tools = (await client.list_tools()).tools

    assert [tool.name for tool in tools] == NAMES


async def test_what_only_reads_says_so_and_nothing_leaves_the_machine(client: Client) -> None:
    tools = (await client.list_tools()).tools
    hints = {tool.name: tool.annotations for tool in tools if tool.annotations}

    assert [name for name, hint in hints.items() if not hint.read_only_hint] == ["ingest_file", "ingest_stdin"]
    assert [name for name, hint in hints.items() if hint.destructive_hint] == ["ingest_stdin"]
    assert all(hint.idempotent_hint and hint.open_world_hint is False for hint in hints.values())


async def test_some_clients_hold_errors_against_the_schema_of_the_answer_and_they_fit(client: Client) -> None:
    for tool in (await client.list_tools()).tools:
        assert tool.output_schema is not None
        Draft202012Validator.check_schema(tool.output_schema)
        Draft202012Validator(tool.output_schema).validate(ERROR)


async def test_a_client_of_the_newest_protocol_is_served_too(fixture_data: Path) -> None:
    async with connected(fixture_data, mode="auto") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
        assert (await call(client, "search", query="coffee", k=1))["hits"][0]["rank"] == 1


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        ({"query": "coffee"}, ["coffee"]),
        ({"query": "커피", "k": 2, "max_tokens": 500}, ["커피", "--k", "2", "--max-tokens", "500"]),
        ({"query": "backup", "lang": "ko", "mode": "lexical"}, ["backup", "--lang", "ko", "--mode", "lexical"]),
        ({"query": "backup", "tag": ["ops", "none"], "k": 0}, ["backup", "--tag", "ops", "--tag", "none"]),
    ],
)
async def test_a_search_is_the_search_of_the_command_line_byte_for_byte(
    client: Client, fixture_data: Path, arguments: dict[str, Any], flags: list[str]
) -> None:
    result = await client.call_tool("search", arguments)
    done = kebab("search", "--json", *flags, data_dir=fixture_data)

    assert text_of(result) == done.out.decode().rstrip("\n")


async def test_a_cursor_of_the_command_line_goes_on_here(client: Client, fixture_data: Path) -> None:
    first = kebab("search", "backup", "--k", "1", "--json", data_dir=fixture_data).lines[0]

    second = await call(client, "search", query="backup", k=1, cursor=first["next_cursor"])

    assert second["hits"][0]["rank"] == 2


async def test_a_trace_comes_along_when_asked_for(client: Client) -> None:
    response = await call(client, "search", query="coffee", trace=True)

    assert {row["chunk_id"] for row in response["trace"]["rrf_inputs"]} >= {hit["chunk_id"] for hit in response["hits"]}


async def test_a_batch_is_the_batch_of_the_command_line_item_for_item(client: Client, fixture_data: Path) -> None:
    items: list[Any] = [
        {"query": "coffee", "id": 7, "k": 1},
        {"query": "백업", "meta": {"deep": [1, 2.5, None, "가"]}},
        {"query": " "},
        {"query": "a", "cursor": ""},
        {"query": "a", "tgas": ["x"]},
        "no object",
        {"query": "커피", "tags": "food", "max_tokens": 300},
    ]
    stdin = "\n".join(json.dumps(item) for item in items).encode()

    response = await call(client, "bulk_search", queries=items)
    done = kebab("search", "--bulk", "--json", data_dir=fixture_data, stdin=stdin)

    assert response["results"] == done.lines
    assert response["summary"] == {"total": 7, "succeeded": 3, "failed": 4}


async def test_two_queries_are_two_searches(client: Client) -> None:
    items = [{"query": "coffee"}, {"query": "키 교체"}]

    response = await call(client, "bulk_search", queries=items)

    assert [result["response"] for result in response["results"]] == [
        await call(client, "search", **item) for item in items
    ]


async def test_an_empty_batch_has_an_empty_answer(client: Client) -> None:
    response = await call(client, "bulk_search", queries=[])

    assert (response["results"], response["summary"]) == ([], {"total": 0, "succeeded": 0, "failed": 0})


async def test_a_hundred_are_fine_and_one_more_is_none(client: Client) -> None:
    item = {"query": "coffee", "mode": "lexical", "k": 1}

    full = await call(client, "bulk_search", queries=[item] * 100)
    refused = await call(client, "bulk_search", queries=[item] * 101)

    assert full["summary"] == {"total": 100, "succeeded": 100, "failed": 0}
    assert (refused["code"], refused["message"]) == ("invalid_input", "queries: max 100 items, got more than 100")


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("search", {}, "invalid_input", "query: missing"),
        ("search", {"query": " \t"}, "invalid_input", "query: expected text that is not blank"),
        ("search", {"query": "a", "mode": "fuzzy"}, "invalid_input", "mode: expected lexical, vector or hybrid"),
        ("search", {"query": "a", "k": -1}, "invalid_input", "k: expected a whole number from 0 to 1000"),
        ("search", {"query": "a", "k": 5.0}, "invalid_input", "k: expected"),
        ("search", {"query": "a", "max_tokens": "2000"}, "invalid_input", "max_tokens: expected"),
        ("search", {"query": "a", "path_globs": "x"}, "invalid_input", "did you mean path_glob?"),
        ("search", {"query": "a", "path_glob": "[a"}, "invalid_input", "path_glob"),
        ("search", {"query": "a", "cursor": "?"}, "stale_cursor", "cursor"),
        ("bulk_search", {}, "invalid_input", "queries: missing"),
        ("bulk_search", {"queries": {"query": "a"}}, "invalid_input", "queries: expected an array"),
        ("bulk_search", {"queries": [], "fail": True}, "invalid_input", 'unknown key "fail"'),
        ("schema", {"verbose": True}, "invalid_input", "accepted are none"),
        ("doctor", {"fix": 1}, "invalid_input", 'unknown key "fix" with value 1'),
        ("fetch", {}, "invalid_input", "nothing to fetch is named"),
        ("fetch", {"chunk_id": "a", "doc": "b"}, "invalid_input", "chunk_id and doc are given"),
        ("fetch", {"chunk_id": "a", "start": 1}, "invalid_input", "start is of no use with chunk_id"),
        ("fetch", {"chunk_id": "a", "context": 51}, "invalid_input", "context: expected"),
        ("fetch", {"doc": "en/backup-runbook.md", "start": 0, "end": 2}, "invalid_input", "start: expected"),
        ("fetch", {"doc": "en/backup-runbook.md", "start": 2}, "invalid_input", "end is missing"),
        ("fetch", {"doc": 7}, "invalid_input", "doc: expected a doc_id or doc_path, got 7"),
        ("fetch", {"chunk_id": "0" * 32}, "chunk_not_found", "0000"),
        ("fetch", {"doc": "no/such.md"}, "doc_not_found", "no/such.md"),
        ("fetch", {"uri": "en/backup-runbook.md#page=2"}, "span_not_supported", "lines, not pages"),
        ("fetch", {"uri": "en/backup-runbook.md"}, "invalid_input", "uri: expected"),
        ("ask", {}, "invalid_input", "question: missing"),
        ("ask", {"question": " "}, "invalid_input", "question: expected text that is not blank"),
        ("ask", {"question": "a", "ingested_after": "soon"}, "invalid_input", "ingested_after: expected a date"),
        ("ask", {"question": "a", "cursor": "x"}, "invalid_input", 'unknown key "cursor"'),
        ("ingest_stdin", {"title": "t"}, "invalid_input", "text: missing"),
        ("ingest_stdin", {"title": "t", "text": "x", "trust_level": "high"}, "invalid_input", "trust_level: expected"),
        ("ingest_stdin", {"title": "t", "text": "x", "tag": ["a", 1]}, "invalid_input", "tag: expected"),
        ("ingest_file", {"file": "a.md"}, "invalid_input", "path: missing"),
        ("serch", {"query": "a"}, "invalid_input", "did you mean search?"),
    ],
)
async def test_every_failure_is_an_error_of_ours(
    client: Client, tool: str, arguments: dict[str, Any], code: str, message: str
) -> None:
    error = await call(client, tool, **arguments)

    assert error["code"] == code
    assert message in error["message"]
    if code == "invalid_input":
        assert "key" in error["details"]


async def test_several_problems_are_told_at_once(client: Client) -> None:
    error = await call(client, "fetch", chunk_id="", contxt=1)

    assert [problem["key"] for problem in error["details"]["problems"]] == ["chunk_id", "contxt"]
    assert "did you mean context?" in error["details"]["problems"][1]["message"]


async def test_null_is_the_same_as_absent(client: Client) -> None:
    found = await call(client, "fetch", doc="en/backup-runbook.md", start=None, max_tokens=None, uri=None)

    assert found["kind"] == "doc"
    assert await call(client, "search", query="coffee", k=None) == await call(client, "search", query="coffee")


async def test_a_hit_leads_to_its_text_in_three_ways(client: Client, fixture_data: Path) -> None:
    hit = (await call(client, "search", query="backup", k=1))["hits"][0]

    chunk = await client.call_tool("fetch", {"chunk_id": hit["chunk_id"], "context": 1})
    span = await client.call_tool("fetch", {"uri": hit["citation"]["uri"]})
    document = await client.call_tool("fetch", {"doc": hit["doc_id"], "max_tokens": 400})

    for result, arguments in (
        (chunk, ["chunk", hit["chunk_id"], "--context", "1"]),
        (span, ["span", hit["citation"]["uri"]]),
        (document, ["doc", hit["doc_id"], "--max-tokens", "400"]),
    ):
        assert text_of(result) == kebab("fetch", *arguments, "--json", data_dir=fixture_data).out.decode().rstrip("\n")


async def test_a_document_is_read_on_where_it_was_cut(client: Client) -> None:
    whole = await call(client, "fetch", doc="en/backup-runbook.md")
    first = await call(client, "fetch", doc="en/backup-runbook.md", max_tokens=300)
    rest = await call(client, "fetch", doc="en/backup-runbook.md", start=first["next_line"], end=whole["total_lines"])

    assert first["truncated"]
    assert first["text"] + rest["text"] == whole["text"]


async def test_the_schema_is_that_of_the_command_line(client: Client, fixture_data: Path) -> None:
    result = await client.call_tool("schema", {})

    assert text_of(result) == kebab("schema", "--json", data_dir=fixture_data).out.decode().rstrip("\n")
    assert (await call(client, "schema"))["capabilities"]["bulk_search"] is True


async def test_the_doctor_looks_at_everything(client: Client) -> None:
    report = await call(client, "doctor")

    assert report["healthy"]
    assert {check["name"] for check in report["checks"]} >= {"config", "store", "index", "model"}


async def test_an_answer_needs_a_language_model(client: Client) -> None:
    error = await call(client, "ask", question="How are the backups made?")

    assert error["code"] == "model_unavailable"
    assert "models.llm" in f"{error['message']} {error['hint']}"


async def test_calls_at_once_are_answered_each_for_itself(client: Client) -> None:
    queries = ["coffee", "백업", "rotate keys", "커피", "index"] * 4
    found: dict[int, Any] = {}

    async def search(number: int) -> None:
        found[number] = await call(client, "search", query=queries[number], k=3)

    async with anyio.create_task_group() as calls:
        for number in range(len(queries)):
            calls.start_soon(search, number)

    for number, query in enumerate(queries):
        assert found[number] == await call(client, "search", query=query, k=3)


async def test_a_batch_does_not_keep_others_waiting(client: Client) -> None:
    done: list[str] = []

    async def batch() -> None:
        await call(client, "bulk_search", queries=[{"query": f"coffee {number}", "k": 3} for number in range(100)])
        done.append("batch")

    async with anyio.create_task_group() as calls:
        calls.start_soon(batch)
        await call(client, "search", query="coffee")
        done.append("search")

    assert done == ["search", "batch"]


async def test_a_batch_tells_how_far_it_is_when_asked(client: Client) -> None:
    told: list[tuple[float, float | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        assert message is None
        told.append((progress, total))

    queries = [{"query": "coffee"}, {"query": ""}, {"query": "커피"}]
    await client.call_tool("bulk_search", {"queries": queries}, progress_callback=tell)

    assert told == [(1, 3), (2, 3), (3, 3)]


async def test_a_cancelled_batch_stops_between_two_items_and_the_server_goes_on(client: Client) -> None:
    told: list[float] = []
    queries = [{"query": f"coffee {number}"} for number in range(100)]

    with anyio.CancelScope() as scope:

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            told.append(progress)
            scope.cancel()

        await client.call_tool("bulk_search", {"queries": queries}, progress_callback=tell)

    assert scope.cancelled_caught
    assert len((await call(client, "search", query="coffee", k=1))["hits"]) == 1
    assert len(told) < 100


async def test_taking_calls_back_breaks_nothing(client: Client) -> None:
    async def hasty(tool: str, arguments: dict[str, Any]) -> CallToolResult | None:
        with anyio.move_on_after(0.002):
            return await client.call_tool(tool, arguments)
        return None

    for _ in range(5):
        async with anyio.create_task_group() as calls:
            calls.start_soon(hasty, "search", {"query": "coffee"})
            calls.start_soon(hasty, "doctor", {})
            calls.start_soon(hasty, "bulk_search", {"queries": [{"query": "a"}, {"query": "b"}]})

    assert (await call(client, "search", query="coffee", k=1))["hits"]
