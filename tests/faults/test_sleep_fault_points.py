"""Sweep, expiry, pruning, purge, folding, erasing: each fault at each of their requests, then the same without one.

A scenario runs once clean to count its requests; then once for every request and every fault that this request can
meet. Whatever happened: a second run ends where a clean one ends: the same memories, the same stubs and their copies,
the same counts, no word of what was forgotten, and an index that shows exactly the truth.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.bootstrap import Lodestore
from lodestore.errors import Unavailable
from lodestore.format import keys
from lodestore.ports.object_store import Found, StoreUnavailable, Version
from lodestore.services.upkeep_steps import EXPIRE, FOLD, PRUNE, PURGE, SWEEP
from tests.faults.hostile_store import Crash, FaultyStore, at
from tests.faults.test_indexer_fault_points import points
from tests.services.index_truth import contents_of, in_memory, shown_by_index, truth_of
from tests.services.world import World, rows
from tests.stores.memory_store import Contents

WORD = b"XYZZYPLUGH"
WINDOW = timedelta(hours=24)
POLICIES = json.dumps(
    [
        {"name": "goes", "tags": ["old"], "older_than_days": 0.5, "forget": True},
        {"name": "may go", "tags": ["stale"], "unused_for_days": 0.5},
    ]
)


@dataclass(frozen=True)
class Scenario:
    name: str
    act: Callable[[Lodestore], object]


def _step(*steps: str) -> Callable[[Lodestore], object]:
    def act(one: Lodestore) -> object:
        report = one.sleeping.run("acme", steps).report
        if report.failure is not None:
            raise Unavailable(report.failure)
        return report

    return act


SCENARIOS = [
    Scenario("sweep", _step(SWEEP)),
    Scenario("expire", _step(EXPIRE)),
    Scenario("prune", _step(PRUNE)),
    Scenario("purge", _step(PURGE)),
    Scenario("fold", _step(FOLD)),
    Scenario("erase", lambda one: one.erasing.run("acme")),
]


def _begin(world: World) -> None:
    """Something to do for every step."""
    acme = world.instance("acme")
    kept = acme.stored("the office is in Oslo")
    word = acme.stored(f"the word is {WORD.decode()}")
    acme.call("memory_feedback", id=kept, useful=True)
    acme.call("memory_feedback", id=word, useful=True)
    acme.stored("a visit", ttl_days=1 / 1440)
    acme.stored("an event of long ago", tags=["old"])
    acme.stored("an event of long ago that may go", tags=["stale"])
    world.instance().lodestore.upkeep.index("acme")
    acme.call("forget", id=word)
    hand = acme.stored("put back by hand")
    old = world.state.inner.get(keys.memory("acme", hand))
    acme.call("forget", id=hand)
    world.instance().lodestore.upkeep.index("acme")
    world.clock.advance(WINDOW)
    stub = world.state.inner.get(keys.memory("acme", hand))
    assert isinstance(old, Found)
    assert isinstance(stub, Found)
    world.state.inner.replace(keys.memory("acme", hand), old.body, expected=stub.etag)
    world.state.inner.delete(keys.tombstone("acme", word))
    world.instance("acme-corp").stored("the office of another")


def _ends(world: World, name: str) -> object:
    """The final state, without what differs from run to run."""
    truth = truth_of(world)
    assert shown_by_index(world) == truth
    copies = {e.key for page in world.state.inner.list(keys.tombstones_of("acme")) for e in page.entries}
    totals = world.instance().lodestore.counts.totals("acme")
    versions = list(world.state.inner.versions(keys.memories_of("acme")))
    assert not any(WORD in _body(world, version) for version in versions)
    deltas = [e.key for page in world.index.inner.list(keys.deltas_of("acme")) for e in page.entries]
    other = sorted(truth_of(world, "acme-corp"))
    stubs = sorted((memory_id, stub) for memory_id, (_, _, stub) in truth.items())
    return (
        name,
        stubs,
        sorted(copies),
        totals,
        _fed_back(world),
        _proposed(world),
        sorted({version.key for version in versions}),
        deltas,
        other,
    )


def _proposed(world: World) -> list[tuple[str, ...]]:
    """The members of all proposals, whose ids follow from them."""
    proposals = world.instance().lodestore.proposals.all("acme").values()
    return sorted(stored.proposal.member_ids for stored in proposals)


def _fed_back(world: World) -> set[str]:
    """The memories that the index shows with feedback."""
    answer = world.instance("acme").call("recall", query="office", mode="exploratory", explain=True)
    hits = rows(answer, "hits")
    return {str(hit["id"]) for hit in hits if dict(hit["explain"])["feedback"] > 0}  # type: ignore[call-overload]


def _body(world: World, version: Version) -> bytes:
    found = world.state.inner.get_version(version.key, version.version_id)
    return found.body if isinstance(found, Found) else b""


def _instance(world: World) -> Lodestore:
    return world.instance(variables={"PRUNE": POLICIES}).lodestore


def _finish(world: World, scenario: Scenario) -> None:
    """The same step again, then everything, until the index has settled."""
    scenario.act(_instance(world))
    for _ in range(2):
        _instance(world).sleeping.run("acme")
        world.clock.advance(WINDOW)


@pytest.mark.promise("P-IDEMPOTENT", "P-NO-LOST-UPDATE", "P-FORGOTTEN")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_killed_between_any_two_requests_and_run_again_the_final_state_is_the_same(
    folder: Path, scenario: Scenario
) -> None:
    first = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
    _begin(first)

    def again() -> World:
        return in_memory(first, contents_of(first.state), contents_of(first.index))

    clean = again()
    scenario.act(_instance(clean))
    sent = {
        name: [request.operation for request in store.requests]
        for name, store in (("state", clean.state), ("index", clean.index))
    }
    _finish(clean, scenario)
    expected = _ends(clean, scenario.name)
    clean.close()
    visited = 0
    for store_name, number, fault in points(sent):
        visited += 1
        world = again()
        store: FaultyStore = getattr(world, store_name)
        store.inject(at(number, fault))
        try:
            scenario.act(_instance(world))
        except (StoreUnavailable, Unavailable):
            pass
        except Crash:
            world.state.revive()
            world.index.revive()
        store.heal()
        store.land_late()
        _finish(world, scenario)
        assert _ends(world, scenario.name) == expected, f"{fault.name} at request {number} on {store_name}"
        world.close()
    first.close()
    assert visited >= 10
