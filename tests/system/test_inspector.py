"""The MCP Inspector's command line, a client of another make, lists tools, remembers and recalls."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local_runner.child_server import ChildServer, child_server
from tests.clients.environments import NODE, NotInstallable, npm_package
from tests.system.processes import ROOT, variables

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
PLACE = ROOT / "build" / "inspector"
PROGRAM = PLACE / "node_modules" / ".bin" / "mcp-inspector"
CALL_SECONDS = 60.0

Inspect = Callable[..., dict[str, Any]]


def node(*arguments: str | Path, seconds: float) -> subprocess.CompletedProcess[str]:
    """A Node program; the system's own Node may be too old for it."""
    command = [str(NODE / "bin" / "node"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds)


@pytest.fixture
def inspector() -> Path:
    """The program, installed once and kept under build/."""
    try:
        npm_package("inspector", INSPECTOR)
    except NotInstallable:
        pytest.skip("the MCP Inspector could not be installed from npm")
    return PROGRAM


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChildServer]:
    with child_server(variables(tmp_path / "data")) as server:
        yield server


@pytest.fixture
def inspect(inspector: Path, server: ChildServer) -> Inspect:
    def run(method: str, *options: str) -> dict[str, Any]:
        target = ("--cli", server.url, "--transport", "http", "--method", method)
        answer = node(inspector, *target, *options, seconds=CALL_SECONDS)
        assert answer.returncode == 0, answer.stderr
        result: dict[str, Any] = json.loads(answer.stdout)
        return result

    return run


def test_the_inspector_lists_tools_remembers_and_recalls_in_both_eras(inspect: Inspect) -> None:
    for era in ("legacy", "modern"):
        options = ("--protocol-era", era, "--header", f"X-Memory-Tenant: {era}")
        tools = inspect("tools/list", "--strict", *options)["tools"]
        assert {"remember", "recall"} <= {tool["name"] for tool in tools}
        said = "content=Standup is at 09:15"
        stored = inspect("tools/call", "--tool-name", "remember", "--tool-arg", said, *options)
        assert stored["structuredContent"]["status"] == "stored"
        found = inspect("tools/call", "--tool-name", "recall", "--tool-arg", "query=standup", *options)
        assert [hit["content"] for hit in found["structuredContent"]["hits"]] == ["Standup is at 09:15"]
        assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
