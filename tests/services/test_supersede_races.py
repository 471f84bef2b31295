"""Writers that would make memories supersede each other at the same moment: none is hidden by such a circle."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.faults.hostile_store import Crash, Fault, Request, on
from tests.services.world import Instance, World

OFFICE, LUNCH = "The office is in Oslo", "Lunch is at noon in the office"


@pytest.fixture
def pair(acme: Instance) -> Instance:
    acme.stored(OFFICE, id="office")
    acme.stored(LUNCH, id="lunch")
    return acme


def other_first(world: World, tool: str, **arguments: object) -> None:
    """Another instance's call comes in between the check of the next write and the write itself."""
    other = world.instance("acme")

    def act(_: Request) -> None:
        world.state.heal()
        other.call(tool, **arguments)

    world.state.inject(on(act, "replace", "memories/acme/office*"))


def assert_only_lunch_supersedes(acme: Instance, error: dict[str, object]) -> None:
    assert (error["error"], error["field"], error["written"]) == ("conflict", "supersedes", True)
    office = acme.get("office")
    assert (office["supersedes"], error["current_version"]) == ([], office["version"])
    assert acme.get("lunch")["supersedes"] == ["office"]
    assert acme.hits("office") == [LUNCH]
    assert acme.listed() == ["lunch"]


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_of_two_updates_that_supersede_each_other_the_later_gives_way(world: World, pair: Instance) -> None:
    other_first(world, "update_memory", id="lunch", supersedes=["office"])
    # What the other one notes on this memory displaces this write, so it is checked again before it is made.
    error = pair.error("update_memory", id="office", supersedes=["lunch"], category="places")
    assert (error["error"], error["field"], error["written"]) == ("invalid_argument", "supersedes", False)
    assert pair.get("office")["category"] is None
    assert pair.hits("office") == [LUNCH]


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_circle_that_no_check_before_could_see_is_taken_back_after_the_write(
    world: World, pair: Instance
) -> None:
    other = world.instance("acme")

    def other_writes_and_dies(_: Request) -> None:
        world.state.heal()
        world.state.inject(on(Fault.CRASH_AFTER, "replace", "memories/acme/lunch*"))
        with pytest.raises(Crash):
            other.call("update_memory", id="lunch", supersedes=["office"])
        world.state.revive()

    world.state.inject(on(other_writes_and_dies, "replace", "memories/acme/office*"))
    error = pair.error("update_memory", id="office", supersedes=["lunch"], category="places")
    assert_only_lunch_supersedes(world.instance("acme"), error)
    assert pair.get("office")["category"] == "places"


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_text_said_anew_at_its_old_id_closes_no_circle(world: World, pair: Instance) -> None:
    other = world.instance("acme")
    pair.call("update_memory", id="office", ttl_days=1)

    def other_writes_and_dies(_: Request) -> None:
        world.state.heal()
        world.state.inject(on(Fault.CRASH_AFTER, "replace", "memories/acme/lunch*"))
        with pytest.raises(Crash):
            other.call("update_memory", id="lunch", supersedes=["office"])
        world.state.revive()
        world.clock.advance(timedelta(days=2))

    # The clock moves on only then: an id that has expired can't be superseded any more, one that will can.
    world.clock.advance(timedelta(hours=23))
    world.state.inject(on(other_writes_and_dies, "replace", "memories/acme/office*"))
    error = pair.error("remember", content=OFFICE, id="office", supersedes=["lunch"])
    assert_only_lunch_supersedes(world.instance("acme"), error)


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_writer_that_died_in_a_circle_leaves_it_to_its_own_repeat(world: World, pair: Instance) -> None:
    other = world.instance("acme")

    def other_writes_and_dies(_: Request) -> None:
        world.state.heal()
        world.state.inject(on(Fault.CRASH_AFTER, "replace", "memories/acme/lunch*"))
        with pytest.raises(Crash):
            other.call("update_memory", id="lunch", supersedes=["office"])
        world.state.revive()
        world.state.inject(on(Fault.CRASH_BEFORE, "get"))

    world.state.inject(on(other_writes_and_dies, "replace", "memories/acme/office*"))
    with pytest.raises(Crash):
        pair.call("update_memory", id="office", supersedes=["lunch"])
    world.state.revive()
    error = world.instance("acme").error("update_memory", id="office", supersedes=["lunch"])
    assert_only_lunch_supersedes(world.instance("acme"), error)
