"""Each write, with each fault that S3 can show, at each of its requests: then recover.

The scenario runs once without a fault to count its requests; then once for every request and every fault that this
request can meet. What the caller was told must be true, and saying the same again must lead to the same end.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lodestore.errors import LodestoreError
from tests.faults.hostile_store import Crash, Fault, FaultyStore, Operation, at, possible_faults
from tests.services.world import Answer, Instance, World, rows

Arguments = dict[str, object]
# What a write has at least, where it is less than ten: a forget of what is gone only reads.
LEAST_POINTS = {"forget-again": 3}


@dataclass(frozen=True)
class Scenario:
    """One write after a beginning; `arguments` may hold the id that the beginning gave."""

    name: str
    tool: str
    begin: Callable[[Instance], Arguments]


def _nothing(arguments: Arguments) -> Callable[[Instance], Arguments]:
    return lambda _: arguments


def _stored(arguments: Callable[[str], Arguments]) -> Callable[[Instance], Arguments]:
    return lambda instance: arguments(instance.stored("The office is in Oslo", tags=["old"]))


def _forgotten(instance: Instance) -> Arguments:
    memory_id = instance.stored("The office is in Oslo", tags=["old"])
    instance.call("forget", id=memory_id)
    return {"content": "The office is in Oslo"}


def _two(arguments: Callable[[str, str], Arguments]) -> Callable[[Instance], Arguments]:
    return lambda instance: arguments(
        instance.stored("The office is in Oslo"), instance.stored("The office is in Bergen")
    )


def superseding(arguments: Callable[[str], Arguments]) -> Callable[[Instance], Arguments]:
    def begin(instance: Instance) -> Arguments:
        old = instance.stored("The office is in Oslo")
        return arguments(instance.stored("The office is in Bergen", supersedes=[old]))

    return begin


def _gone(instance: Instance) -> Arguments:
    memory_id = instance.stored("The office is in Oslo")
    instance.call("forget", id=memory_id)
    return {"id": memory_id}


SCENARIOS = [
    Scenario("remember", "remember", _nothing({"content": "The office is in Oslo"})),
    Scenario(
        "remember-with-key",
        "remember",
        _nothing({"content": "The office is in Oslo", "idempotency_key": "k"}),
    ),
    Scenario(
        "remember-again", "remember", _stored(lambda _: {"content": "The office is in Oslo", "tags": ["new"]})
    ),
    Scenario("remember-after-forget", "remember", _forgotten),
    Scenario("remember-own-id", "remember", _nothing({"content": "The office is in Oslo", "id": "own"})),
    Scenario(
        "supersede", "remember", _stored(lambda i: {"content": "The office is in Bergen", "supersedes": [i]})
    ),
    Scenario("update", "update_memory", _stored(lambda i: {"id": i, "content": "The office is in Bergen"})),
    Scenario(
        "update-supersedes", "update_memory", _two(lambda one, other: {"id": other, "supersedes": [one]})
    ),
    Scenario(
        "withdraw-supersedes", "update_memory", superseding(lambda i: {"id": i, "clear": ["supersedes"]})
    ),
    Scenario("forget", "forget", _stored(lambda i: {"id": i, "reason": "moved"})),
    Scenario("forget-successor", "forget", superseding(lambda i: {"id": i})),
    Scenario("forget-again", "forget", _gone),
]


def state_of(world: World) -> list[Answer]:
    """Everything that a caller can see, but for what differs between two runs by design."""
    answer = world.instance().call("list_memories", status="all", limit=100)
    drop = {"age", "updated_at", "created_at", "version"}
    seen = [{k: v for k, v in row.items() if k not in drop} for row in rows(answer, "memories")]
    return sorted(seen, key=lambda row: str(row["id"]))


def clean_run(folder: Path, scenario: Scenario) -> tuple[list[Answer], dict[str, list[Operation]]]:
    """The end without a fault, and the operations of the write on each store in order."""
    world = World(folder)
    instance = world.instance()
    arguments = scenario.begin(instance)
    before = {"state": world.state.count(), "index": world.index.count()}
    instance.call(scenario.tool, **arguments)
    stores = {"state": world.state, "index": world.index}
    sent = {name: [r.operation for r in store.requests[before[name] :]] for name, store in stores.items()}
    end = state_of(world)
    world.close()
    return end, sent


def points(sent: dict[str, list[Operation]]) -> Iterator[tuple[str, int, Fault]]:
    """Every request of a step, with every fault that it can meet."""
    for store, operations in sent.items():
        for offset, operation in enumerate(operations, start=1):
            for fault in sorted(possible_faults(operation), key=lambda f: f.name):
                yield store, offset, fault


def attempt(world: World, instance: Instance, scenario: Scenario, arguments: Arguments) -> Answer | None:
    """The answer or the error; None where the process died."""
    try:
        return instance.call(scenario.tool, **arguments)
    except LodestoreError as error:
        return error.to_dict()
    except Crash:
        world.state.revive()
        world.index.revive()
        return None


@pytest.mark.case("B19", "B80")
@pytest.mark.promise("P-DURABLE", "P-IDEMPOTENT", "P-NO-LOST-UPDATE", "P-SILENT-NEVER")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_whatever_fails_wherever_the_answer_is_true_and_a_repeat_leads_to_the_same_end(
    folder: Path, scenario: Scenario
) -> None:
    assert visit(folder, scenario).total() >= LEAST_POINTS.get(scenario.name, 10)


def visit(folder: Path, scenario: Scenario) -> Counter[str]:
    """Each fault point of the write: how many there were, by fault. AssertionError where one of them went wrong."""
    end, sent = clean_run(folder / "clean", scenario)
    visited: Counter[str] = Counter()
    for store_name, offset, fault in points(sent):
        visited[fault.name] += 1
        label = f"{scenario.name}: {fault.name} at request {offset} on {store_name}"
        world = World(folder / str(visited.total()))
        instance = world.instance()
        arguments = scenario.begin(instance)
        before = state_of(world)
        store: FaultyStore = getattr(world, store_name)
        store.inject(at(store.count() + offset, fault))
        answer = attempt(world, instance, scenario, arguments)
        store.heal()
        check_answer(answer, before, end, state_of(world), label)
        store.land_late()
        repeated = attempt(world, world.instance(), scenario, arguments)
        assert repeated is not None
        assert "error" not in repeated, f"{label}: the repeat answered {json.dumps(repeated)}"
        assert state_of(world) == end, label
        assert_markers(world, label)
        world.close()
    return visited


def check_answer(
    answer: Answer | None, before: list[Answer], end: list[Answer], seen: list[Answer], label: str
) -> None:
    """What was told is what a fresh process sees."""
    told = "crash" if answer is None else str(answer.get("written", "success"))
    allowed = {
        "success": [end],
        "True": [end],
        "False": [before],
        "unknown": [before, end],
        "crash": [before, end],
    }[told]
    # A successor counts with its own PUT; the note on the superseded one may follow with the repeat.
    assert _without_notes(seen) in [_without_notes(state) for state in allowed], (
        f"{label}: told {told}, and seen {seen}"
    )


def _without_notes(state: list[Answer]) -> list[Answer]:
    return [{key: value for key, value in row.items() if key != "superseded_by"} for row in state]


def assert_markers(world: World, label: str) -> None:
    """Every record has a marker at or above its revision, or an indexer would never hear of it."""
    records = [entry.key for page in world.state.inner.list("memories/acme/") for entry in page.entries]
    markers = [entry.key for page in world.index.inner.list("pending/acme/") for entry in page.entries]
    for key in records:
        memory_id = key.rpartition("/")[2].removesuffix(".json")
        body = json.loads(world.state.inner.get(key).body)  # type: ignore[union-attr]
        own = [marker.rpartition("/")[2] for marker in markers if marker.endswith(f"~{memory_id}")]
        assert any(marker[:26] >= body["revision"] for marker in own), f"{label}: no marker for {memory_id}"
