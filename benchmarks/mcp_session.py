"""A long session of `kebab mcp`: mixed calls while ingests go on beside it. Errors, times, and the server's memory.

    python benchmarks/mcp_session.py ../shared/corpora/some-docs --calls 1000

The folder is copied and ingested first. While the calls run, a file in the copy is rewritten and `kebab ingest` is run
again and again, so that the server finds a new state of the index every few seconds.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client

KEBAB = (sys.executable, "-m", "kebab_stream")
QUERIES = (
    "how do I rotate the keys", "백업을 복구하는 방법", "hybrid search", "커피를 내리는 방법", "retry policy",
    "index format", "설정 파일", "error codes", "embedding model", "getUserName", "시간 제한", "deploy with kubectl",
)  # fmt: skip
MIX = {
    "search": 60, "fetch": 20, "bulk_search": 6, "schema": 5, "ingest_stdin": 4, "ingest_file": 3, "doctor": 2,
}  # fmt: skip
"""Calls of each tool in a hundred."""

CHANGING = re.compile("^changing|session|^note")
"""Documents whose chunks come and go."""


class Session:
    """The calls of one client, and what became of them."""

    def __init__(self, client: Client, corpus: Path, server: int) -> None:
        self.client = client
        self.corpus = corpus
        self.server = server
        self.times: dict[str, list[float]] = defaultdict(list)
        self.errors: Counter[str] = Counter()
        self.locked = 0
        self.memory: list[int] = []
        self._random = random.Random(7)  # noqa: S311  # the same calls each time
        self._seen = ["0" * 32]

    async def run(self, calls: int) -> None:
        """Make the calls one after the other, and look at the memory at every tenth of them."""
        (first,) = await self._call("search", query=QUERIES[0], k=1)
        self._seen = [first["chunk_id"]]
        tools = self._random.choices(list(MIX), weights=list(MIX.values()), k=calls)
        for number, tool in enumerate(tools):
            if number % max(1, calls // 10) == 0:
                self.memory.append(resident_kib(self.server))
            for hit in await self._call(tool, **self._arguments(tool, number)):
                if not CHANGING.search(hit["doc_path"]):
                    self._seen = [*self._seen[-50:], hit["chunk_id"]]
        self.memory.append(resident_kib(self.server))

    def _arguments(self, tool: str, number: int) -> dict[str, Any]:
        query = {"query": self._random.choice(QUERIES), "k": self._random.choice([1, 5, 10])}
        match tool:
            case "search":
                return query | self._random.choice([{}, {"mode": "lexical"}, {"max_tokens": 1000}, {"lang": "en"}])
            case "bulk_search":
                return {"queries": [{"query": text, "k": 3} for text in QUERIES]}
            case "fetch":
                return {"chunk_id": self._random.choice(self._seen), "context": 1}
            case "ingest_stdin":
                return {"title": f"note {number % 5}", "text": f"session note {number}"}
            case "ingest_file":
                file = self.corpus / "from-the-session.md"
                file.write_text(f"# Session\n\nwritten before call {number}\n", encoding="utf-8")
                return {"path": str(file)}
            case _:
                return {}

    async def _call(self, tool: str, **arguments: Any) -> list[Any]:
        """The hits of the answer, if it has some."""
        while True:
            started = perf_counter()
            result = await self.client.call_tool(tool, arguments)
            value = result.structured_content
            assert isinstance(value, dict)
            if value.get("code") != "index_locked":
                break
            self.locked += 1  # as it should be: the ingest beside is writing
            await anyio.sleep(0.2)
        self.times[tool].append(perf_counter() - started)
        if result.is_error:
            self.errors[f"{tool}: {value['code']}: {value['message']}"] += 1
        hits: list[Any] = value.get("hits", [])
        return hits


def resident_kib(pid: int) -> int:
    """The memory that a process has in RAM."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def only_child() -> int:
    """The process that this one has started."""
    (pid,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return int(pid)


def say(line: str) -> None:
    """A line of the report."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def ingest(*arguments: str) -> None:
    """Run `kebab ingest`; one that finds the lock taken is tried again by its caller."""
    subprocess.run([*KEBAB, "ingest", "--quiet", *arguments], check=False, capture_output=True)  # noqa: S603


def ingest_again_and_again(corpus: Path, stop: threading.Event, runs: Counter[str]) -> None:
    """Change a file and ingest, until told to stop."""
    while not stop.is_set():
        (corpus / "changing.md").write_text(f"# Counter\n\nzyx {runs['ingests']}\n", encoding="utf-8")
        ingest()
        runs["ingests"] += 1
        stop.wait(0.5)


async def measured(corpus: Path, calls: int, runs: Counter[str]) -> Session:
    """A whole session."""
    server = StdioServerParameters(command=KEBAB[0], args=[*KEBAB[1:], "mcp"], env=dict(os.environ))
    started = perf_counter()
    async with Client(stdio_client(server), mode="legacy") as client:
        await client.list_tools()
        say(f"first answer after {perf_counter() - started:.2f} s")
        session = Session(client, corpus, only_child())
        stop = threading.Event()
        beside = threading.Thread(target=ingest_again_and_again, args=(corpus, stop, runs))
        beside.start()
        try:
            await session.run(calls)
        finally:
            stop.set()
            await anyio.to_thread.run_sync(beside.join)
    return session


def tell(session: Session, seconds: float, runs: Counter[str]) -> None:
    """Print the figures."""
    made = sum(map(len, session.times.values()))
    say(f"{made} calls in {seconds:.1f} s, {runs['ingests']} ingests beside them")
    say(f"an ingest tool found the lock taken {session.locked} times, and was called again")
    say(f"{'tool':14}{'calls':>7}{'p50 ms':>10}{'p99 ms':>10}{'max ms':>10}")
    for tool, times in sorted(session.times.items()):
        cuts = quantiles(times, n=100, method="inclusive") if len(times) > 1 else times * 99
        say(f"{tool:14}{len(times):7}{cuts[49] * 1e3:10.1f}{cuts[98] * 1e3:10.1f}{max(times) * 1e3:10.1f}")
    say(f"memory of the server, MiB: {' '.join(f'{kib / 1024:.0f}' for kib in session.memory)}")
    say(f"errors: {json.dumps(session.errors, indent=1, ensure_ascii=False) if session.errors else 'none'}")


def main() -> None:
    """Ingest a copy of a folder, run a session on it, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=1000)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        shutil.copytree(told.folder, corpus, symlinks=True)
        os.environ["KEBAB_STORAGE_DATA_DIR"] = f"{folder}/data"
        ingest(str(corpus))
        runs: Counter[str] = Counter()
        started = perf_counter()
        session = anyio.run(measured, corpus, told.calls, runs)
        tell(session, perf_counter() - started, runs)


if __name__ == "__main__":
    main()
