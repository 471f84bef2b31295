"""A rebuild while others write, index, merge, rebuild and collect: nothing that they did is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.format import keys
from lodestore.services import rebuilding
from lodestore.services.indexing import MARKER_LAG, Contended
from lodestore.services.merge_plan import FAN_IN, SMALL_ROWS
from lodestore.services.rebuilding import Rebuilding
from lodestore.services.segments import LISTABLE_FOR
from tests.faults.hostile_store import Action, Fault, Operation, Request, on
from tests.services.index_truth import (
    answers_of,
    indexed,
    manifest_of,
    markers_of,
    segments_of,
    shown_by_index,
    shown_by_view,
    truth_of,
    view_with,
    without_index,
)
from tests.services.world import Instance, World

SECOND = timedelta(seconds=1)
MANIFEST = keys.manifest("acme")
SEGMENTS = keys.segments_of("acme") + "*"
# The moments of a rebuild at which something else may happen: nothing read yet, all read, all written.
MOMENTS: list[tuple[Operation, str]] = [
    ("list", "memories/acme/"),
    ("create", SEGMENTS),
    ("replace", MANIFEST),
]


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder / "indexed")
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def rebuilds(world: World) -> Rebuilding:
    return world.instance().lodestore.rebuilding


@contextmanager
def at(world: World, moment: tuple[Operation, str], do: Callable[[], object]) -> Iterator[None]:
    """Let something else happen once, before the request of that moment; it must come."""
    store = world.state if moment[1].startswith("memories") else world.index
    came: list[Request] = []

    def act(request: Request) -> None:
        store.heal()
        came.append(request)
        do()

    store.inject(on(act, *moment))
    yield
    assert came


def remembered(world: World, acme: Instance) -> list[str]:
    """Some memories in several segments, their markers gone."""
    ids = []
    for number in range(5):
        ids.append(acme.stored(f"statement number {number}"))
        indexed(world)
    world.clock.advance(2 * MARKER_LAG)
    indexed(world)
    return ids


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.promise("P-READ-YOUR-WRITES")
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment[1])
def test_what_others_index_meanwhile_stays_on_top(
    world: World, acme: Instance, moment: tuple[Operation, str]
) -> None:
    ids = remembered(world, acme)

    def others() -> None:
        acme.call("update_memory", id=ids[0], content="changed number 0")
        acme.call("forget", id=ids[1])
        acme.stored("statement number 9", supersedes=[ids[2]])
        world.state.inner.delete(keys.memory("acme", ids[3]))
        world.instance().lodestore.indexing.run("acme", [ids[3]])
        # Long enough for their markers to go, before the rebuild lists what it has.
        world.clock.advance(2 * MARKER_LAG)
        indexed(world)

    with at(world, moment, others):
        done = rebuilds(world).run("acme")
    assert done.kept == 1
    assert markers_of(world) == set()
    assert shown_by_index(world) == truth_of(world)
    bare = without_index(world)
    assert answers_of(world.instance(), "statement changed") == answers_of(
        bare.instance(), "statement changed"
    )
    bare.close()


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment[1])
def test_a_merge_meanwhile_is_kept_and_no_memory_is_doubled(
    world: World, acme: Instance, moment: tuple[Operation, str]
) -> None:
    remembered(world, acme)
    merging = world.instance().lodestore.merging

    def others() -> None:
        for number in range(FAN_IN):
            acme.stored(f"late number {number}")
            world.instance().lodestore.indexing.run("acme")
        merged = merging.step("acme", SMALL_ROWS)
        assert merged is not None
        assert merged.listed

    with at(world, moment, others):
        rebuilds(world).run("acme")
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment[1])
@pytest.mark.parametrize("lost", [False, True])
def test_two_rebuilds_at_once_leave_one_index(
    world: World, acme: Instance, moment: tuple[Operation, str], lost: bool
) -> None:
    remembered(world, acme)
    if lost:
        world.index.inner.delete(MANIFEST)
        moment = ("create", MANIFEST) if moment[0] == "replace" else moment
    other = rebuilds(world)
    with at(world, moment, lambda: other.run("acme")):
        rebuilds(world).run("acme")
    assert shown_by_index(world) == truth_of(world)
    acme.stored("one statement more")
    indexed(world)
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-READ-YOUR-WRITES")
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment[1])
def test_a_write_that_is_not_indexed_while_a_rebuild_runs_keeps_its_marker(
    world: World, acme: Instance, moment: tuple[Operation, str]
) -> None:
    ids = remembered(world, acme)

    def others() -> None:
        acme.call("update_memory", id=ids[0], content="changed number 0")
        acme.stored("statement number 9")

    before = manifest_of(world)
    with at(world, moment, others):
        rebuilds(world).run("acme")
    world.clock.advance(MARKER_LAG / 2 - SECOND)
    for reader in (before, manifest_of(world)):
        assert shown_by_view(view_with(world, reader)) == truth_of(world)
    assert "changed number 0" in world.instance().hits("changed")


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize(
    "fault", [Fault.UNKNOWN_AFTER, Fault.UNKNOWN_BEFORE, Fault.UNKNOWN_LATE, Fault.CONTENDED]
)
def test_a_swap_without_a_clear_answer_lists_nothing_twice(
    world: World, acme: Instance, fault: Fault
) -> None:
    remembered(world, acme)
    world.index.inject(on(fault, "replace", MANIFEST))
    done = rebuilds(world).run("acme")
    world.index.land_late()
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert (len(manifest.segments), manifest.generation) == (1, done.generation)
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_swap_whose_answer_is_lost_and_that_another_run_follows_is_not_made_again(
    world: World, acme: Instance
) -> None:
    remembered(world, acme)

    def another_run(_: Request) -> None:
        world.index.heal()
        acme.stored("statement number 9")
        world.instance().lodestore.indexing.run("acme")

    def rule(request: Request) -> Fault | Action | None:
        """The swap lands without an answer; before the rebuild looks, an indexer swaps over it."""
        if request.matches("replace", MANIFEST):
            swapped.append(request)
            return Fault.UNKNOWN_AFTER
        return another_run if swapped and request.matches("get", MANIFEST) else None

    swapped: list[Request] = []
    world.index.inject(rule)
    rebuilds(world).run("acme")
    assert "statement number 9" in world.instance().hits("statement", mode="exploratory")
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert len(manifest.segments) == 2
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-BOUNDED")
def test_a_rebuild_that_never_wins_leaves_the_old_index(world: World, acme: Instance) -> None:
    remembered(world, acme)
    before = manifest_of(world).manifest
    world.index.inject(on(Fault.LOST, "replace", MANIFEST, times=None))
    with pytest.raises(Contended):
        rebuilds(world).run("acme")
    assert manifest_of(world).manifest == before
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-TRUTH")
def test_a_rebuild_that_takes_hours_beside_a_collector_lists_only_what_is_there(
    world: World, acme: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        acme.stored(f"statement number {number}")
    indexed(world)
    monkeypatch.setattr(rebuilding, "SEGMENT_ROWS", 1)
    collection = world.instance().lodestore.collection

    def slowly(_: object) -> None:
        world.clock.advance(LISTABLE_FOR / 3)
        collection.run("acme")

    done = rebuilds(world).run("acme", progress=slowly)
    assert done.segments == 9
    collection.run("acme")
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert set(manifest.names) <= segments_of(world)
    assert shown_by_index(world) == truth_of(world)
