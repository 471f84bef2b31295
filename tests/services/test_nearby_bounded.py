"""Looking for near-duplicates costs the same however much an instance holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lodestore.domain.memory import Memory
from lodestore.format import keys
from lodestore.format.records import decode_record
from lodestore.ports.object_store import Found
from lodestore.services.held import HeldRecords
from lodestore.services.ledger import Standing
from lodestore.services.nearby import LOOKED_AT, SHOWN, Nearby
from lodestore.services.truth import Truth
from tests.services.world import Instance, World

HELD = 2_050


@pytest.mark.promise("P-FLAT-WRITES")
def test_of_all_that_is_held_only_the_latest_are_compared_and_few_are_read(
    world: World, acme: Instance
) -> None:
    memory_id = acme.stored("The office has a plant")
    found = world.state.get(keys.memory("acme", memory_id))
    assert isinstance(found, Found)
    memory = decode_record(found.body, "acme", memory_id)
    assert isinstance(memory, Memory)
    truth = Truth(world.state, workers=acme.lodestore.workers, meter=world.meter)
    nearby = Nearby(HeldRecords(), truth, world.clock, world.meter)
    for number in range(HELD):
        nearby.hold(Standing(replace(memory, id=f"copy-{number}"), found.etag))
    world.state.reset()
    _, looked_at = nearby.near(acme.caller, memory.content, but=memory.id)
    assert looked_at == LOOKED_AT < HELD
    assert world.state.count() == SHOWN
