"""Ingests killed at any moment leave the old state or the new one, and the next one mends what is left."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.embed.test_static import write_model
from tests.paths import ROOT

KILLS = int(os.environ.get("KILLS", "40"))
"""By each of two processes, one of them with a model."""
STEPS = {"scan", "first", "rebuild", "edit", "text", "remove"}


def test_killed_ingests_leave_one_committed_state_each(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    counts: Counter[str] = Counter()
    running = []
    for seed, more in (("1", []), ("2", [str(model)])):
        (tmp_path / seed).mkdir()
        command = [sys.executable, "-m", "tests.durability.crash", str(tmp_path / seed), seed, str(KILLS), *more]
        running.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, err
        counts += Counter(json.loads(out))

    sys.stdout.write(f"{dict(counts)}\n")
    assert counts["kills"] == 2 * KILLS >= 80
    assert min(counts[name] for name in STEPS) >= KILLS // 20, counts
    assert min(counts["old"], counts["new"]) >= KILLS // 20, counts
    assert counts["while writing"] >= KILLS // 5, counts
