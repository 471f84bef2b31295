"""Indexers, merges, rebuilds and writers at once: no change is lost, and the index converges to the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from lodestore.format import keys
from lodestore.services.indexing import Contended, NeedsRebuild
from tests.faults.hostile_store import Fault, Request, on
from tests.services.index_truth import (
    answers_of,
    indexed,
    manifest_of,
    markers_of,
    shown_by_index,
    truth_of,
    without_index,
)
from tests.services.world import Instance, World

MANIFEST = keys.manifest("acme")


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder / "indexed")
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def meanwhile(world: World, do: Callable[[], object]) -> Callable[[Request], None]:
    """Something else that happens before a request is sent on, behind the faults."""

    def act(_: Request) -> None:
        world.index.heal()
        do()

    return act


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_run_whose_swap_is_lost_reads_the_truth_again(world: World, acme: Instance) -> None:
    memory_id = acme.stored("The office is in Oslo")
    indexed(world)
    acme.call("update_memory", id=memory_id, content="The office is in Bergen")
    other = world.instance().lodestore

    def another_run() -> None:
        world.instance().call("update_memory", id=memory_id, content="The office is in Rome")
        other.indexing.run("acme")

    world.index.inject(on(meanwhile(world, another_run), "replace", MANIFEST))
    done = world.instance().lodestore.indexing.run("acme")
    assert done.rows == 0
    assert world.instance().hits("office") == ["The office is in Rome"]
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("fault", [Fault.UNKNOWN_AFTER, Fault.UNKNOWN_BEFORE, Fault.CONTENDED, Fault.GONE])
def test_a_swap_without_a_clear_answer_is_settled_by_reading(
    world: World, acme: Instance, fault: Fault
) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    acme.stored("Standup is at nine")
    world.index.inject(on(fault, "replace", MANIFEST))
    world.instance().lodestore.indexing.run("acme")
    assert shown_by_index(world) == truth_of(world)
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert (manifest.generation, len(manifest.segments)) == (2, 2)


@pytest.mark.promise("P-BOUNDED")
def test_a_run_that_never_wins_gives_up_and_leaves_the_markers(world: World, acme: Instance) -> None:
    acme.stored("The office is in Oslo")
    world.index.inject(on(Fault.LOST, "create", MANIFEST, times=None))
    with pytest.raises(Contended):
        world.instance().lodestore.indexing.run("acme")
    assert len(markers_of(world)) == 1
    assert world.instance().hits("office") == ["The office is in Oslo"]


def write_at_random(world: World, seed: int, writes: int) -> None:
    """Stored, changed, superseded and forgotten memories; each is seen by a fresh process as it was answered."""
    instance, chance, mine = world.instance(), Random(seed), list[str]()
    for number in range(writes):
        # Time passes, so that markers go while all this is under way.
        world.clock.advance(timedelta(seconds=4))
        match chance.randrange(4) if mine else 0:
            case 0:
                mine.append(instance.stored(f"writer {seed} says statement {number}"))
            case 1:
                instance.call("update_memory", id=chance.choice(mine), content=f"changed {seed} {number}")
            case 2:
                older = chance.choice(mine)
                mine.append(instance.stored(f"instead {seed} {number}", supersedes=[older]))
            case _:
                gone = mine.pop(chance.randrange(len(mine)))
                instance.call("forget", id=gone)
                assert gone not in world.instance().listed(status="all", limit=100)
                continue
        assert set(mine) <= set(world.instance().listed(status="all", limit=100))


def until(done: list[bool], job: Callable[[], object]) -> None:
    """The job again and again until all writers are done; what another run may end in is no error."""
    while not all(done):
        try:
            job()
        except (Contended, NeedsRebuild):
            continue


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.promise("P-READ-YOUR-WRITES")
@pytest.mark.promise("P-IDEMPOTENT")
@pytest.mark.parametrize("seed", range(3))
def test_two_indexers_a_merger_and_a_rebuild_beside_writers_lose_nothing(world: World, seed: int) -> None:
    first, second, third = (world.instance().lodestore for _ in range(3))
    jobs = [
        lambda: first.upkeep.index("acme"),
        lambda: second.upkeep.run("acme"),
        lambda: third.rebuilding.run("acme"),
    ]
    done = [False, False]

    def writer(number: int) -> None:
        try:
            write_at_random(world, 10 * seed + number, 25)
        finally:
            done[number] = True

    with ThreadPoolExecutor(len(jobs) + 2) as threads:
        running = [threads.submit(writer, number) for number in range(2)]
        running += [threads.submit(until, done, job) for job in jobs]
        for one in running:
            one.result()

    bare = without_index(world)
    queries = ("statement", "changed", "instead writer")
    assert answers_of(world.instance(), *queries) == answers_of(bare.instance(), *queries)
    bare.close()
    indexed(world, times=2)
    assert shown_by_index(world) == truth_of(world)
