"""Upkeep of one tenant and of all: what is done, in which order, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.manifest import RETIRED_FOR
from lodestore.format import keys
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services import dispatch
from lodestore.services.dispatch import Dispatch
from lodestore.services.merge_plan import FAN_IN
from tests.faults.hostile_store import Fault, on
from tests.services.index_truth import indexed, manifest_of, segments_of, shown_by_index, truth_of
from tests.services.world import Instance, World

MANIFEST = keys.manifest("acme")


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def dispatches(world: World) -> Dispatch:
    """The dispatcher of a fresh process."""
    return world.instance().lodestore.dispatch


def notes_of(world: World) -> set[str]:
    return {entry.key for page in world.index.inner.list(keys.DUE) for entry in page.entries}


def test_the_first_run_of_a_tenant_looks_at_all_of_its_truth(world: World, acme: Instance) -> None:
    acme.stored("The office is in Oslo")
    done = world.instance().lodestore.upkeep.index("acme")
    assert done.rebuilt is not None
    assert (done.rebuilt.objects, done.rebuilt.generation, done.rows) == (1, 1, 0)
    acme.stored("Standup is at nine")
    done = world.instance().lodestore.upkeep.index("acme")
    assert (done.rebuilt, done.rows, done.pending) == (None, 1, 2)


def test_a_small_merge_follows_the_swap_and_a_failed_one_does_not_fail_what_was_indexed(
    world: World, acme: Instance
) -> None:
    upkeep = world.instance().lodestore.upkeep
    for number in range(FAN_IN - 1):
        acme.stored(f"statement number {number}")
        upkeep.index("acme")
    acme.stored("the last statement")
    world.index.inject(on(Fault.UNAVAILABLE, "create", keys.segments_of("acme") + "*", skip=1))
    done = upkeep.index("acme")
    assert (done.rows, done.merges, done.merge_failed) == (1, 0, True)
    assert world.meter.counts["merge_failed"] == 1
    done = upkeep.index("acme")
    assert (done.rows, done.merges, done.merge_failed) == (0, 1, False)
    assert shown_by_index(world) == truth_of(world)


def test_an_orphan_marker_of_a_tenant_without_memories_is_settled_in_time(world: World) -> None:
    world.index.inner.create(keys.pending("acme", "01KK83E8E0ZZZZZZZZZZZZZZZZ", "never-was"), b"")
    dispatches(world).run()
    world.clock.advance(timedelta(hours=2))
    ((_, done),) = dispatches(world).run().done
    assert done.markers_deleted == 1
    assert dispatches(world).run().done == ()


def test_who_retires_segments_notes_the_tenant_and_the_hour_is_not_missed(
    world: World, acme: Instance
) -> None:
    for number in range(FAN_IN):
        acme.stored(f"statement number {number}")
        indexed(world)
    (note,) = notes_of(world)
    assert note == "due/2026-03-09T02/acme"
    # Markers go with the next run, and after that nothing is pending.
    world.clock.advance(timedelta(minutes=5))
    dispatches(world).run()
    assert dispatches(world).run().done == ()
    world.clock.advance(RETIRED_FOR)
    assert dispatches(world).run().done == ()
    world.clock.advance(RETIRED_FOR)
    ((tenant, done),) = dispatches(world).run().done
    assert done.collected is not None
    assert (tenant, done.collected.deleted) == ("acme", FAN_IN)
    assert len(segments_of(world)) == 1
    assert notes_of(world) == set()
    assert dispatches(world).run().done == ()


@pytest.mark.promise("P-SILENT-NEVER")
def test_one_tenants_failure_does_not_stop_anothers_upkeep_and_is_said(world: World) -> None:
    for tenant in ("acme", "bolt", "cask"):
        world.instance(tenant).stored("The office is in Oslo")
    world.state.inject(on(Fault.UNAVAILABLE, "get", "memories/bolt/*", times=None))
    done = dispatches(world).run()
    assert [tenant for tenant, _ in done.done] == ["acme", "cask"]
    assert [(failure.tenant, failure.kind) for failure in done.failed] == [("bolt", "StoreUnavailable")]
    world.state.heal()
    assert not dispatches(world).run().failed
    assert shown_by_index(world, "bolt") == truth_of(world, "bolt")


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_listing_that_fails_fails_the_run(world: World) -> None:
    world.index.inject(on(Fault.UNAVAILABLE, "list"))
    with pytest.raises(StoreUnavailable):
        dispatches(world).run()


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.promise("P-SILENT-NEVER")
def test_a_run_ends_in_time_and_says_what_it_did_not_reach(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tenant in ("acme", "bolt", "cask"):
        world.instance(tenant).stored("The office is in Oslo")
    assert (dispatches(world).run(seconds=0).left, dispatches(world).run(seconds=0).done) == (3, ())
    monkeypatch.setattr(dispatch, "TENANTS_MOST", 2)
    done = dispatches(world).run()
    assert ([tenant for tenant, _ in done.done], done.complete) == (["acme", "bolt"], False)


@pytest.mark.promise("P-TRUTH")
@pytest.mark.parametrize("lost", ["manifest", "segment"])
def test_a_run_over_everyone_repairs_an_index_that_was_lost(world: World, acme: Instance, lost: str) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    world.clock.advance(timedelta(minutes=5))
    indexed(world)
    key = MANIFEST if lost == "manifest" else keys.segment("acme", *segments_of(world))
    world.index.inner.delete(key)
    assert dispatches(world).run().done == ()
    ((_, done),) = dispatches(world).run(everyone=True).done
    assert done.rebuilt is not None
    assert shown_by_index(world) == truth_of(world)
    assert world.instance().hits("office") == ["The office is in Oslo"]


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.promise("P-TRUTH")
@pytest.mark.parametrize("lost", ["manifest", "manifest-unreadable", "segment", "segment-cut"])
def test_a_reader_that_meets_a_damaged_index_says_so_and_queues_its_rebuild(
    world: World, acme: Instance, lost: str
) -> None:
    acme.stored("The office is in Oslo")
    holds_it_all = world.instance().lodestore
    for _ in range(2):
        holds_it_all.upkeep.index("acme")
        world.clock.advance(timedelta(minutes=5))
    holds_it_all.dispatch.run()
    key = MANIFEST if lost.startswith("manifest") else keys.segment("acme", *segments_of(world))
    world.index.inner.delete(key)
    if "-" in lost:
        world.index.inner.create(key, b"cut short")
    assert holds_it_all.dispatch.run().done == ()

    answer = world.instance().call("recall", query="office")
    freshness = answer["freshness"]
    assert isinstance(freshness, dict)
    assert freshness["degraded"] is True
    assert world.meter.counts["index_degraded"] == 1

    # Also by a process that holds in memory what is lost.
    ((_, done),) = holds_it_all.dispatch.run().done
    assert done.rebuilt is not None
    assert shown_by_index(world) == truth_of(world)
    answer = world.instance().call("recall", query="office")
    assert answer["count"] == 1
    assert answer["freshness"] == freshness | {"degraded": False, "generation": done.rebuilt.generation}


def test_a_tenant_that_never_had_anything_is_not_degraded(world: World, acme: Instance) -> None:
    freshness = acme.call("recall", query="office")["freshness"]
    assert isinstance(freshness, dict)
    assert freshness["degraded"] is False
    acme.stored("The office is in Oslo")
    freshness = acme.call("recall", query="office")["freshness"]
    assert isinstance(freshness, dict)
    assert freshness["degraded"] is False
    assert notes_of(world) == set()


@pytest.mark.promise("P-TENANT")
def test_names_that_no_tenant_can_have_are_passed_over(world: World) -> None:
    for key in ("pending/-acme/x", "due/2026-03-09T00/-acme", "due/2026-03-09T00/acme/deep"):
        world.index.inner.create(key, b"")
    done = dispatches(world).run(everyone=True)
    assert (done.done, done.failed) == ((), ())


def test_an_unchanged_tenant_costs_few_requests_and_writes_nothing(world: World, acme: Instance) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    world.clock.advance(timedelta(minutes=5))
    upkeep = world.instance().lodestore.upkeep
    upkeep.run("acme")
    world.index.reset()
    world.state.reset()
    upkeep.run("acme")
    assert [r.operation for r in world.index.requests] == ["get", "list", "get", "get", "list"]
    assert world.state.requests == ()
    assert manifest_of(world).manifest is not None
