"""Each function is found by its handler string: another one in the table gets the calls."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from local_runner.child_server import child_server
from local_runner.function_table import HANDLERS, UnknownHandler, look_up
from lodestore.services.events import event_source, parse_batch
from tests.system.processes import (
    RECORDED_SERVER,
    Answer,
    RecordedEvents,
    call_tool,
    http_client,
    variables,
)


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedEvents:
    return RecordedEvents(tmp_path)


@pytest.fixture
def environment(tmp_path: Path, recorded: RecordedEvents) -> dict[str, str]:
    own = {"RECORDED": str(recorded.folder), "INDEX_EVERY": "0.05", "SLEEP_EVERY": "0.05"}
    return variables(tmp_path / "data", **own)


async def remember(url: str) -> Answer:
    async with http_client(url, X_Memory_Tenant="Acme") as client:
        return await call_tool(client, "remember", content="Standup is at 09:15")


def test_a_request_a_change_and_the_timer_each_reach_the_handler_that_the_table_names(
    environment: dict[str, str], recorded: RecordedEvents
) -> None:
    with child_server(environment, RECORDED_SERVER) as server:
        stored = asyncio.run(remember(server.url))
        requests = recorded.wait_for("http", 2)
        (batch, *_) = recorded.wait_for("changes", 1)
        ticks = recorded.wait_for("schedule", 2)
    # The runner's own first look, and then the client's messages.
    assert {event["version"] for event in requests} == {"2.0"}
    assert [event["rawPath"] for event in requests[:2]] == ["/health", "/mcp"]
    assert all(tick == {"task": "dispatch", "all": True} for tick in ticks)
    (notice,) = parse_batch(batch, event_source("file://anywhere"))
    assert [(name.tenant, name.id) for name in notice.names] == [("Acme", stored["id"])]


@pytest.mark.case("B80")
@pytest.mark.promise("P-READ-YOUR-WRITES")
@pytest.mark.promise("P-SILENT-NEVER")
def test_with_an_indexer_that_fails_on_every_event_a_memory_is_still_recalled_and_the_backlog_shown(
    environment: dict[str, str], recorded: RecordedEvents
) -> None:
    async def look(url: str) -> tuple[Answer, Answer, Answer]:
        async with http_client(url, X_Memory_Tenant="Acme") as client:
            found = await call_tool(client, "recall", query="standup")
            listed = await call_tool(client, "list_memories")
            return found, listed, await call_tool(client, "memory_stats")

    with child_server({**environment, "FAIL_CHANGES": "1"}, RECORDED_SERVER) as server:
        stored = asyncio.run(remember(server.url))
        recorded.wait_for("changes", 1)
        found, listed, stats = asyncio.run(look(server.url))
        logged = server.logged()
    assert [hit["id"] for hit in found["hits"]] == [stored["id"]]
    assert listed["total"] == 1
    assert stats["pending"] == 1
    assert "changes raised RuntimeError" in logged


def test_with_index_every_0_no_change_is_told(environment: dict[str, str], recorded: RecordedEvents) -> None:
    with child_server({**environment, "INDEX_EVERY": "0"}, RECORDED_SERVER) as server:
        asyncio.run(remember(server.url))
        recorded.wait_for("schedule", 5)
    assert recorded.of("changes") == []


def test_every_handler_string_of_the_table_names_a_function_that_is_there() -> None:
    for name in HANDLERS:
        assert look_up(name).name == name


@pytest.mark.parametrize(
    "handler_string", ["no_such_module.handler", "indexer.handler.nothing", "indexer.handler.SERVICE"]
)
def test_a_handler_string_that_names_no_function_stops_the_start(handler_string: str) -> None:
    with pytest.raises(UnknownHandler, match=handler_string):
        look_up("x", {"x": handler_string})
