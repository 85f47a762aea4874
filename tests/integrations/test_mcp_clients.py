"""The configuration for each MCP client is well-formed, says where it goes, and starts a server."""

import functools
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from kebab_stream.mcp_server.tools import TOOLS
from tests.cli.program import COMMAND
from tests.docs.pages import fences
from tests.mcp.clients import answers, line, spoken
from tests.paths import ROOT

FOLDER = ROOT / "integrations"
FILES = sorted((FOLDER / "mcp").iterdir())
SERVERS_IN = {"vscode.json": "servers", "zed.json": "context_servers", "codex.toml": "mcp_servers"}
"""The key under which a client looks for servers, where it is not `mcpServers`."""


def configuration(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    return tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)


def entry(file: Path) -> Any:
    """How the client starts kebab. The file has nothing else."""
    (servers,) = configuration(file).items()
    assert servers[0] == SERVERS_IN.get(file.name, "mcpServers")
    assert list(servers[1]) == ["kebab"]
    return servers[1]["kebab"]


@functools.cache  # starting takes seconds, and most clients start the same
def tools_of(arguments: tuple[str, ...]) -> list[str]:
    """The tools that kebab lists when it is started so. It says nothing else, and ends well."""
    done = spoken(ROOT / "no index", line({"id": 1, "method": "tools/list"}), program=(*COMMAND, *arguments))
    assert (done.status, done.err) == (0, b"")
    return [tool["name"] for tool in answers(done)[1]["result"]["tools"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_a_client_starts_is_a_server_with_eight_tools(file: Path) -> None:
    started = entry(file)

    assert started["command"] == "kebab"
    assert tools_of(tuple(started["args"])) == [tool.name for tool in TOOLS]
    assert len(TOOLS) == 8


def test_the_page_says_of_every_file_where_it_goes() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")

    rows = re.findall(r"^\| [^|]+ \| \[([^\]]+)\]\(mcp/([^)]+)\) \| [^|]+ \|$", page, re.MULTILINE)

    assert sorted(rows) == [(file.name, file.name) for file in FILES]


def test_the_documentation_shows_the_same_configuration() -> None:
    (shown,) = [json.loads(content) for info, content in fences(ROOT / "docs" / "mcp.md") if info == "json"]

    assert shown == configuration(FOLDER / "mcp" / "claude-desktop.json")
