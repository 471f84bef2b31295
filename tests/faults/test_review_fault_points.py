"""A review by a model, and the merge that follows: each fault at each request, another writer before any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lodestore.errors import Conflict, Unavailable
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.upkeep_steps import INDEX, REVIEW, STEPS
from tests.faults.hostile_store import Crash, FaultyStore, Operation, at
from tests.faults.test_indexer_fault_points import points
from tests.language_models.scripted import Scripted, same
from tests.services.index_truth import contents_of, in_memory, shown_by_index, truth_of
from tests.services.world import Instance, World, rows
from tests.stores.memory_store import Contents

MOVED = "The team has moved the release to Friday."
SHIFTED = "The release was shifted to Friday by the team."
STANDS = "The team moved the release to Friday."
OFF = "The release is off."
IDS = ("a", "b")
Deed = Callable[[Instance], None]


@pytest.fixture
def first(folder: Path) -> Iterator[World]:
    """Two that say the same in other words, indexed."""
    world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
    acme = world.instance()
    for memory_id, text in zip(IDS, (MOVED, SHIFTED), strict=True):
        world.clock.pause(1)
        acme.stored(text, id=memory_id)
    world.instance().lodestore.upkeep.index("acme")
    yield world
    world.close()


def again(first: World) -> World:
    world = in_memory(first, contents_of(first.state), contents_of(first.index))
    world.model = Scripted(same(STANDS))
    return world


def review(world: World, *steps: str) -> None:
    report = world.instance().lodestore.sleeping.run("acme", steps or (REVIEW,)).report
    if report.failure is not None:
        raise Unavailable(report.failure)


def pending(world: World) -> list[dict[str, object]]:
    return rows(world.instance().call("list_proposals"), "proposals")


def accept(world: World, proposal: object) -> None:
    world.instance().call("decide_proposal", id=proposal, accept=True)


def sent_by(first: World, act: Callable[[World], None]) -> dict[str, list[Operation]]:
    clean = again(first)
    act(clean)
    sent = {
        name: [request.operation for request in store.requests]
        for name, store in (("state", clean.state), ("index", clean.index))
    }
    clean.close()
    return sent


@pytest.mark.promise("P-IDEMPOTENT", "P-REVERSIBLE-SLEEP", "P-DURABLE")
def test_after_any_fault_at_any_request_of_a_review_the_next_one_ends_with_the_one_proposal(
    first: World,
) -> None:
    visited = 0
    for store_name, number, fault in points(sent_by(first, review)):
        visited += 1
        world = again(first)
        store: FaultyStore = getattr(world, store_name)
        store.inject(at(number, fault))
        with suppress(StoreUnavailable, Unavailable, Crash):
            review(world)
        world.state.revive()
        world.index.revive()
        store.heal()
        store.land_late()
        where = f"{fault.name} at request {number} on {store_name}"
        assert set(world.instance().hits("release Friday")) == {MOVED, SHIFTED}, where
        review(world, INDEX, REVIEW)
        (proposal,) = pending(world)
        assert proposal["text"] == STANDS, where
        accept(world, proposal["id"])
        assert world.instance().hits("release Friday") == [STANDS], where
        world.close()
    assert visited >= 10


def update(rival: Instance) -> None:
    rival.call("update_memory", id="b", content=OFF)


def forget(rival: Instance) -> None:
    assert rival.call("forget", id="b")["deleted"] is True


def supersede(rival: Instance) -> None:
    rival.remember(OFF, supersedes=["b"])


@pytest.fixture
def proposed(first: World) -> World:
    """The same, with the proposal."""
    world = again(first)
    review(world)
    return world


@pytest.mark.promise("P-NO-LOST-UPDATE", "P-FORGOTTEN", "P-READ-YOUR-WRITES")
@pytest.mark.parametrize("deed", [update, forget, supersede])
def test_whatever_another_writer_does_to_a_member_while_a_text_is_accepted_counts_at_once_and_for_good(
    proposed: World, deed: Deed
) -> None:
    (proposal,) = pending(proposed)
    sent = sent_by(proposed, lambda world: accept(world, proposal["id"]))
    for store_name, operations in sent.items():
        for number in range(1, len(operations) + 1):
            world = again(proposed)
            rival = again(proposed)
            rival.state.inner, rival.index.inner = world.state.inner, world.index.inner

            def interfere(_: object, rival: World = rival) -> None:
                deed(rival.instance())

            store: FaultyStore = getattr(world, store_name)
            store.inject(at(number, interfere))
            with suppress(Conflict):
                accept(world, proposal["id"])
            store.heal()
            where = f"{deed.__name__} before request {number} on {store_name}"
            for _ in range(2):
                found = set(world.instance().hits("release", limit=50))
                assert (OFF in found) is (deed is not forget), where
                assert not found & {STANDS, SHIFTED}, where
                assert MOVED in found or deed is supersede, where
                review(world, *STEPS)
            assert shown_by_index(world) == truth_of(world), where
            rival.close()
            world.close()
