"""Merging: fewer segments, the same answers, whatever others do meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.manifest import RETIRED_FOR, SHORT_LIFE
from lodestore.format import keys
from lodestore.services.indexing import MARKER_LAG, Contended
from lodestore.services.merge_plan import FAN_IN, SMALL_ROWS
from lodestore.services.merging import Merging
from lodestore.services.segments import LISTABLE_FOR
from tests.faults.hostile_store import Fault, Operation, Request, on
from tests.services.index_truth import (
    answers_of,
    manifest_of,
    markers_of,
    segments_of,
    shown_by_index,
    shown_by_view,
    truth_of,
    view_with,
)
from tests.services.world import Instance, World

SECOND = timedelta(seconds=1)
MANIFEST = keys.manifest("acme")
QUERIES = ("statement", "changed", "number")


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def merging(world: World) -> Merging:
    """The merges of a fresh process."""
    return world.instance().lodestore.merging


def index(world: World) -> None:
    world.instance().lodestore.indexing.run("acme")


def full_tier(world: World, acme: Instance) -> list[str]:
    """As many segments as make a tier full, with replaced rows and a stub among them; the ids."""
    ids = []
    for number in range(FAN_IN):
        ids.append(acme.stored(f"statement number {number}"))
        if number == 3:
            acme.call("update_memory", id=ids[0], content="changed number 0")
            acme.call("forget", id=ids[1])
        index(world)
    return ids


def meanwhile(world: World, do: Callable[[], object]) -> Callable[[Request], None]:
    def act(_: Request) -> None:
        world.index.heal()
        do()

    return act


@pytest.mark.promise("P-TRUTH")
def test_a_full_tier_becomes_one_segment_and_no_answer_changes(world: World, acme: Instance) -> None:
    full_tier(world, acme)
    before = answers_of(world.instance(), *QUERIES)
    done = merging(world).step("acme", SMALL_ROWS)
    assert done is not None
    assert (done.listed, len(done.retired)) == (True, FAN_IN)
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert manifest.names == (done.name,)
    assert manifest.segments[0].dead == ()
    assert shown_by_index(world) == truth_of(world)
    assert answers_of(world.instance(), *QUERIES) == before
    assert merging(world).step("acme", SMALL_ROWS) is None
    assert len(segments_of(world)) == FAN_IN + 1


def test_segments_without_a_living_row_are_dropped_and_nothing_is_written_for_them(
    world: World, acme: Instance
) -> None:
    ids = full_tier(world, acme)
    for gone in ids:
        world.state.inner.delete(keys.memory("acme", gone))
    # The stub that is no longer there stays a row: it still hides what it superseded.
    stub = world.instance().lodestore.indexing.run("acme", ids)
    assert stub.killed == FAN_IN - 1
    world.index.reset()
    done = merging(world).step("acme", SMALL_ROWS)
    assert done is not None
    assert done.rows == 1
    memory_id = acme.stored("one that changes")
    for number in range(FAN_IN):
        acme.call("update_memory", id=memory_id, content=f"changed number {number}")
        index(world)
    world.state.inner.delete(keys.memory("acme", memory_id))
    world.instance().lodestore.indexing.run("acme", [memory_id])
    merging(world).step("acme", SMALL_ROWS)
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert [(entry.rows, entry.dead) for entry in manifest.segments] == [(1, ())]


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("when", [("create", "index/acme/segments/*"), ("replace", MANIFEST)])
def test_rows_that_die_while_a_merge_is_under_way_are_dead_in_its_output(
    world: World, acme: Instance, when: tuple[Operation, str]
) -> None:
    ids = full_tier(world, acme)

    def others_write() -> None:
        acme.call("update_memory", id=ids[2], content="changed number 2")
        acme.call("forget", id=ids[4])
        world.state.inner.delete(keys.memory("acme", ids[5]))
        world.instance().lodestore.indexing.run("acme", [ids[5]])

    world.index.inject(on(meanwhile(world, others_write), *when))
    done = merging(world).step("acme", SMALL_ROWS)
    assert done is not None
    assert done.listed
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert len(next(entry for entry in manifest.segments if entry.name == done.name).dead) == 3
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_merge_whose_input_is_gone_gives_up_and_what_it_wrote_is_listed_by_nobody(
    world: World, acme: Instance
) -> None:
    full_tier(world, acme)
    other = merging(world)
    world.index.inject(
        on(meanwhile(world, lambda: other.step("acme", SMALL_ROWS)), "create", "index/acme/segments/*")
    )
    done = merging(world).step("acme", SMALL_ROWS)
    assert done is not None
    assert not done.listed
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert len(manifest.names) == 1
    assert done.name not in manifest.names
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_merge_that_took_too_long_is_not_listed_for_its_output_may_be_collected(
    world: World, acme: Instance
) -> None:
    full_tier(world, acme)
    slow = meanwhile(world, lambda: world.clock.advance(LISTABLE_FOR + SECOND))
    # Between the write of the output and the load before the swap.
    world.index.inject(on(slow, "get", MANIFEST, skip=1))
    done = merging(world).step("acme", SMALL_ROWS)
    assert done is not None
    assert not done.listed
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.parametrize(
    "fault", [Fault.UNKNOWN_AFTER, Fault.UNKNOWN_BEFORE, Fault.UNKNOWN_LATE, Fault.CONTENDED]
)
def test_a_merge_whose_swap_has_no_clear_answer_is_made_once(
    world: World, acme: Instance, fault: Fault
) -> None:
    full_tier(world, acme)
    world.index.inject(on(fault, "replace", MANIFEST))
    done = merging(world).step("acme", SMALL_ROWS)
    world.index.land_late()
    assert done is not None
    assert done.listed
    assert shown_by_index(world) == truth_of(world)
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert manifest.names == (done.name,)


@pytest.mark.promise("P-BOUNDED")
def test_a_merge_that_never_wins_gives_up(world: World, acme: Instance) -> None:
    full_tier(world, acme)
    world.index.inject(on(Fault.LOST, "replace", MANIFEST, times=None))
    with pytest.raises(Contended):
        merging(world).step("acme", SMALL_ROWS)
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_markers_of_merged_rows_go_no_earlier_than_without_the_merge(world: World, acme: Instance) -> None:
    full_tier(world, acme)
    world.clock.advance(timedelta(seconds=40))
    before = manifest_of(world)
    last = acme.stored("statement number 99")
    index(world)
    merging(world).step("acme", SMALL_ROWS)
    world.clock.advance(timedelta(seconds=25))
    index(world)
    # A reader that loaded the manifest before the last memory was indexed lists the markers only now.
    assert last in {marker[27:] for marker in markers_of(world)}
    assert shown_by_view(view_with(world, before)) == truth_of(world)
    world.clock.advance(MARKER_LAG)
    index(world)
    assert markers_of(world) == set()


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_an_output_counts_as_listed_since_the_youngest_of_its_inputs_was(
    world: World, acme: Instance
) -> None:
    full_tier(world, acme)
    manifest = manifest_of(world)
    assert manifest.manifest is not None
    world.clock.advance(MARKER_LAG * 2)
    merging(world).step("acme", SMALL_ROWS)
    merged = manifest_of(world).manifest
    assert merged is not None
    since = merged.segments[0].listed_at
    assert since is not None
    assert manifest.stored_at is not None
    assert abs(since - manifest.stored_at) < timedelta(milliseconds=1)
    # So the markers need not wait for another minute.
    index(world)
    assert markers_of(world) == set()


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_a_reader_of_an_older_manifest_still_finds_every_segment(world: World, acme: Instance) -> None:
    full_tier(world, acme)
    world.clock.advance(SHORT_LIFE + SECOND)
    before = manifest_of(world)
    merging(world).step("acme", SMALL_ROWS)
    after = manifest_of(world).manifest
    assert after is not None
    assert {item.name for item in after.retired} == set(before.manifest.names if before.manifest else ())
    world.clock.advance(RETIRED_FOR - SECOND)
    world.instance().lodestore.collection.run("acme")
    # Only the segments are looked at here; a recall this old would have ended long ago.
    assert set(before.manifest.names if before.manifest else ()) <= segments_of(world)


@pytest.mark.promise("P-FLAT-WRITES")
def test_indexing_by_batches_writes_a_few_times_what_one_segment_of_all_would_take(
    world: World, acme: Instance
) -> None:
    """300 in batches of 10, manifests and all; tests/unit/services/test_write_cost.py has 10,000 in batches of 100."""
    upkeep = world.instance().lodestore.upkeep
    for number in range(300):
        acme.stored(f"statement number {number} is about item {number % 97} and place {number % 13}")
        if number % 10 == 9:
            upkeep.index("acme")
    sent = sum(r.sent for r in world.index.requests if r.writes and r.key.startswith("index/"))
    world.instance().lodestore.rebuilding.run("acme")
    manifest = manifest_of(world).manifest
    assert manifest is not None
    (one,) = manifest.segments
    assert one.rows == 300
    assert sent <= 6 * one.size


@pytest.mark.promise("P-FLAT-WRITES")
def test_indexing_one_memory_writes_less_than_20_kb_in_a_tenant_that_changes(
    world: World, acme: Instance
) -> None:
    upkeep = world.instance().lodestore.upkeep
    for number in range(300):
        memory_id = acme.stored(f"statement number {number}")
        if number % 7 == 0:
            acme.call("update_memory", id=memory_id, content=f"changed number {number}")
        if number % 3 == 0:
            world.clock.advance(timedelta(seconds=20))
            upkeep.index("acme")
    acme.stored("one more statement")
    world.index.reset()
    world.instance().lodestore.indexing.run("acme")
    assert sum(request.sent for request in world.index.requests) < 10_000
