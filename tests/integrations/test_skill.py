"""The skill for agents is well-formed, and what it says one can type works."""

import re
import shutil
from pathlib import Path
from typing import get_args

import pytest
import yaml

from kebab_stream.errors import ErrorCode
from kebab_stream.mcp_server.tools import TOOLS
from tests.docs.pages import Example, fences
from tests.docs.session import session
from tests.paths import ROOT

SKILL = ROOT / "integrations" / "claude-code" / "kebab" / "SKILL.md"
INDEXED = Example(0, "sh", "kebab ingest --quiet ~/notes > /dev/null\n", None)
"""What the user did before an agent reads the skill."""


def text() -> str:
    return SKILL.read_text(encoding="utf-8")


def test_its_front_matter_is_what_an_agent_finds_it_by() -> None:
    _, front, _ = text().split("---\n", 2)
    fields = yaml.safe_load(front)

    assert sorted(fields) == ["description", "name"]
    assert fields["name"] == SKILL.parent.name
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert 0 < len(fields["description"]) <= 1024


def test_it_is_short_since_an_agent_reads_all_of_it() -> None:
    assert len(text()) < 6000


def test_every_example_works_and_finds_something(tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    shown = fences(SKILL)
    assert {info for info, _ in shown} == {"sh"}

    _, *ran = session([INDEXED, *(Example(0, info, content, None) for info, content in shown)], tmp_path)

    assert [did.status for did in ran] == [0] * len(shown)
    for did in ran:
        assert "runbook" in did.output
        assert "error.v1" not in did.output


def test_it_knows_no_code_and_no_tool_that_is_not_there() -> None:
    codes = set(re.findall("`([a-z_]+)`", "".join(re.findall(r"^\| (`.*?) \|", text(), re.MULTILINE))))
    tools = set(re.findall("`([a-z_]+)`", re.findall(r"MCP server `kebab` are there \((.*?)\)", text())[0]))

    assert codes - {"code"} <= set(get_args(ErrorCode))
    assert len(codes) > 5
    assert tools <= {tool.name for tool in TOOLS}
