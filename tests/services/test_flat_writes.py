"""What a write costs does not depend on how much is stored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lodestore.domain.memory import Memory
from lodestore.format import keys
from lodestore.format.records import decode_record, encode_record
from lodestore.ports.object_store import Found, Won
from tests.services.world import Instance, World

SIZES = (10, 5_000)
Cost = list[tuple[str, str, int]]


@pytest.mark.promise("P-FLAT-WRITES")
@pytest.mark.case("B96")
def test_each_write_sends_the_same_requests_and_bytes_at_ten_and_at_five_thousand_memories(
    folder: Path,
) -> None:
    small, large = (costs_at(folder / str(size), size) for size in SIZES)
    assert small == large
    assert [(store, operation) for store, operation, _ in small["remember"]] == [
        ("index", "create"),
        ("state", "create"),
    ]


def costs_at(folder: Path, size: int) -> dict[str, Cost]:
    """The cost of each write in a tenant of this size, by an instance that has looked at all of it."""
    world = World(folder)
    instance = world.instance()
    fill(world, instance, size)
    instance.hits("statement", limit=1)
    memory_id = instance.stored("Quarterly numbers are due", id="own")
    calls: dict[str, tuple[str, dict[str, object]]] = {
        "remember": ("remember", {"content": "The office is in Bergen"}),
        "remember again": ("remember", {"content": "The office is in Bergen"}),
        "update": ("update_memory", {"id": memory_id, "importance": 0.9}),
        "forget": ("forget", {"id": memory_id}),
    }
    costs = {name: cost(world, instance, tool, arguments) for name, (tool, arguments) in calls.items()}
    world.close()
    return costs


def fill(world: World, instance: Instance, size: int) -> None:
    """That many memories, put into the store as they are."""
    memory_id = instance.stored("A statement to copy")
    found = world.state.inner.get(keys.memory("acme", memory_id))
    assert isinstance(found, Found)
    first = decode_record(found.body, "acme", memory_id)
    assert isinstance(first, Memory)
    for number in range(size - 1):
        copy = replace(first, id=f"copy-{number}", content=f"Statement {number}")
        assert isinstance(world.state.inner.create(keys.memory("acme", copy.id), encode_record(copy)), Won)
        world.index.inner.create(keys.pending("acme", copy.revision, copy.id), b"")


def cost(world: World, instance: Instance, tool: str, arguments: dict[str, object]) -> Cost:
    """The requests of a call: store, operation, bytes sent."""
    before = (world.state.count(), world.index.count())
    instance.call(tool, **arguments)
    sent = [("state", request) for request in world.state.requests[before[0] :]]
    sent += [("index", request) for request in world.index.requests[before[1] :]]
    return sorted((store, request.operation, request.sent) for store, request in sent)
