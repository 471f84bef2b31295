"""An invocation that runs out of time still answers, and says whether the write is known to have happened."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from infra.service_stack import MCP_SECONDS
from lodestore.adapters import s3_store_client
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.invocation_budget import READ_SECONDS, WRITE_SECONDS
from mcp_server.endpoint import Endpoint
from mcp_server.observability import Counters, Observer
from tests.faults.rules import Fault, Operation, Request, Rule
from tests.handlers.wire import LOCAL, call, event
from tests.services.world import World

ONE_TRY = timedelta(seconds=s3_store_client.CONNECT_SECONDS + s3_store_client.READ_SECONDS)
ALL_TRIES = ONE_TRY * s3_store_client.READ_ATTEMPTS


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()


class Context:
    """The part of Lambda's context that is read, by the world's clock."""

    def __init__(self, world: World, seconds: float) -> None:
        self._world = world
        self._until = world.clock.now() + timedelta(seconds=seconds)

    def get_remaining_time_in_millis(self) -> int:
        return int((self._until - self._world.clock.now()).total_seconds() * 1000)


def called(world: World, tool: str, seconds: float = MCP_SECONDS, **arguments: object) -> dict[str, object]:
    """What a fresh process answers to one invocation, which must be over in time."""
    observer = Observer(clock=world.clock, counters=Counters(), log=io.StringIO(), metrics=None)
    endpoint = Endpoint(world.instance().lodestore, observer)
    context = Context(world, seconds)
    answer = endpoint(event(headers=LOCAL, body=json.dumps(call(tool, arguments))), context)
    assert context.get_remaining_time_in_millis() > 0, "Lambda would have ended it without an answer"
    structured: dict[str, object] = json.loads(str(answer["body"]))["result"]["structuredContent"]
    return structured


def slow(world: World, fault: Fault, operation: Operation, key: str, by: timedelta) -> Rule:
    """Each of these requests takes so long and then fails."""

    def rule(request: Request) -> Fault | None:
        if not request.matches(operation, key):
            return None
        world.clock.advance(by)
        return fault

    return rule


@pytest.mark.promise("P-DURABLE")
@pytest.mark.promise("P-BOUNDED")
def test_a_write_that_is_never_answered_is_said_to_be_unknown_before_the_invocation_ends(
    world: World,
) -> None:
    world.state.inject(slow(world, Fault.UNKNOWN_AFTER, "create", "memories/*", ONE_TRY))
    world.state.inject(slow(world, Fault.UNAVAILABLE, "get", "memories/*", ALL_TRIES))
    answer = called(world, "remember", content="the office is in Oslo")
    assert (answer["error"], answer["written"], answer["retryable"]) == ("unavailable", "unknown", True)


@pytest.mark.promise("P-DURABLE")
def test_a_write_that_never_happens_is_tried_while_there_is_time(world: World) -> None:
    world.state.inject(slow(world, Fault.UNKNOWN_BEFORE, "create", "memories/*", ONE_TRY))
    answer = called(world, "remember", content="the office is in Oslo")
    assert (answer["error"], answer["written"]) == ("unavailable", "unknown")
    assert world.state.count("create", "memories/*") >= 2


@pytest.mark.promise("P-DURABLE")
def test_a_memory_that_landed_without_its_marker_is_said_to_be_written(world: World) -> None:
    world.index.inject(slow(world, Fault.UNKNOWN_BEFORE, "create", "pending/*", ONE_TRY))
    answer = called(world, "remember", content="the office is in Oslo", id="office")
    assert (answer["error"], answer["written"], answer["id"]) == ("unavailable", True, "office")
    world.index.heal()
    assert world.instance("default").get("office")["content"] == "the office is in Oslo"


@pytest.mark.promise("P-DURABLE")
def test_a_write_for_which_there_is_no_time_is_not_begun_and_said_not_to_be_written(world: World) -> None:
    answer = called(world, "remember", seconds=WRITE_SECONDS - 1, content="the office is in Oslo")
    assert (answer["error"], answer["written"]) == ("unavailable", False)
    assert (world.state.requests, world.index.requests) == ((), ())


@pytest.mark.promise("P-BOUNDED")
def test_a_recall_over_a_store_that_does_not_answer_is_answered_in_time(world: World) -> None:
    world.index.inject(slow(world, Fault.UNAVAILABLE, "get", "index/*", ALL_TRIES))
    world.index.inject(slow(world, Fault.UNAVAILABLE, "list", "pending/*", ALL_TRIES))
    answer = called(world, "recall", query="office")
    assert (answer["error"], answer["written"]) == ("unavailable", False)


def test_an_invocation_with_time_is_served_after_one_that_had_none(world: World) -> None:
    lodestore = world.instance().lodestore
    lodestore.budget.begin(1.0)
    with pytest.raises(StoreUnavailable):
        lodestore.budget.require(READ_SECONDS)
    lodestore.budget.begin(60.0)
    lodestore.budget.require(READ_SECONDS)
    lodestore.budget.begin(None)
    world.clock.advance(timedelta(days=1))
    lodestore.budget.require(READ_SECONDS)


def test_what_is_kept_back_is_longer_than_the_sdk_is_let_try() -> None:
    assert ONE_TRY.total_seconds() < WRITE_SECONDS
    assert ALL_TRIES.total_seconds() < READ_SECONDS < MCP_SECONDS
