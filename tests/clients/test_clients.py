"""Real clients list the tools, remember, recover from an error, recall, and pass their headers on."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local_runner.child_server import ChildServer, child_server
from tests.clients.environments import NotInstallable, node_variables
from tests.clients.roster import CLIENTS
from tests.clients.steps import note, note_missing
from tests.system.processes import RECORDED_SERVER, RecordedEvents, call_tool, http_client, variables

CLIENT_SECONDS = 90.0
CALLS = ["remember", "recall", "recall"]
NOTHING_SAID: dict[str, Any] = {"tools": [], "error": "", "recalled": ""}
# Each is an invocation in the cloud; tests/handlers holds that none of these reads or writes storage.
BESIDE_CALLS = {"server/discover", "initialize", "notifications/initialized", "tools/list", "ping"}
# A session of its own for each call.
REQUESTS_MOST = {"langchain": 16, "mcp-remote": 10}
TOOLS = {"remember", "recall", "memory_context", "get_memory", "list_memories", "forget"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RecordedEvents:
    return RecordedEvents(tmp_path_factory.mktemp("clients"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, recorded: RecordedEvents) -> Iterator[ChildServer]:
    environment = variables(tmp_path_factory.mktemp("data"), EMBEDDINGS="none", RECORDED=str(recorded.folder))
    with child_server(environment, RECORDED_SERVER) as server:
        yield server


@pytest.mark.parametrize("name", CLIENTS)
def test_a_real_client_lists_remembers_recovers_from_an_error_and_recalls(
    name: str, server: ChildServer, recorded: RecordedEvents, tmp_path: Path
) -> None:
    try:
        command = CLIENTS[name](server.url, name)
    except NotInstallable as missing:
        note_missing(name, str(missing))
        pytest.skip(f"a client could not be installed: {missing}")
    before = len(recorded.of("http"))
    environment = {**variables(tmp_path), "PATH": node_variables()["PATH"], "HOME": str(tmp_path)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=CLIENT_SECONDS)
    said = json.loads(ran.stdout.strip().splitlines()[-1]) if ran.returncode == 0 else NOTHING_SAID
    messages = [*_messages(recorded, before)]
    calls = [message["params"]["name"] for message, _ in messages if message["method"] == "tools/call"]
    done = {
        "list": set(said["tools"]) >= TOOLS,
        "remember": asyncio.run(stored(server.url, name)) == ["Standup is at 09:15"],
        "error": "limit" in said["error"] and "999" in said["error"],
        "recall": "Standup is at 09:15" in said["recalled"],
        "headers": all(tenant == name for _, tenant in messages) and calls == CALLS,
    }
    note(name, **done)
    assert all(done.values()), (done, calls, said, ran.stderr[-3_000:])
    methods = [message["method"] for message, _ in messages]
    assert set(methods) - {"tools/call"} <= BESIDE_CALLS
    assert len(methods) <= REQUESTS_MOST.get(name, len(CALLS) + 4)


def _messages(recorded: RecordedEvents, before: int) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Each message that the client posted, with the tenant's header beside it."""
    for event in recorded.of("http")[before:]:
        if event.get("body"):
            yield json.loads(event["body"]), event["headers"].get("x-memory-tenant")


async def stored(url: str, tenant: str) -> list[str]:
    """What a tenant's memories say."""
    async with http_client(url, X_Memory_Tenant=tenant) as client:
        listed = await call_tool(client, "list_memories")
    return [memory["content"] for memory in listed["memories"]]
