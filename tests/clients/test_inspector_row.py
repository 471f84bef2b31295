"""The MCP Inspector's command line takes the steps of the table: one process a call."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_runner.child_server import ChildServer, child_server
from tests.clients.environments import NODE, NotInstallable, npm_package
from tests.clients.steps import note, note_missing
from tests.clients.test_clients import TOOLS, stored
from tests.system.processes import variables
from tests.system.test_inspector import CALL_SECONDS, INSPECTOR

FACT = "Standup is at 09:15"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChildServer]:
    with child_server(variables(tmp_path / "data", EMBEDDINGS="none")) as server:
        yield server


def test_the_inspector_takes_every_step(server: ChildServer) -> None:
    try:
        npm_package("inspector", INSPECTOR)
    except NotInstallable as missing:
        note_missing("inspector", str(missing))
        pytest.skip(f"a client could not be installed: {missing}")
    program = Path(__file__).resolve().parents[2] / "build/inspector/node_modules/.bin/mcp-inspector"

    def inspect(method: str, *options: str) -> str:
        target = (str(program), "--cli", server.url, "--transport", "http", "--method", method)
        command = [str(NODE / "bin" / "node"), *target, *options, "--header", "X-Memory-Tenant: inspector"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=CALL_SECONDS)
        return ran.stdout + ran.stderr

    recall = ("tools/call", "--tool-name", "recall", "--tool-arg", "query=standup")
    tools = {tool["name"] for tool in json.loads(inspect("tools/list"))["tools"]}
    inspect("tools/call", "--tool-name", "remember", "--tool-arg", f"content={FACT}")
    wrong, found = inspect(*recall, "--tool-arg", "limit=999"), inspect(*recall)
    kept = asyncio.run(stored(server.url, "inspector")) == [FACT]
    error = "limit" in wrong and "999" in wrong
    # The tenant that only the header names is where the memory stands.
    done = {
        "list": tools >= TOOLS,
        "remember": kept,
        "error": error,
        "recall": FACT in found,
        "headers": kept,
    }
    note("inspector", **done)
    assert all(done.values()), (done, wrong, found)
