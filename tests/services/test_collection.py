"""Collection: what nobody lists goes in time, and nothing else ever does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.manifest import RETIRED_FOR, SHORT_LIFE, UNLISTED_FOR
from lodestore.format import keys
from lodestore.services import collection
from lodestore.services.collection import Collection
from lodestore.services.merge_plan import FAN_IN, SMALL_ROWS
from tests.faults.hostile_store import Fault, Request, on
from tests.services.index_truth import indexed, manifest_of, segments_of, shown_by_index, truth_of
from tests.services.world import Instance, World

SECOND = timedelta(seconds=1)
MANIFEST = keys.manifest("acme")


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def collects(world: World) -> Collection:
    """The collector of a fresh process."""
    return world.instance().lodestore.collection


def listed(world: World) -> set[str]:
    manifest = manifest_of(world).manifest
    assert manifest is not None
    return set(manifest.names)


def retired(world: World, acme: Instance, life: timedelta) -> set[str]:
    """Segments that were listed for so long and are merged away; their names."""
    for number in range(FAN_IN):
        acme.stored(f"statement number {number}")
        world.instance().lodestore.indexing.run("acme")
    world.clock.advance(life)
    before = segments_of(world)
    done = world.instance().lodestore.merging.step("acme", SMALL_ROWS)
    assert done is not None
    assert done.listed
    return before


def orphan(world: World) -> str:
    """A segment that was written and never listed."""
    found = world.index.inner.get(keys.segment("acme", sorted(listed(world))[0]))
    name = "01KK83E8E0ZZZZZZZZZZZZZZZZ"
    world.index.inner.create(keys.segment("acme", name), getattr(found, "body", b""))
    return name


@pytest.mark.promise("P-READ-YOUR-WRITES")
@pytest.mark.parametrize("life", [SECOND, SHORT_LIFE + SECOND, timedelta(days=3)], ids=str)
def test_a_retired_segment_stays_for_an_hour_and_then_goes(
    world: World, acme: Instance, life: timedelta
) -> None:
    gone = retired(world, acme, life)
    world.clock.advance(RETIRED_FOR - SECOND)
    assert collects(world).run("acme").deleted == 0
    assert gone < segments_of(world)
    # A short-lived one is not noted, so its own age decides: ten minutes more at most.
    world.clock.advance(SHORT_LIFE + 2 * SECOND)
    done = collects(world).run("acme")
    assert (done.deleted, done.left, done.waiting) == (len(gone), 0, 0)
    assert done.deleted_bytes > 0
    assert segments_of(world) == listed(world)
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_segment_that_was_never_listed_goes_after_the_manifest_was_swapped(
    world: World, acme: Instance
) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    name, generation = orphan(world), manifest_of(world).manifest
    world.clock.advance(UNLISTED_FOR - SECOND)
    assert (collects(world).run("acme").deleted, collects(world).run("acme").waiting) == (0, 1)
    world.clock.advance(2 * SECOND)
    world.index.reset()
    assert collects(world).run("acme").deleted == 1
    writes = [(r.operation, r.key) for r in world.index.requests if r.writes]
    assert writes == [("replace", MANIFEST), ("delete", keys.segment("acme", name))]
    after = manifest_of(world).manifest
    assert generation is not None
    assert after is not None
    assert (after.generation, after.segments[0].name) == (
        generation.generation + 1,
        generation.segments[0].name,
    )


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_an_indexer_that_slept_between_write_and_swap_loses_to_the_collector(
    world: World, acme: Instance
) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    acme.stored("Standup is at nine")
    collector, came = collects(world), list[Request]()

    def asleep(request: Request) -> None:
        world.index.heal()
        came.append(request)
        world.clock.advance(timedelta(days=1))
        assert collector.run("acme").deleted == 1

    world.index.inject(on(asleep, "replace", MANIFEST))
    world.instance().lodestore.indexing.run("acme")
    assert came
    assert listed(world) == segments_of(world)
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("asleep_before", ["get", "replace"])
def test_a_merge_that_slept_before_its_swap_never_lists_what_was_collected(
    world: World, acme: Instance, asleep_before: str
) -> None:
    for number in range(FAN_IN):
        acme.stored(f"statement number {number}")
        world.instance().lodestore.indexing.run("acme")
    collector, written = collects(world), list[Request]()

    def asleep(_: Request) -> None:
        world.index.heal()
        world.clock.advance(timedelta(days=1))
        assert collector.run("acme").deleted == 1

    def rule(request: Request) -> Callable[[Request], None] | None:
        """Between the write of the output and the load before the swap, or the swap itself."""
        if request.matches("create", keys.segments_of("acme") + "*"):
            written.append(request)
        due = request.operation == asleep_before and request.key == MANIFEST
        return asleep if written and due else None

    world.index.inject(rule)
    done = world.instance().lodestore.merging.step("acme", SMALL_ROWS)
    assert done is not None
    assert not done.listed
    assert listed(world) == segments_of(world)
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("fault", [Fault.LOST, Fault.CONTENDED, Fault.UNKNOWN_BEFORE, Fault.UNKNOWN_AFTER])
def test_nothing_is_deleted_unless_the_swap_is_known_to_be_made(
    world: World, acme: Instance, fault: Fault
) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    orphan(world)
    world.clock.advance(2 * UNLISTED_FOR)
    world.index.inject(on(fault, "replace", MANIFEST, times=None))
    done = collects(world).run("acme")
    assert (done.deleted, done.left) == ((1, 0) if fault is Fault.UNKNOWN_AFTER else (0, 1))
    world.index.heal()
    collects(world).run("acme")
    assert listed(world) == segments_of(world)


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.promise("P-SILENT-NEVER")
def test_a_run_deletes_so_many_at_most_and_says_what_is_left(
    world: World, acme: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = retired(world, acme, SHORT_LIFE)
    world.clock.advance(2 * UNLISTED_FOR)
    monkeypatch.setattr(collection, "DELETED_MOST", 5)
    done = collects(world).run("acme")
    assert (done.deleted, done.left) == (5, len(gone) - 5)
    world.index.inject(on(Fault.UNAVAILABLE, "delete"))
    done = collects(world).run("acme")
    assert (done.deleted, done.left) == (len(gone) - 6, 1)
    assert world.meter.counts["segment_left_behind"] == 1
    assert collects(world).run("acme").deleted == 1


def test_a_dry_run_says_what_would_go_and_writes_nothing(world: World, acme: Instance) -> None:
    gone = retired(world, acme, SHORT_LIFE)
    world.clock.advance(2 * UNLISTED_FOR)
    world.index.reset()
    done = collects(world).run("acme", dry_run=True)
    assert (done.dry_run, done.deleted) == (True, len(gone))
    assert not [request for request in world.index.requests if request.writes]


def test_a_tenant_without_garbage_costs_two_requests(world: World, acme: Instance) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    world.index.reset()
    collects(world).run("acme")
    assert [request.operation for request in world.index.requests] == ["get", "list"]


@pytest.mark.promise("P-TRUTH")
@pytest.mark.parametrize("body", [None, b"{"])
def test_without_a_readable_manifest_nothing_is_deleted(
    world: World, acme: Instance, body: bytes | None
) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    world.index.inner.delete(MANIFEST)
    if body is not None:
        world.index.inner.create(MANIFEST, body)
    world.clock.advance(timedelta(days=9))
    assert collects(world).run("acme").deleted == 0
    assert len(segments_of(world)) == 1


@pytest.mark.promise("P-TENANT")
def test_foreign_objects_and_other_tenants_segments_stay(world: World, acme: Instance) -> None:
    acme.stored("The office is in Oslo")
    world.instance("acme-corp").stored("The office is in Rome")
    indexed(world)
    indexed(world, "acme-corp")
    foreign = [
        f"{keys.segments_of('acme')}notes.txt",
        f"{keys.segments_of('acme')}deep/{orphan(world)}.safetensors",
        f"{keys.segments_of('acme')}{'l' * 26}.safetensors",
    ]
    for key in foreign:
        world.index.inner.create(key, b"")
    others = segments_of(world, "acme-corp")
    world.clock.advance(timedelta(days=9))
    assert collects(world).run("acme").deleted == 1
    assert segments_of(world, "acme-corp") == others
    kept = {entry.key for page in world.index.inner.list(keys.segments_of("acme")) for entry in page.entries}
    assert set(foreign) < kept
