"""Wherever a process that works on the vector engine dies, nothing is taken for filled that is not.

Each run is cut at one call of the engine, or at one swap of the manifest, before or after it took effect; then another
process goes on. At every moment recall answers as the shards do, and the vectors of every marked segment are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lodestore.bootstrap import Lodestore
from lodestore.services.index_view import resolve
from lodestore.services.vector_rows import keys_of, with_vectors
from tests.faults.hostile_store import Crash, Fault, on
from tests.s3vectors.memory_index import MemoryIndex
from tests.services.engine_world import A_WHILE, EngineWorld

OPERATIONS = ("create", "describe", "drop", "put", "delete", "list")
CUTS_MOST = 60


class Died(BaseException):
    """The process ends here."""


class Mortal:
    """The engine's operations, one of which ends the process; `between` runs before a call instead."""

    def __init__(self, inner: MemoryIndex) -> None:
        self._inner = inner
        self.calls = 0
        self.cut: tuple[int, bool] | None = None
        self.between: dict[int, Callable[[], object]] = {}

    def __getattr__(self, name: str) -> object:
        operation = getattr(self._inner, name)
        if name not in OPERATIONS:
            return operation

        def call(*arguments: object, **named: object) -> object:
            self.calls += 1
            if self.calls in self.between:
                self.between.pop(self.calls)()
            if self.cut == (self.calls, False):
                raise Died
            answer = operation(*arguments, **named)
            if self.cut == (self.calls, True):
                raise Died
            return answer

        return call


@pytest.fixture
def world(folder: Path) -> Iterator[EngineWorld]:
    world = EngineWorld(folder)
    world.indexing = "off"
    yield world
    world.close()


def lives(world: EngineWorld) -> tuple[Lodestore, Mortal]:
    """A process whose engine may end it."""
    mortal = Mortal(world.vectors)
    world.engine = mortal  # type: ignore[assignment]
    try:
        return world.instance().lodestore, mortal
    finally:
        world.engine = world.vectors


def begin(world: EngineWorld) -> None:
    """Several segments, some of whose memories were updated or forgotten since, and one use that was left."""
    plain = world.plain()
    ids = []
    for n in range(5):
        ids.append(plain.stored(f"the code of shelf {n} is {n * 7}"))
        plain.lodestore.indexing.run("acme")
    plain.call("update_memory", id=ids[1], content="the code of shelf 1 is secret")
    plain.call("forget", id=ids[2])
    plain.lodestore.indexing.run("acme")


def change(world: EngineWorld) -> None:
    """Something more for a second run."""
    plain = world.plain()
    first = plain.listed()[-1]
    plain.call("forget", id=first)
    plain.stored("one shelf more")


def nothing_is_taken_for_filled(world: EngineWorld) -> None:
    """The invariant."""
    lodestore = world.plain().lodestore
    manifest = world.manifest()
    view = resolve(manifest, lodestore.merging._segments.load("acme", manifest.names))
    index = manifest.engine.index if manifest.engine is not None else None
    there = world.vectors.indexes[index].vectors if index in world.vectors.indexes else {}
    for listed in view.listed:
        if listed.entry.in_engine:
            rows = with_vectors(listed.segment, listed.counts).tolist()
            assert set(keys_of(listed.segment, rows)) <= set(there), listed.entry.name
    world.agrees("code of shelf", limit=50, min_score=0)
    # Without the net that catches lost vectors, too.
    assert not world.meter.counts["vector_engine_short"]


def step(lodestore: Lodestore) -> None:
    """What an event brings, then a sleep's part in the engine."""
    lodestore.upkeep.index("acme")
    lodestore.sleeping.run("acme", {"purge"})


def test_a_process_that_dies_at_any_call_of_the_engine_leaves_nothing_that_looks_filled(
    world: EngineWorld, folder: Path
) -> None:
    cuts, reached = 0, True
    for number in range(1, CUTS_MOST):
        for after in (False, True):
            one = EngineWorld(folder / f"{number}{after}")
            one.indexing = "off"
            begin(one)
            lodestore, mortal = lives(one)
            mortal.cut = (number, after)
            try:
                step(lodestore)
                change(one)
                step(lodestore)
            except Died:
                cuts += 1
            nothing_is_taken_for_filled(one)
            step(one.instance().lodestore)
            nothing_is_taken_for_filled(one)
            one.sleep("acme", "index", "purge")
            one.sleep("acme", "index", "purge")
            assert one.ids() == set(one.plain().listed())
            one.close()
            reached = mortal.calls >= number
        if not reached:
            break
    assert cuts >= 20
    assert not reached, "every call was visited"
    assert world.meter.counts["vector_engine_used"] == 0


@pytest.mark.promise("P-IDEMPOTENT", "P-NO-LOST-UPDATE")
@pytest.mark.parametrize("fault", [Fault.CRASH_BEFORE, Fault.CRASH_AFTER, Fault.LOST, Fault.UNKNOWN_AFTER])
@pytest.mark.parametrize("swap", range(4))
def test_a_swap_that_dies_or_is_lost_leaves_nothing_that_looks_filled(
    world: EngineWorld, swap: int, fault: Fault
) -> None:
    begin(world)
    world.index.inject(on(fault, "replace", "index/acme/manifest.json", skip=swap))
    lodestore = world.instance().lodestore
    try:
        step(lodestore)
        change(world)
        step(lodestore)
    except Crash:
        world.index.revive()
    world.index.heal()
    nothing_is_taken_for_filled(world)
    step(world.instance().lodestore)
    for _ in range(2):
        world.sleep("acme", "index", "purge")
    nothing_is_taken_for_filled(world)
    assert world.ids() == set(world.plain().listed())


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_whoever_filled_an_index_that_was_lost_meanwhile_marks_nothing_of_the_one_in_its_place(
    world: EngineWorld,
) -> None:
    begin(world)
    filling, mortal = lives(world)

    def lost_and_begun_again_by_another() -> None:
        world.vectors.drop(world.name())
        other = world.instance().lodestore.upkeep._filling
        assert other is not None
        assert other.begin_again("acme")

    # Calls: create, describe, and then a put for each segment.
    mortal.between[5] = lost_and_begun_again_by_another
    filling.upkeep.index("acme")
    assert not mortal.between
    assert world.meter.counts["vector_index_begun"] == 2
    nothing_is_taken_for_filled(world)
    assert world.ids() == set(world.plain().listed())


def test_an_index_that_was_left_is_not_begun_again_while_it_may_still_be_dropped(world: EngineWorld) -> None:
    begin(world)
    world.instance().lodestore.upkeep.index("acme")
    world.variables = {**world.variables, "VECTOR_INDEX_THRESHOLD": "1000"}
    sweeper, mortal = lives(world)
    sweeper.upkeep.index("acme")
    assert [item.name for item in world.manifest().engine_left] == [world.name()]
    world.variables = {**world.variables, "VECTOR_INDEX_THRESHOLD": "0"}
    again = world.instance().lodestore

    def crossed_again() -> None:
        again.upkeep.index("acme")

    # The drop of the sweep, between its look at the manifest and its request.
    mortal.between[mortal.calls + 1] = crossed_again
    world.clock.advance(A_WHILE)
    sweeper.sleeping.run("acme", {"purge"})
    assert not mortal.between
    nothing_is_taken_for_filled(world)
    again.upkeep.index("acme")
    nothing_is_taken_for_filled(world)
    assert world.ids() == set(world.plain().listed())
