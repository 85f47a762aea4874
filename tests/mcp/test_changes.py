"""What changes while a server runs: an index that appears, commits, and what the ingest tools may do."""

import os
import shutil
from pathlib import Path

import anyio
import pytest
from mcp import Client

from kebab_stream.index.lock import write_lock
from tests.cli.program import kebab
from tests.mcp.clients import call, connected
from tests.paths import FIXTURES


def corpus_in(folder: Path) -> tuple[Path, Path]:
    """A corpus that may be changed, and its data folder."""
    corpus, data_dir = folder / "corpus", folder / "data"
    shutil.copytree(FIXTURES / "corpus", corpus)
    assert kebab("ingest", str(corpus), data_dir=data_dir).status == 0
    return corpus, data_dir


async def paths_of(client: Client, query: str) -> set[str]:
    return {hit["doc_path"] for hit in (await call(client, "search", query=query))["hits"]}


async def test_a_server_starts_without_an_index_and_sees_it_come_and_go(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    async with connected(data_dir) as client:
        for tool, arguments in (("search", {"query": "a"}), ("fetch", {"doc": "a"}), ("bulk_search", {"queries": [1]})):
            assert (await call(client, tool, **arguments))["code"] == "not_indexed"
        assert (await call(client, "bulk_search", queries=[]))["summary"]["total"] == 0
        assert (await call(client, "schema"))["statistics"] is None
        assert not data_dir.exists()

        await anyio.to_thread.run_sync(lambda: kebab("ingest", str(FIXTURES / "corpus"), data_dir=data_dir))
        assert (await call(client, "schema"))["statistics"]["documents"] == 26
        assert await paths_of(client, "coffee")

        await anyio.to_thread.run_sync(lambda: kebab("reset", "--yes", data_dir=data_dir))
        assert (await call(client, "search", query="coffee"))["code"] == "not_indexed"


async def test_a_commit_beside_is_noticed_at_the_next_call(tmp_path: Path) -> None:
    corpus, data_dir = corpus_in(tmp_path)
    async with connected(data_dir) as client:
        first = await call(client, "search", query="backup", k=1)
        (corpus / "new.md").write_text("# Zebra\n\nA zebra crossing.\n", encoding="utf-8")
        await anyio.to_thread.run_sync(lambda: kebab("ingest", data_dir=data_dir))

        assert "new.md" in await paths_of(client, "zebra crossing")
        stale = await call(client, "search", query="backup", k=1, cursor=first["next_cursor"])
        assert (stale["code"], stale["details"]["reason"]) == ("stale_cursor", "revision")


async def test_a_file_of_a_known_folder_is_ingested_at_once(tmp_path: Path) -> None:
    corpus, data_dir = corpus_in(tmp_path)
    async with connected(data_dir) as client:
        file = corpus / "new.md"
        file.write_text("# Zebra\n\nA zebra crossing.\n", encoding="utf-8")

        report = await call(client, "ingest_file", path=str(file))
        again = await call(client, "ingest_file", path=str(file))

        assert (report["status"], report["source_id"], report["doc_path"]) == ("new", "corpus", "new.md")
        assert again["status"] == "unchanged"
        assert "new.md" in await paths_of(client, "zebra crossing")


async def test_no_path_leads_out_of_the_known_folders(tmp_path: Path) -> None:
    corpus, data_dir = corpus_in(tmp_path)
    outside = tmp_path / "outside.md"
    outside.write_text("# Secret\n\nquokka\n", encoding="utf-8")
    (corpus / "link.md").symlink_to(outside)
    (corpus / "out").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(corpus / "pipe.md")
    paths = {
        str(outside): "outside all known sources",
        str(corpus / "link.md"): "outside all known sources",
        str(corpus / "out" / "outside.md"): "outside all known sources",
        str(corpus / ".." / "outside.md"): "outside all known sources",
        "/etc/hostname.md": "no such file",
        str(data_dir / "kebab.sqlite"): "kebab keeps its own files",
        str(corpus / "pipe.md"): "no regular file",
        str(corpus): "",
        f"{corpus}/a.md\0.md": "zero byte",
        "\ud800.md": "path: expected",
        "relative.md": "no such file",
    }
    async with connected(data_dir) as client:
        for path, problem in paths.items():
            if path.isprintable() or "\0" in path:
                error = await call(client, "ingest_file", path=path)
                assert (error["code"], problem in error["message"]) == ("invalid_input", True), (path, error)
        assert not any("outside" in path for path in await paths_of(client, "quokka"))


async def test_a_text_is_stored_and_replaced_by_its_title(tmp_path: Path) -> None:
    _, data_dir = corpus_in(tmp_path)
    async with connected(data_dir) as client:
        first = await call(client, "ingest_stdin", title="회의록", text="얼룩말 이야기", tag="회의")
        second = await call(client, "ingest_stdin", title="회의록", text="기린 이야기", tag=["회의", "둘"])
        fetched = await call(client, "fetch", doc=second["doc_id"])

        assert [first["status"], second["status"], first["doc_id"]] == ["new", "updated", second["doc_id"]]
        assert (fetched["text"], fetched["tags"], fetched["trust_level"]) == (
            "기린 이야기",
            ["둘", "회의"],
            "secondary",
        )


async def test_a_text_may_not_be_larger_than_a_file(tmp_path: Path) -> None:
    async with connected(tmp_path, extra={"KEBAB_INGEST_MAX_FILE_BYTES": "1000"}) as client:
        error = await call(client, "ingest_stdin", title="t", text="가" * 334)

        assert (error["code"], error["details"]) == ("invalid_input", {"bytes": 1002, "max_file_bytes": 1000})


async def test_a_readonly_server_answers_and_ingests_nothing(tmp_path: Path) -> None:
    corpus, data_dir = corpus_in(tmp_path)
    async with connected(data_dir, "--readonly") as client:
        refused = [
            await call(client, "ingest_file", path=str(corpus / "glossary.md")),
            await call(client, "ingest_stdin", title="t", text="zebra"),
        ]

        assert [error["code"] for error in refused] == ["readonly_mode"] * 2
        assert await paths_of(client, "coffee")
        assert (await call(client, "schema"))["capabilities"]["write"] is False


async def test_while_another_writes_an_ingest_is_refused_and_a_search_is_not(tmp_path: Path) -> None:
    _, data_dir = corpus_in(tmp_path)
    async with connected(data_dir) as client:
        with write_lock(data_dir):
            error = await call(client, "ingest_stdin", title="t", text="zebra")

            assert (error["code"], error["details"]["pid"]) == ("index_locked", os.getpid())
            assert await paths_of(client, "coffee")


async def test_ingests_at_once_wait_for_each_other(tmp_path: Path) -> None:
    _, data_dir = corpus_in(tmp_path)
    async with connected(data_dir) as client:
        statuses: list[str] = []

        async def store(number: int) -> None:
            statuses.append((await call(client, "ingest_stdin", title=f"t{number}", text="zebra"))["status"])

        async with anyio.create_task_group() as calls:
            for number in range(4):
                calls.start_soon(store, number)
                calls.start_soon(paths_of, client, "coffee")

        assert statuses == ["new"] * 4
        assert len([path for path in await paths_of(client, "zebra") if path.startswith("t")]) == 4


async def test_an_index_that_is_damaged_is_an_error_until_it_is_mended(tmp_path: Path) -> None:
    _, data_dir = corpus_in(tmp_path)
    async with connected(data_dir) as client:
        assert await paths_of(client, "coffee")
        store = data_dir / "kebab.sqlite"
        good = store.read_bytes()
        store.write_bytes(good[: len(good) // 2])

        assert (await call(client, "search", query="coffee"))["code"] == "index_corrupt"
        assert not (await call(client, "doctor"))["healthy"]
        store.write_bytes(good)
        assert await paths_of(client, "coffee")


@pytest.mark.parametrize("arguments", [["--config", "/no/such.toml"], ["--nonsense"]])
def test_a_server_that_cannot_start_says_why_on_stderr(tmp_path: Path, arguments: list[str]) -> None:
    done = kebab("mcp", "--json", *arguments, data_dir=tmp_path)

    assert (done.status, done.out) == (2, b"")
    assert done.error["code"] in ("config_not_found", "invalid_input")
