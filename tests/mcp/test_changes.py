"""What changes while a server runs: an index that appears, commits, and what the ingest tools may do."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from mcp import Client

from kebab_stream.concurrency import run_blocking
from kebab_stream.index.lock import write_lock
from tests.ask.loopback import MODEL, Handler, language_server
from tests.cli.program import kebab
from tests.corpora import config_of, ingest_files
from tests.mcp.clients import call, connected

LEXICAL = {"KEBAB_MODELS_EMBEDDING_PROVIDER": "none"}
FILES = {"coffee.md": "# Coffee\n\nGrind the coffee.\n", "tea.md": "# Tea\n\nCoffee is no tea.\n"}


@dataclass(frozen=True, slots=True)
class Desk:
    """A server, and the files that it has indexed."""

    client: Client
    corpus: Path
    data_dir: Path

    async def paths(self, query: str) -> set[str]:
        return {hit["doc_path"] for hit in (await call(self.client, "search", query=query))["hits"]}


def ingested(folder: Path) -> tuple[Path, Path]:
    """A small corpus, and the data folder that it is in."""
    corpus, data_dir = folder / "corpus", folder / "data"
    ingest_files(config_of(data_dir, provider="none"), corpus, FILES)
    return corpus, data_dir


@pytest.fixture(scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """For tests that add documents of their own."""
    corpus, data_dir = await run_blocking(ingested, tmp_path_factory.mktemp("desk"))
    async with connected(data_dir, extra=LEXICAL) as client:
        yield Desk(client, corpus, data_dir)


async def test_a_server_starts_without_an_index_and_sees_it_come_and_go(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    async with connected(data_dir, extra=LEXICAL) as client:
        for tool, arguments in (("search", {"query": "a"}), ("fetch", {"doc": "a"}), ("bulk_search", {"queries": [1]})):
            assert (await call(client, tool, **arguments))["code"] == "not_indexed"
        assert (await call(client, "bulk_search", queries=[]))["summary"]["total"] == 0
        assert (await call(client, "schema"))["statistics"] is None
        assert not data_dir.exists()

        await run_blocking(ingested, tmp_path)
        assert (await call(client, "schema"))["statistics"]["documents"] == len(FILES)
        assert (await call(client, "search", query="coffee"))["hits"]

        await run_blocking(shutil.rmtree, data_dir)
        assert (await call(client, "search", query="coffee"))["code"] == "not_indexed"


async def test_a_commit_of_another_process_is_noticed_at_the_next_call(desk: Desk) -> None:
    first = await call(desk.client, "search", query="coffee", k=1)
    (desk.corpus / "new.md").write_text("# Zebra\n\nA zebra crossing.\n", encoding="utf-8")
    await run_blocking(lambda: kebab("ingest", data_dir=desk.data_dir, extra=LEXICAL))

    assert await desk.paths("zebra crossing") == {"new.md"}
    stale = await call(desk.client, "search", query="coffee", k=1, cursor=first["next_cursor"])
    assert (stale["code"], stale["details"]["reason"]) == ("stale_cursor", "revision")


async def test_a_file_of_a_known_folder_is_ingested_at_once(desk: Desk) -> None:
    file = desk.corpus / "giraffe.md"
    file.write_text("# Giraffe\n\nA giraffe is tall.\n", encoding="utf-8")

    report = await call(desk.client, "ingest_file", path=str(file))
    again = await call(desk.client, "ingest_file", path=str(file))

    assert (report["status"], report["source_id"], report["doc_path"]) == ("new", "corpus", "giraffe.md")
    assert again["status"] == "unchanged"
    assert await desk.paths("giraffe") == {"giraffe.md"}


async def test_no_path_leads_out_of_the_known_folders(desk: Desk) -> None:
    outside = desk.corpus.parent / "outside.md"
    outside.write_text("# Secret\n\nquokka\n", encoding="utf-8")
    (desk.corpus / "link.md").symlink_to(outside)
    (desk.corpus / "out").symlink_to(outside.parent, target_is_directory=True)
    os.mkfifo(desk.corpus / "pipe.md")
    paths = {
        str(outside): "outside all known sources",
        f"{desk.corpus}/link.md": "outside all known sources",
        f"{desk.corpus}/out/outside.md": "outside all known sources",
        f"{desk.corpus}/../outside.md": "outside all known sources",
        "/etc/no/such.md": "no such file",
        "no/such.md": "no such file",
        f"{desk.data_dir}/kebab.sqlite": "kebab keeps its own files",
        f"{desk.corpus}/pipe.md": "no regular file",
        str(desk.corpus): "no regular file",
        f"{desk.corpus}/coffee.md\0.md": "zero byte",
        " ": "expected the path of a file",
    }
    for path, problem in paths.items():
        error = await call(desk.client, "ingest_file", path=path)

        assert error["code"] == "invalid_input"
        assert problem in error["message"]
    assert await desk.paths("quokka") == set()


async def test_a_text_is_stored_and_replaced_by_its_title(desk: Desk) -> None:
    first = await call(desk.client, "ingest_stdin", title="회의록", text="얼룩말 이야기", tag="회의")
    second = await call(desk.client, "ingest_stdin", title="회의록", text="기린 이야기", tag=["회의", "둘"])
    fetched = await call(desk.client, "fetch", doc=second["doc_id"])

    assert [first["status"], second["status"], first["doc_id"]] == ["new", "updated", second["doc_id"]]
    assert (fetched["text"], fetched["tags"], fetched["trust_level"]) == ("기린 이야기", ["둘", "회의"], "secondary")


async def test_while_another_writes_an_ingest_is_refused_and_a_search_is_not(desk: Desk) -> None:
    lock = ExitStack()
    await run_blocking(lock.enter_context, write_lock(desk.data_dir))
    try:
        error = await call(desk.client, "ingest_stdin", title="t", text="zebra")

        assert (error["code"], error["details"]["pid"]) == ("index_locked", os.getpid())
        assert await desk.paths("grind")
    finally:
        await run_blocking(lock.close)


async def test_ingests_at_once_wait_for_each_other(desk: Desk) -> None:
    statuses: list[str] = []

    async def store(number: int) -> None:
        report = await call(desk.client, "ingest_stdin", title=f"t{number}", text="okapi")
        statuses.append(report["status"])

    async with anyio.create_task_group() as calls:
        for number in range(4):
            calls.start_soon(store, number)
            calls.start_soon(desk.paths, "coffee")

    assert statuses == ["new"] * 4
    assert await desk.paths("okapi") == {"t0.md", "t1.md", "t2.md", "t3.md"}


async def test_an_ingest_that_is_taken_back_is_still_whole(desk: Desk) -> None:
    with anyio.move_on_after(0.01):
        await desk.client.call_tool("ingest_stdin", {"title": "hasty", "text": "axolotl"})
    report = await call(desk.client, "ingest_stdin", title="hasty", text="axolotl")

    assert report["status"] in ("new", "unchanged")
    assert await desk.paths("axolotl") == {"hasty.md"}


async def test_a_text_may_not_be_larger_than_a_file(tmp_path: Path) -> None:
    async with connected(tmp_path, extra={**LEXICAL, "KEBAB_INGEST_MAX_FILE_BYTES": "1000"}) as client:
        error = await call(client, "ingest_stdin", title="t", text="가" * 334)

    assert (error["code"], error["details"]) == ("invalid_input", {"bytes": 1002, "max_file_bytes": 1000})


async def test_a_readonly_server_answers_and_ingests_nothing(tmp_path: Path) -> None:
    corpus, data_dir = await run_blocking(ingested, tmp_path)
    async with connected(data_dir, "--readonly", extra=LEXICAL) as client:
        file = await call(client, "ingest_file", path=str(corpus / "coffee.md"))
        text = await call(client, "ingest_stdin", title="t", text="zebra")

        assert [file["code"], text["code"]] == ["readonly_mode"] * 2
        assert (await call(client, "search", query="coffee"))["hits"]
        assert (await call(client, "schema"))["capabilities"]["write"] is False


async def test_the_settings_are_those_of_the_start_for_every_tool(tmp_path: Path) -> None:
    _, data_dir = await run_blocking(ingested, tmp_path)
    config = tmp_path / "config.toml"
    config.write_text(f'[storage]\ndata_dir = "{data_dir}"\n[models.embedding]\nprovider = "none"\n')
    async with connected(None, "--config", str(config)) as client:
        config.write_text('[storage]\ndata_dir = "elsewhere"\n[search]\ndefault_k = 1\n')

        assert len((await call(client, "search", query="coffee"))["hits"]) == 2
        assert (await call(client, "schema"))["defaults"]["k"] == 10
        found = {check["name"]: check for check in (await call(client, "doctor"))["checks"]}
        assert (found["data_folder"]["details"]["path"], found["store"]["status"]) == (str(data_dir), "ok")


async def test_an_index_that_is_damaged_is_an_error_until_it_is_mended(tmp_path: Path) -> None:
    _, data_dir = await run_blocking(ingested, tmp_path)
    store = data_dir / "kebab.sqlite"
    good = store.read_bytes()
    async with connected(data_dir, extra=LEXICAL) as client:
        assert (await call(client, "search", query="coffee"))["hits"]
        store.write_bytes(good[: len(good) // 2])

        assert (await call(client, "search", query="coffee"))["code"] == "index_corrupt"
        assert not (await call(client, "doctor"))["healthy"]
        store.write_bytes(good)
        assert (await call(client, "search", query="coffee"))["hits"]


async def test_a_question_is_answered_by_the_model_in_the_settings_and_can_be_taken_back(tmp_path: Path) -> None:
    _, data_dir = await run_blocking(ingested, tmp_path)
    with language_server() as spoken:
        model = {"PROVIDER": "ollama", "ENDPOINT": spoken.address, "MODEL": MODEL}
        extra = {**LEXICAL, **{f"KEBAB_MODELS_LLM_{name}": value for name, value in model.items()}}
        async with connected(data_dir, extra=extra) as client:
            answer = await call(client, "ask", question="grind the coffee", k=1, path_glob="coffee.md")
            nothing = await call(client, "ask", question="coffee", ingested_after="2100-01-01", tag="x")
            spoken.misbehave = Handler.stall
            with anyio.move_on_after(1) as scope:
                await client.call_tool("ask", {"question": "grind the coffee"})
            await run_blocking(spoken.hung_up.wait, 10)
            hits = (await call(client, "search", query="coffee"))["hits"]

    assert (answer["answer"], answer["grounded"]) == ("It is in the notes [1].", True)
    assert [cited["doc_path"] for cited in answer["citations"]] == ["coffee.md"]
    assert (nothing["grounded"], nothing["reason"]) == (False, "no_hits")
    assert scope.cancelled_caught
    assert spoken.hung_up.is_set()
    assert hits


@pytest.mark.parametrize("arguments", [["--config", "/no/such.toml"], ["--nonsense"]])
def test_a_server_that_cannot_start_says_why_on_stderr(tmp_path: Path, arguments: list[str]) -> None:
    done = kebab("mcp", "--json", *arguments, data_dir=tmp_path)

    assert (done.status, done.out) == (2, b"")
    assert done.error["code"] in ("config_not_found", "invalid_input")
