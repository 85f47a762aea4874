"""`kebab replay --ray`, on a real cluster of two nodes."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir

import pytest

from tests.cli.program import environment, kebab
from tests.paths import ROOT
from tests.wire import checked

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="the extra `ray` is not installed")

NOTICE_SOON = {
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "2",
}
"""After how long a node counts as lost; by default it takes half a minute."""


_RAYS_OWN = re.compile(r"^\[\d{4}-[^]]+\] \w+\.cc:\d+: .*\n", re.MULTILINE)
"""What Ray's core writes on standard error, past Python, when it makes up for a lost node."""


@needs_ray
def test_the_index_is_shared_or_shipped_and_a_lost_node_changes_nothing(fixture_data: Path, tmp_path: Path) -> None:
    queries, plain, scratch = tmp_path / "queries.ndjson", tmp_path / "plain.ndjson", tmp_path / "scratch"
    queries.write_bytes(b"".join(b'{"query":"coffee %d","k":20}\n' % number for number in range(1500)) + b"no json")
    scratch.mkdir()
    assert kebab("replay", str(queries), "-o", str(plain), data_dir=fixture_data).status == 0
    done = subprocess.run(
        [sys.executable, "-m", "tests.replay.cluster", fixture_data, queries, tmp_path, str(plain.stat().st_size // 4)],
        capture_output=True,
        env=environment(None, {**NOTICE_SOON, "TMPDIR": str(scratch), "RAY_TMPDIR": gettempdir()}),
        cwd=ROOT,
        timeout=200,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    shared, unseen, shipped = map(json.loads, done.stdout.splitlines())
    for run in (shared, shipped):
        assert (run["status"], _RAYS_OWN.sub("", run["err"])) == (0, "")
        report = checked(run["out"])
        assert (report["total"], report["failed"], report["workers"]) == (1501, 1, 2)
    assert (tmp_path / "shared").read_bytes() == (tmp_path / "shipped").read_bytes() == plain.read_bytes()
    assert unseen["status"] == 2
    assert checked(unseen["err"])["message"] == "a node finds no index in /proc/self/cwd"
    assert (shared["copies"], shipped["copies"]) == (0, 2)  # of two nodes, which have a processor each
    assert (len(shared["left"]), len(shipped["left"])) == (0, 1)  # of the node that was lost


@needs_ray
def test_an_address_where_no_cluster_is_is_told(fixture_data: Path, tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(b'{"query":"a"}\n')
    done = kebab("replay", "q", "-o", "a", "--ray", "127.0.0.1:1", "--json", data_dir=fixture_data, cwd=tmp_path)

    assert (done.status, done.error["code"]) == (2, "invalid_input")
    assert done.error["message"] == "--ray 127.0.0.1:1: Connection refused"


def test_without_the_extra_it_is_named(fixture_data: Path, tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError", encoding="utf-8")  # found before the real one
    (tmp_path / "q").write_bytes(b'{"query":"a"}\n')
    done = kebab("replay", "q", "-o", "a", "--ray", "auto", "--json", data_dir=fixture_data, cwd=tmp_path)

    assert (done.status, done.error["hint"]) == (2, "install kebab-stream[ray]")
