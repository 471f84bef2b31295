"""The official Python client against the endpoint, in both of its modes."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from mcp import MCPError
from mcp.types import TextContent

from lodestore.domain.caller import Role
from mcp_server.endpoint import Endpoint
from mcp_server.handler import build_endpoint
from tests.handlers.sdk_client import Bridge, Mode, client, structured
from tests.handlers.stand_ins import INSTRUCTIONS, StandIn, endpoint_of, stand_in

MODES: list[Mode] = ["auto", "legacy"]
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@pytest.mark.parametrize("mode", MODES)
def test_the_client_lists_and_calls_tools(endpoint: Endpoint, mode: Mode) -> None:
    async def talk() -> None:
        async with client(Bridge(endpoint), mode) as connected:
            assert connected.protocol_version == ERAS[mode]
            assert connected.instructions == INSTRUCTIONS
            listed = await connected.list_tools()
            assert [tool.name for tool in listed.tools] == ["recall", "get_memory", "remember", "maintain"]
            result = await connected.call_tool("recall", {"query": "tea"})
            assert not result.is_error
            assert isinstance(result.content[0], TextContent)
            assert json.loads(result.content[0].text) == result.structured_content

    anyio.run(talk)


@pytest.mark.parametrize("mode", MODES)
def test_the_client_sees_errors_as_results_and_unknown_tools_as_errors(
    endpoint: Endpoint, mode: Mode
) -> None:
    async def talk() -> None:
        async with client(Bridge(endpoint), mode) as connected:
            refused = await connected.call_tool("remember", {"content": "conflict"})
            assert refused.is_error
            assert refused.structured_content is not None
            assert refused.structured_content["error"] == "conflict"
            with pytest.raises(Exception, match="Unknown tool"):
                await connected.call_tool("nope", {})

    anyio.run(talk)


@pytest.mark.parametrize(
    ("mode", "start"),
    [
        ("auto", ["POST server/discover", "POST tools/list", "POST tools/call"]),
        (
            "legacy",
            ["POST initialize", "POST notifications/initialized", "POST tools/list", "POST tools/call"],
        ),
    ],
)
def test_the_client_makes_no_request_but_the_known_ones_and_none_before_a_call_asks_storage(
    core: StandIn, endpoint: Endpoint, mode: Mode, start: list[str]
) -> None:
    bridge = Bridge(endpoint)

    async def talk() -> None:
        async with client(bridge, mode) as connected:
            await connected.list_tools()
            assert not core.store.requests
            await connected.call_tool("recall", {"query": "tea"})

    anyio.run(talk)
    assert [f"{sent.method} {sent.message}" for sent in bridge.seen] == start


@pytest.mark.parametrize("mode", MODES)
def test_the_clients_headers_reach_the_tools(tmp_path: Path, mode: Mode) -> None:
    core = stand_in(tmp_path, AUTH="keys")
    key = core.access.issue_key(["acme", "zephyr"], Role.WRITER)

    async def talk() -> None:
        headers = {"Authorization": f"Bearer {key}", "X_Memory_Tenant": "zephyr", "X_Conversation_Id": "c1"}
        async with client(Bridge(endpoint_of(core)), mode, **headers) as connected:
            await connected.call_tool("recall", {"query": "tea"})

    anyio.run(talk)
    (called,) = core.calls
    assert (called.caller.tenant, called.caller.conversation, called.caller.role) == (
        "zephyr",
        "c1",
        Role.WRITER,
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_client_without_its_key_fails_at_its_first_request(tmp_path: Path, mode: Mode) -> None:
    bridge = Bridge(endpoint_of(stand_in(tmp_path, AUTH="keys")))

    async def talk() -> None:
        async with client(bridge, mode) as connected:
            await connected.list_tools()

    with pytest.RaisesGroup(MCPError, flatten_subgroups=True):
        anyio.run(talk)
    assert {sent.status for sent in bridge.seen} == {401}


@pytest.mark.promise("P-READ-YOUR-WRITES")
@pytest.mark.parametrize("mode", MODES)
def test_over_the_real_core_what_the_client_remembers_it_recalls(tmp_path: Path, mode: Mode) -> None:
    endpoint = build_endpoint({"DATA": str(tmp_path), "EMBEDDINGS": "none"})

    async def talk() -> None:
        async with client(Bridge(endpoint), mode) as connected:
            stored = await structured(connected, "remember", {"content": "Standup is at 09:15 🍸"})
            assert stored["status"] == "stored"
            recalled = await structured(connected, "recall", {"query": "standup"})
            assert [hit["id"] for hit in recalled["hits"]] == [stored["id"]]
            assert recalled["hits"][0]["content"] == "Standup is at 09:15 🍸"
            forgotten = await structured(connected, "forget", {"id": stored["id"]})
            assert forgotten["deleted"] is True

    anyio.run(talk)
