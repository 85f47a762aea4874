"""Replays on a Ray cluster of two nodes on this machine, as a program of its own.

    python -m tests.replay.cluster DATA_DIR QUERIES TARGET LOSE_AT

One node is lost once the target has LOSE_AT bytes. Prints what the replay reports.
"""

import subprocess
import sys
import time
from pathlib import Path

from ray.cluster_utils import Cluster

from tests.cli.program import COMMAND, environment


def main(data_dir: Path, queries: Path, target: Path, lose_at: int) -> int:
    """Start the nodes, replay, lose one; the exit status of the replay."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        lost = cluster.add_node(num_cpus=1)
        arguments = [*COMMAND, "replay", str(queries), "-o", str(target), "--ray", cluster.address, "--json"]
        process = subprocess.Popen(arguments, env=environment(data_dir))
        while process.poll() is None and (not target.exists() or target.stat().st_size < lose_at):
            time.sleep(0.01)
        cluster.remove_node(lost, allow_graceful=False)
        return process.wait()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
