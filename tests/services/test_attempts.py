"""How often a write is tried, and what each attempt is: told apart from all others, and counted."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lodestore.format import keys
from lodestore.services.ledger import ATTEMPTS
from tests.faults.hostile_store import Fault, Operation, on
from tests.services.world import Instance, World


@dataclass(frozen=True)
class Write:
    """A write, and the operation by which it commits."""

    tool: str
    operation: Operation
    arguments: dict[str, object]

    def __str__(self) -> str:
        return self.tool


WRITES = (
    Write("remember", "create", {"content": "The hall has a plant"}),
    Write("update_memory", "replace", {"id": "office", "content": "The office is in Bergen"}),
    Write("forget", "replace", {"id": "office"}),
)
each_write = pytest.mark.parametrize("write", WRITES, ids=str)


@pytest.fixture
def office(acme: Instance) -> Instance:
    acme.stored("The office is in Oslo", id="office")
    return acme


@each_write
@pytest.mark.promise("P-IDEMPOTENT")
def test_no_two_attempts_of_a_write_have_the_same_revision(
    world: World, office: Instance, write: Write
) -> None:
    world.state.inject(on(Fault.UNKNOWN_BEFORE, write.operation, "memories/*", times=2))
    world.index.reset()
    office.call(write.tool, **write.arguments)
    markers = [keys.parse_pending(r.key) for r in world.index.requests if r.operation == "create"]
    revisions = [marker.revision for marker in markers if marker is not None]
    assert len(revisions) == 3
    assert revisions == sorted(set(revisions))


@each_write
@pytest.mark.promise("P-SILENT-NEVER")
def test_a_write_that_is_never_answered_is_never_said_not_to_be_stored(
    world: World, office: Instance, write: Write
) -> None:
    world.state.inject(on(Fault.UNKNOWN_BEFORE, write.operation, "memories/*", times=None))
    error = office.error(write.tool, **write.arguments)
    assert (error["error"], error["written"], error["retryable"]) == ("unavailable", "unknown", True)


@each_write
@pytest.mark.promise("P-BOUNDED")
def test_a_key_that_is_always_contended_is_tried_a_few_times_with_pauses(
    world: World, office: Instance, write: Write
) -> None:
    world.state.inject(on(Fault.CONTENDED, write.operation, "memories/*", times=None))
    world.state.reset()
    began = world.clock.now()
    error = office.error(write.tool, **write.arguments)
    assert (error["error"], error["written"]) == ("unavailable", False)
    assert world.state.count(write.operation, "memories/*") == ATTEMPTS
    assert world.clock.now() > began


@each_write
@pytest.mark.promise("P-IDEMPOTENT")
def test_a_write_whose_answer_was_lost_is_answered_as_if_it_had_come(
    world: World, office: Instance, write: Write
) -> None:
    world.state.inject(on(Fault.UNKNOWN_AFTER, write.operation, "memories/*"))
    answer = office.call(write.tool, **write.arguments)
    told = {name: answer[name] for name in ("status", "changed", "deleted") if name in answer}
    assert told in ({"status": "stored"}, {"changed": ["content"]}, {"deleted": True})
