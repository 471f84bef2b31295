"""A merge: each fault at each of its requests, and another writer between any two; recall finds the fact at every step.

The scenario runs once clean to count its requests, then once for every request and every fault that it can meet, and
once for every request and everything that another process may do to a member right before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lodestore.errors import Unavailable
from lodestore.format import keys
from lodestore.ports.object_store import Found, StoreUnavailable
from lodestore.services.upkeep_steps import CONSOLIDATE, INDEX, STEPS
from tests.faults.hostile_store import Crash, FaultyStore, Operation, at
from tests.faults.test_indexer_fault_points import points
from tests.services.index_truth import contents_of, in_memory, shown_by_index, truth_of
from tests.services.world import Instance, World
from tests.stores.memory_store import Contents

OSLO = ("The office is in Oslo.", "the office is in Oslo", "Note: the office is in Oslo.")
BERGEN = "The office is in Bergen."
IDS = ("a", "b", "c")


@pytest.fixture
def first(folder: Path) -> Iterator[World]:
    """Three that say the same, two of them merged before, all indexed."""
    world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
    acme = world.instance()
    acme.stored(OSLO[0], id="a")
    acme.stored(OSLO[1], id="b")
    acme.stored("The port is 8090.")
    act(world)
    acme.stored(OSLO[2], id="c")
    world.instance().lodestore.upkeep.index("acme")
    yield world
    world.close()


def again(first: World) -> World:
    return in_memory(first, contents_of(first.state), contents_of(first.index))


def act(world: World, *steps: str) -> None:
    report = world.instance().lodestore.sleeping.run("acme", steps or (INDEX, CONSOLIDATE)).report
    if report.failure is not None:
        raise Unavailable(report.failure)


def objects(world: World) -> list[bytes]:
    found = [world.state.inner.get(keys.memory("acme", memory_id)) for memory_id in IDS]
    return [one.body for one in found if isinstance(one, Found)]


def sent_by(first: World) -> dict[str, list[Operation]]:
    clean = again(first)
    act(clean, CONSOLIDATE)
    sent = {
        name: [request.operation for request in store.requests]
        for name, store in (("state", clean.state), ("index", clean.index))
    }
    clean.close()
    return sent


@pytest.mark.promise("P-IDEMPOTENT", "P-REVERSIBLE-SLEEP", "P-DURABLE")
def test_after_any_fault_at_any_request_recall_finds_the_fact_and_a_second_run_ends_the_same(
    first: World,
) -> None:
    before = objects(first)
    visited = 0
    ended: set[tuple[str, ...]] = set()
    for store_name, number, fault in points(sent_by(first)):
        visited += 1
        world = again(first)
        store: FaultyStore = getattr(world, store_name)
        store.inject(at(number, fault))
        try:
            act(world, CONSOLIDATE)
        except (StoreUnavailable, Unavailable):
            pass
        except Crash:
            world.state.revive()
            world.index.revive()
        store.heal()
        where = f"{fault.name} at request {number} on {store_name}"
        found = world.instance().hits("office Oslo")
        assert found, where
        assert set(found) <= set(OSLO), where
        store.land_late()
        assert world.instance().hits("office Oslo"), where
        # A write whose writer died before its marker is found by its event, or here by the sweep.
        act(world, *STEPS)
        act(world)
        listed = tuple(sorted(world.instance().listed()))
        ended.add(listed)
        assert world.instance().hits("office Oslo") == [OSLO[2]], where
        (merged,) = [m for m in listed if world.instance().get(m)["consolidated_from"]]
        assert world.instance().get(merged)["consolidated_from"] == list(IDS), where
        world.instance().call("undo", id=merged)
        assert objects(world) == before, where
        assert set(world.instance().hits("office Oslo", limit=50)) <= set(OSLO)
        assert set(IDS) <= set(world.instance().listed()), where
        world.close()
    assert len(ended) == 1
    assert visited >= 30


def forget(rival: Instance) -> None:
    assert rival.call("forget", id="c")["deleted"] is True


def update(rival: Instance) -> None:
    rival.call("update_memory", id="c", content=BERGEN)


def supersede(rival: Instance) -> None:
    rival.remember(BERGEN, supersedes=["c"])


def forget_and_say_anew(rival: Instance) -> None:
    rival.call("forget", id="c")
    rival.stored(BERGEN, id="c")


@pytest.mark.promise("P-NO-LOST-UPDATE", "P-FORGOTTEN", "P-READ-YOUR-WRITES")
@pytest.mark.parametrize("deed", [forget, update, supersede, forget_and_say_anew])
def test_whatever_another_writer_does_to_a_member_between_two_steps_counts_at_once_and_for_good(
    first: World, deed: Callable[[Instance], None]
) -> None:
    for store_name, operations in sent_by(first).items():
        for number in range(1, len(operations) + 1):
            world = again(first)
            rival = World(first.folder / "never-made")
            rival.clock, rival.state.inner, rival.index.inner = (
                world.clock,
                world.state.inner,
                world.index.inner,
            )

            def interfere(_: object, rival: World = rival) -> None:
                deed(rival.instance())

            store: FaultyStore = getattr(world, store_name)
            store.inject(at(number, interfere))
            act(world, CONSOLIDATE)
            store.heal()
            where = f"{deed.__name__} before request {number} on {store_name}"
            for _ in range(2):
                found = set(world.instance().hits("office", limit=50))
                assert (BERGEN in found) is (deed is not forget), where
                assert OSLO[2] not in found, where
                assert found & set(OSLO[:2]) or deed is supersede, where
                act(world, *STEPS)
            assert shown_by_index(world) == truth_of(world), where
            rival.close()
            world.close()
