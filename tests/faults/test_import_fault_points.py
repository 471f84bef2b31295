"""An import, with each fault that S3 can show, at each of its requests: then it is simply run again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.arrival import OnConflict
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.importing import ImportOptions
from tests.faults.hostile_store import Crash, FaultyStore, at
from tests.faults.test_every_fault_point import assert_markers, points, state_of
from tests.services.test_exporting_and_importing import exported, imported, verdicts
from tests.services.world import World

PLAIN = ImportOptions()
OVERWRITE = ImportOptions(OnConflict.OVERWRITE)
Begin = Callable[[World], bytes]


@dataclass(frozen=True)
class Scenario:
    """What stands before, and the file that comes in."""

    name: str
    begin: Begin
    options: ImportOptions = PLAIN
    repeated: str = "already_known"


def _fresh(world: World) -> bytes:
    there = World(world.folder / "there")
    other = there.instance("acme")
    other.stored("Build with make", id="own")
    there.clock.advance(timedelta(minutes=1))
    other.call("update_memory", id="own", content="Build with make test")
    export = exported(other, versions=True)
    there.close()
    return export


def _older(world: World) -> bytes:
    export = _fresh(world)
    first = exported_first(world)
    imported(world.instance("acme"), first)
    return export


def exported_first(world: World) -> bytes:
    """The first version alone."""
    there = World(world.folder / "first")
    there.instance("acme").stored("Build with make", id="own")
    export = exported(there.instance("acme"))
    there.close()
    return export


def _stub(world: World) -> bytes:
    there = World(world.folder / "there")
    other = there.instance("acme")
    other.stored("Build with make", id="own")
    imported(world.instance("acme"), exported(other))
    there.clock.advance(timedelta(minutes=1))
    other.call("forget", id="own")
    export = exported(other, tombstones=True)
    there.close()
    return export


def _forgotten(world: World) -> bytes:
    acme = world.instance("acme")
    acme.stored("Build with make", id="own")
    export = exported(acme)
    acme.call("forget", id="own")
    return export


SCENARIOS = [
    Scenario("into-nothing", _fresh),
    Scenario("over-an-older", _older, OVERWRITE),
    Scenario("stub-over-a-memory", _stub, OVERWRITE),
    Scenario("resurrect", _forgotten, ImportOptions(resurrect=True), repeated="newer"),
]


@pytest.mark.promise("P-DURABLE", "P-IDEMPOTENT", "P-FORGOTTEN", "P-SILENT-NEVER")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_an_import_that_failed_anywhere_says_so_and_ends_the_same_when_it_is_run_again(
    folder: Path, scenario: Scenario
) -> None:
    clean = World(folder / "clean")
    export = scenario.begin(clean)
    stores = {"state": clean.state, "index": clean.index}
    before = {name: store.count() for name, store in stores.items()}
    imported(clean.instance("acme"), export, scenario.options)
    sent = {name: [r.operation for r in store.requests[before[name] :]] for name, store in stores.items()}
    end, listed = state_of(clean), exported(clean.instance("acme"), versions=True, tombstones=True)
    clean.close()
    visited = 0
    for store_name, offset, fault in points(sent):
        visited += 1
        label = f"{scenario.name}: {fault.name} at request {offset} on {store_name}"
        world = World(folder / str(visited))
        export = scenario.begin(world)
        store: FaultyStore = getattr(world, store_name)
        store.inject(at(store.count() + offset, fault))
        instance = world.instance("acme")
        try:
            imported(instance, export, scenario.options)
        except Crash:
            world.state.revive()
            world.index.revive()
        except StoreUnavailable:
            assert store_name == "index", label
        store.heal()
        store.land_late()
        (repeated,) = verdicts(imported(world.instance("acme"), export, scenario.options))
        assert repeated in ("stored", "overwritten", "resurrected", scenario.repeated), f"{label}: {repeated}"
        assert state_of(world) == end, label
        if scenario.repeated == "already_known":
            whole = exported(world.instance("acme"), versions=True, tombstones=True)
            assert whole == listed, label
        assert_markers(world, label)
        world.close()
    assert visited >= 10
