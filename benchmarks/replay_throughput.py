"""What a replay takes: queries a second and memory of each process, with 1 and 2 workers, lexical and hybrid.

    python benchmarks/replay_throughput.py ../shared/corpora ../shared/data/queries/replay-20k.ndjson

The corpora are indexed anew. Beside it, the loop that people write otherwise, `for q in …: kebab search "$q" --json`,
is timed on a sample. With --check the outputs are compared too, among them that of a run killed many times.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from statistics import median

KEBAB = (sys.executable, "-m", "kebab_stream")
MODES = ("lexical", "hybrid")


@dataclass(frozen=True, slots=True)
class Run:
    """One replay."""

    report: Mapping[str, object]
    rss: Sequence[int]
    """Largest resident memory of each process, MiB: the parent, then the workers."""
    private: Sequence[int]
    """Of it what no other process shares, MiB."""


def main() -> None:
    """Index, replay, print a table."""
    options = parsed()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        environment = {**os.environ, "KEBAB_STORAGE_DATA_DIR": str(folder / "data")}
        sources = [str(path) for path in sorted(options.corpora.iterdir()) if path.is_dir()]
        subprocess.run([*KEBAB, "ingest", "--quiet", *sources], env=environment, check=True, stdout=sys.stderr)  # noqa: S603  # our own program
        say("| mode | workers | queries/s | p50 ms | p90 ms | p99 ms | RSS (private) MiB: parent, workers |")
        say("| --- | --- | --- | --- | --- | --- | --- |")
        for mode in options.modes:
            queries = of_mode(options.queries, mode, folder / f"{mode}.ndjson")
            outputs = []
            for workers in options.workers:
                target = folder / "results.ndjson"
                say(row(mode, workers, replayed(queries, target, workers, environment)))
                outputs.append(digest(target))
            if options.check:
                outputs.append(interrupted(queries, folder / f"killed-{mode}.ndjson", environment, kills=20))
                say(f"{mode}: {len(outputs)} outputs, {'all the same' if len(set(outputs)) == 1 else 'NOT the same'}")
            say(loop(queries, mode, environment, options.sample))


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder of folders of documents")
    parser.add_argument("queries", type=Path)
    parser.add_argument("--modes", nargs="+", default=MODES)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sample", type=int, default=30, help="searches of the loop")
    parser.add_argument("--check", action="store_true", help="compare the outputs")
    return parser.parse_args()


def of_mode(queries: Path, mode: str, target: Path) -> Path:
    """The queries with this mode."""
    with target.open("w", encoding="utf-8") as file:
        for line in queries.read_text(encoding="utf-8").splitlines():
            file.write(json.dumps({**json.loads(line), "mode": mode}, ensure_ascii=False) + "\n")
    return target


def replayed(queries: Path, target: Path, workers: int, environment: Mapping[str, str]) -> Run:
    """Replay, and watch the memory of all processes."""
    command = [*KEBAB, "replay", str(queries), "-o", str(target), "--force", "--json", "--workers", str(workers)]
    process = subprocess.Popen(command, env=dict(environment), stdout=subprocess.PIPE)  # noqa: S603  # our own program
    rss: dict[int, int] = {}
    private: dict[int, int] = {}
    while process.poll() is None:
        for pid in (process.pid, *children(process.pid)):
            for name, value in memory(pid):
                found = rss if name == "Rss" else private
                found[pid] = max(found.get(pid, 0), value)
        time.sleep(0.2)
    assert process.stdout
    report = json.loads(process.stdout.read())
    largest = sorted((pid for pid in rss if pid != process.pid), key=lambda pid: -rss[pid])[:workers]
    pids = [process.pid, *largest]  # Python's own tracker of resources is no worker
    return Run(report, [rss[pid] >> 10 for pid in pids], [private[pid] >> 10 for pid in pids])


def children(pid: int) -> Iterator[int]:
    """Processes that a process started."""
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            yield from map(int, path.read_text().split())
        except OSError:
            continue


def memory(pid: int) -> Iterator[tuple[str, int]]:
    """(`Rss` or `Private`, kB) of a process."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return
    values = {name.rstrip(":"): int(value) for name, value, *_ in map(str.split, lines)}
    yield "Rss", values["Rss"]
    yield "Private", values["Private_Clean"] + values["Private_Dirty"]


def row(mode: str, workers: int, run: Run) -> str:
    """A line of the table."""
    latency = run.report["latency"]
    assert isinstance(latency, dict)
    times = " | ".join(f"{latency[name]:.1f}" for name in ("p50_ms", "p90_ms", "p99_ms"))
    sizes = ", ".join(f"{rss} ({private})" for rss, private in zip(run.rss, run.private, strict=True))
    return f"| {mode} | {workers} | {run.report['queries_per_second']} | {times} | {sizes} |"


def interrupted(queries: Path, target: Path, environment: Mapping[str, str], *, kills: int) -> str:
    """The digest of a run that was killed so many times and resumed."""
    command = [*KEBAB, "replay", str(queries), "-o", str(target), "--resume", "--json"]
    choices = random.Random(1)  # noqa: S311  # the same kills each time
    done = 0
    for _ in range(kills):
        process = subprocess.Popen(command, env=dict(environment), stdout=subprocess.DEVNULL)  # noqa: S603  # our own program
        time.sleep(choices.uniform(0.8, 2.5))
        done += process.poll() is None
        process.kill()
        process.wait()
    subprocess.run(command, env=dict(environment), stdout=subprocess.DEVNULL, check=True)  # noqa: S603  # our own program
    say(f"killed {done} times")
    return digest(target)


def digest(path: Path) -> str:
    """What tells one output from another."""
    with path.open("rb") as file:
        found = blake2b()
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def loop(queries: Path, mode: str, environment: Mapping[str, str], sample: int) -> str:
    """How many queries a second a loop of single searches answers."""
    lines = queries.read_text(encoding="utf-8").splitlines()
    times = []
    for line in lines[:: max(1, len(lines) // sample)][:sample]:
        started = time.perf_counter()
        command = [*KEBAB, "search", "--json", "--mode", mode, "--", json.loads(line)["query"]]
        subprocess.run(command, env=dict(environment), stdout=subprocess.DEVNULL, check=True)  # noqa: S603  # our own program
        times.append(time.perf_counter() - started)
    return f"{mode}: a loop of `kebab search` answers {1 / median(times):.1f} queries/s (median of {sample})"


def say(text: str) -> None:
    """A line, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
