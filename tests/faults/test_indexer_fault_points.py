"""The indexer, a merge, a rebuild, a collection: each fault that S3 can show at each of their requests, then recover.

A scenario runs once without a fault to count its requests; then once for every request and every fault that this
request can meet, on a copy of the same beginning. Whatever happened: no answered write is ever invisible, not to a
fresh reader and not to one that loaded its manifest before; every answer is that of a world without an index; and
running again leads to an index that shows exactly the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.bootstrap import Lodestore
from lodestore.domain.manifest import RETIRED_FOR, UNLISTED_FOR
from lodestore.format import keys
from lodestore.ports.object_store import Found
from lodestore.services.indexing import MARKER_GRACE, MARKER_LAG
from lodestore.services.merge_plan import FAN_IN, SMALL_ROWS
from lodestore.services.upkeep import FAILURES
from tests.faults.hostile_store import Crash, Fault, FaultyStore, Operation, at, possible_faults
from tests.services.index_truth import (
    Shown,
    answers_of,
    contents_of,
    in_memory,
    manifest_of,
    markers_of,
    segments_of,
    shown_by_index,
    shown_by_view,
    truth_of,
    view_with,
    without_index,
)
from tests.services.stand_in_embedder import StandInEmbedder
from tests.services.world import World
from tests.stores.memory_store import Contents

QUERY = "statement office changed badge"
SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Scenario:
    """A beginning, and what runs over it.

    damaged    the index is unreadable at first, and says so to every reader
    embedder   what runs over it, and everyone after, has one
    """

    name: str
    begin: Callable[[World], None]
    act: Callable[[Lodestore], object]
    damaged: bool = False
    embedder: bool = False


def _index(world: World) -> None:
    world.instance().lodestore.upkeep.index("acme")


def _written(world: World) -> None:
    """Every kind of write, none of them indexed."""
    acme = world.instance()
    first = acme.stored("statement about the office")
    acme.call("update_memory", id=first, content="changed statement about the office")
    gone = acme.stored("statement about a badge")
    acme.call("forget", id=gone)
    acme.stored("statement instead", supersedes=[first])


def _changed(world: World) -> None:
    """An index whose markers may go, and changes that it does not show."""
    acme = world.instance()
    ids = [acme.stored(f"statement {number} about the office") for number in range(3)]
    _index(world)
    world.clock.advance(2 * MARKER_LAG)
    acme.call("update_memory", id=ids[0], content="changed statement 0")
    acme.call("forget", id=ids[1])
    # A write that never landed, long ago.
    world.index.inner.create(keys.pending("acme", "01KK83E8E0ZZZZZZZZZZZZZZZZ", "never-was"), b"")
    world.clock.advance(MARKER_GRACE)
    acme.stored("one statement more")


def _full_tier(world: World) -> None:
    """As many segments as are merged, with dead rows and a stub among them."""
    acme = world.instance()
    ids = []
    for number in range(FAN_IN):
        ids.append(acme.stored(f"statement {number} about the office"))
        if number == 3:
            acme.call("update_memory", id=ids[0], content="changed statement 0")
            acme.call("forget", id=ids[1])
        world.instance().lodestore.indexing.run("acme")
    world.clock.advance(2 * MARKER_LAG)


def _garbage(world: World) -> None:
    """A merged index an hour later, and a segment that was never listed."""
    _full_tier(world)
    world.clock.advance(timedelta(hours=1))
    world.instance().lodestore.merging.step("acme", SMALL_ROWS)
    found = world.index.inner.get(keys.segment("acme", sorted(segments_of(world))[0]))
    assert isinstance(found, Found)
    world.index.inner.create(keys.segment("acme", "01KK83E8E0ZZZZZZZZZZZZZZZZ"), found.body)
    world.clock.advance(RETIRED_FOR + UNLISTED_FOR)


def _restored(world: World) -> None:
    """An index, a change that it does not show, and a forgotten memory that a hand put back."""
    acme = world.instance()
    badge = acme.stored("statement about a badge")
    old = world.state.inner.get(keys.memory("acme", badge))
    acme.call("forget", id=badge)
    acme.stored("statement about the office")
    _index(world)
    world.clock.advance(2 * MARKER_LAG)
    _index(world)
    acme.stored("one statement more")
    stub = world.state.inner.get(keys.memory("acme", badge))
    assert isinstance(old, Found)
    assert isinstance(stub, Found)
    world.state.inner.replace(keys.memory("acme", badge), old.body, expected=stub.etag)


def _lost(world: World) -> None:
    """The same, and the manifest can't be read."""
    _restored(world)
    world.index.inner.delete(keys.manifest("acme"))
    world.index.inner.create(keys.manifest("acme"), b"{")


def _noted(world: World) -> None:
    """A merged index whose retired segments may go, as a note in `due/` says."""
    _full_tier(world)
    _index(world)
    assert any(page.entries for page in world.index.inner.list(keys.DUE))
    world.clock.advance(RETIRED_FOR + UNLISTED_FOR)


def _without_vectors(world: World) -> None:
    """An index of memories that were written where there was no embedder."""
    _written(world)
    _index(world)


SCENARIOS = [
    Scenario("index-first", _written, lambda one: one.upkeep.index("acme")),
    Scenario("index-changes", _changed, lambda one: one.indexing.run("acme")),
    Scenario("merge", _full_tier, lambda one: one.merging.step("acme", SMALL_ROWS)),
    Scenario("rebuild", _restored, lambda one: one.rebuilding.run("acme")),
    Scenario("rebuild-unreadable", _lost, lambda one: one.rebuilding.run("acme"), damaged=True),
    Scenario("collect", _garbage, lambda one: one.collection.run("acme")),
    Scenario("upkeep", _full_tier, lambda one: one.upkeep.run("acme")),
    Scenario("maintenance", _changed, lambda one: one.dispatch.run()),
    Scenario("maintenance-of-all", _changed, lambda one: one.dispatch.run(everyone=True)),
    Scenario("due", _noted, lambda one: one.dispatch.run()),
    Scenario("back-fill", _without_vectors, lambda one: one.backfill.run("acme"), embedder=True),
]


class Beginning:
    """A scenario's beginning, to be begun with again and again, and what a run over it sends."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self._embedder = StandInEmbedder() if scenario.embedder else None
        self._world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
        scenario.begin(self._world)
        self.sent = self._clean_run(scenario)

    def again(self) -> World:
        """A world at the beginning."""
        world = in_memory(self._world, contents_of(self._world.state), contents_of(self._world.index))
        world.embedder = self._embedder
        return world

    def close(self) -> None:
        self._world.close()

    def _clean_run(self, scenario: Scenario) -> dict[str, list[Operation]]:
        world = self.again()
        scenario.act(world.instance().lodestore)
        stores = {"state": world.state, "index": world.index}
        world.close()
        return {name: [request.operation for request in store.requests] for name, store in stores.items()}


def points(sent: dict[str, list[Operation]]) -> Iterator[tuple[str, int, Fault]]:
    for store, operations in sent.items():
        for number, operation in enumerate(operations, start=1):
            for fault in sorted(possible_faults(operation), key=lambda f: f.name):
                yield store, number, fault


@pytest.mark.case("B19", "B80")
@pytest.mark.promise("P-READ-YOUR-WRITES", "P-TRUTH", "P-IDEMPOTENT", "P-NO-LOST-UPDATE")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_whatever_fails_wherever_nothing_answered_is_invisible_and_a_repeat_leads_to_the_truth(
    folder: Path, scenario: Scenario
) -> None:
    assert visit(folder, scenario).total() >= 15


def visit(folder: Path, scenario: Scenario) -> Counter[str]:
    """Each fault point of the step: how many there were, by fault. AssertionError where one of them went wrong."""
    beginning = Beginning(folder, scenario)
    visited: Counter[str] = Counter()
    for store_name, number, fault in points(beginning.sent):
        visited[fault.name] += 1
        label = f"{scenario.name}: {fault.name} at request {number} on {store_name}"
        world = beginning.again()
        before = manifest_of(world)
        # A back-fill changes nothing that a caller was told, and may show what it writes when its event comes.
        same = truth_of(world) if scenario.embedder else {}
        store: FaultyStore = getattr(world, store_name)
        store.inject(at(number, fault))
        attempt(world, scenario)
        store.heal()
        world.clock.advance(MARKER_LAG / 2 - SECOND)
        truth = truth_of(world)
        # One that began before the fault, one that begins now.
        for manifest in (before, manifest_of(world)):
            view = view_with(world, manifest)
            assert view.degraded == manifest.invalid <= scenario.damaged, label
            if not view.degraded:
                assert_shown(shown_by_view(view), truth, same, label)
        store.land_late()
        recover(world)
        assert shown_by_index(world) == truth_of(world), label
        assert markers_of(world) == set(), label
        assert_answers(world, label)
        world.close()
    beginning.close()
    return visited


def attempt(world: World, scenario: Scenario) -> None:
    """One run, which may fail or die."""
    try:
        scenario.act(world.instance().lodestore)
    except FAILURES:
        pass
    except Crash:
        world.state.revive()
        world.index.revive()


def recover(world: World) -> None:
    """What runs anyway: the indexer for a new event, a rebuild that an operator repeats, maintenance."""
    _index(world)
    world.instance().lodestore.rebuilding.run("acme")
    for wait in (MARKER_GRACE + MARKER_LAG, RETIRED_FOR + UNLISTED_FOR):
        world.clock.advance(wait)
        world.instance().lodestore.dispatch.run(everyone=True)
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert segments_of(world) == set(manifest.names)


def assert_shown(shown: Shown, truth: Shown, same: Shown, label: str) -> None:
    """Everything that was answered is shown as it was, or as `same` says; what is forgotten, as any of its stubs."""
    for memory_id, (revision, etag, is_stub) in truth.items():
        assert memory_id in shown, f"{label}: {memory_id} is invisible"
        seen = shown[memory_id]
        if seen not in ((revision, etag, is_stub), same.get(memory_id)):
            # A hand put an old object over the stub, or a rebuild has just put the stub back; nobody was told anything.
            assert seen[2], f"{label}: {memory_id} is shown as {seen}"
            assert is_stub or seen[0] > revision, f"{label}: {memory_id} is hidden by {seen}"


def assert_answers(world: World, label: str) -> None:
    bare = without_index(world)
    bare.embedder = world.embedder
    assert answers_of(world.instance(), QUERY) == answers_of(bare.instance(), QUERY), label
    bare.close()
