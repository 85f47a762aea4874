"""Replays on a Ray cluster of two nodes on this machine, as a program of its own.

    python -m tests.replay.cluster DATA_DIR QUERIES FOLDER LOSE_AT

Three runs, whose results go to the folder: `shared`, with a data folder that the nodes see; `unseen`, with one that
they do not; `shipped`, where that is sent to them, and a node is lost once the file has LOSE_AT bytes. Prints a line of
JSON for each: exit status, what came on stdout and stderr, and the copies among the temporary files, during and after.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ray.cluster_utils import Cluster

from tests.cli.program import COMMAND, environment

UNSEEN = "/proc/self/cwd"
"""Here each process finds another folder: the one that it runs in."""


def main(data_dir: Path, queries: Path, folder: Path, lose_at: int) -> None:
    """Start the nodes, replay, lose one."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        lost = cluster.add_node(num_cpus=1)
        at = ("--ray", cluster.address, "--json")

        def run(name: str, seen_as: Path, *more: str, meanwhile: Callable[[Path], None] = lambda _: None) -> None:
            target = folder / name
            process = subprocess.Popen(
                [*COMMAND, "replay", str(queries), "-o", str(target), *at, *more],
                env=environment(seen_as),
                cwd=data_dir,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            copied = 0
            while process.poll() is None and (not target.exists() or target.stat().st_size < lose_at):
                copied = max(copied, len(copies()))
                time.sleep(0.01)
            meanwhile(target)
            out, err = process.communicate()
            told = {"status": process.returncode, "out": out, "err": err, "copies": copied, "left": copies()}
            sys.stdout.write(json.dumps(told) + "\n")

        run("shared", data_dir)
        run("unseen", Path(UNSEEN))
        run(
            "shipped",
            Path(UNSEEN),
            "--ray-ship",
            meanwhile=lambda _: cluster.remove_node(lost, allow_graceful=False),
        )
    finally:
        cluster.shutdown()


def copies() -> list[str]:
    """The data folders that were shipped, each with its files."""
    found = Path(tempfile.gettempdir()).glob("kebab-replay-*")
    return [path.name for path in found if path.is_dir()]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
