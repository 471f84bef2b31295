"""A corrected fact never outranks its correction."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.faults.hostile_store import Crash, Fault, on
from tests.services.world import Instance, World


@pytest.mark.case("B72")
def test_the_correction_is_found_and_the_corrected_one_only_when_asked_for(acme: Instance) -> None:
    old = acme.stored("The office is in Oslo")
    new = acme.stored("The office is in Bergen", supersedes=[old])
    assert acme.hits("office") == ["The office is in Bergen"]
    hits = acme.call("recall", query="office Oslo", include_superseded=True)["hits"]
    assert isinstance(hits, list)
    assert {hit["id"]: hit["superseded_by"] for hit in hits} == {old: [new], new: []}
    assert acme.listed() == [new]
    assert acme.listed(status="superseded") == [old]
    assert acme.get(old)["superseded_by"] == [new]
    assert acme.get(old)["status"] == "superseded"


def test_a_superseding_remember_reads_and_notes_only_its_targets(world: World, acme: Instance) -> None:
    old = acme.stored("The office is in Oslo")
    before = (world.state.count(), world.index.count())
    acme.stored("We moved to Bergen", supersedes=[old])
    # GET target, PUT, GET and PUT of the note; a marker for each of the two.
    assert (world.state.count() - before[0], world.index.count() - before[1]) == (4, 2)


@pytest.mark.promise("P-TRUTH")
def test_the_put_of_the_successor_is_enough_even_if_the_note_was_never_written(
    world: World, acme: Instance
) -> None:
    old = acme.stored("The office is in Oslo")
    world.state.inject(on(Fault.CRASH_BEFORE, "replace"))
    with pytest.raises(Crash):
        acme.remember("The office is in Bergen", supersedes=[old])
    world.state.revive()
    after = world.instance("acme")
    assert after.hits("office") == ["The office is in Bergen"]
    assert after.listed(status="superseded") == [old]
    again = after.remember("The office is in Bergen", supersedes=[old])
    assert again["status"] == "already_known"
    assert after.get(old)["superseded_by"] == [again["id"]]


@pytest.mark.promise("P-FORGOTTEN")
def test_forgetting_the_successor_does_not_revive_what_it_replaced(acme: Instance) -> None:
    old = acme.stored("The office is in Oslo")
    new = acme.stored("The office is in Bergen", supersedes=[old])
    acme.call("forget", id=new)
    assert acme.hits("office") == []
    assert acme.listed(status="superseded") == [old]


def test_an_update_can_supersede_and_give_it_up_again(acme: Instance) -> None:
    old = acme.stored("The office is in Oslo")
    new = acme.stored("The office is in Bergen")
    acme.call("update_memory", id=new, supersedes=[old])
    assert acme.hits("office") == ["The office is in Bergen"]
    acme.call("update_memory", id=new, clear=["supersedes"])
    assert sorted(acme.hits("office")) == ["The office is in Bergen", "The office is in Oslo"]


def test_a_memory_may_have_two_successors(acme: Instance) -> None:
    old = acme.stored("The office is in Oslo")
    first = acme.stored("Sales moved to Bergen", supersedes=[old])
    second = acme.stored("Support moved to Tromsø", supersedes=[old])
    assert acme.get(old)["superseded_by"] == [first, second]


def test_itself_and_unknown_ids_are_refused_before_anything_is_written(world: World, acme: Instance) -> None:
    for arguments in ({"id": "own", "supersedes": ["own"]}, {"supersedes": ["unknown"]}):
        error = acme.error("remember", content="The office is in Bergen", **arguments)
        assert (error["error"], error["field"], error["written"]) == ("invalid_argument", "supersedes", False)
    assert world.state.count("create") == 0


def test_a_cycle_is_refused(acme: Instance) -> None:
    first = acme.stored("One")
    second = acme.stored("Two", supersedes=[first])
    third = acme.stored("Three", supersedes=[second])
    error = acme.error("update_memory", id=first, supersedes=[third])
    assert (error["error"], error["field"]) == ("invalid_argument", "supersedes")
    assert acme.hits("one two three") == ["Three"]


def test_a_text_said_anew_may_supersede_what_superseded_its_first_life(acme: Instance) -> None:
    first = acme.stored("The office is in Oslo")
    second = acme.stored("The office is in Bergen", supersedes=[first])
    acme.call("forget", id=first)
    again = acme.stored("The office is in Oslo", supersedes=[second])
    assert again != first
    assert acme.hits("office") == ["The office is in Oslo"]


@pytest.mark.promise("P-TENANT")
def test_what_the_caller_does_not_see_cannot_be_superseded(world: World) -> None:
    hidden = world.instance(conversation="chat-1").stored("Private", scope="conversation")
    foreign = world.instance("zephyr").stored("Foreign")
    caller = world.instance(conversation="chat-2")
    messages = {
        str(caller.error("remember", content="X", supersedes=[target])).replace(target, "ID")
        for target in (hidden, foreign, "unknown")
    }
    assert len(messages) == 1


def test_a_conversations_note_cannot_supersede_a_memory_of_the_project(world: World) -> None:
    caller = world.instance(conversation="chat-1")
    shared = caller.stored("The office is in Oslo")
    error = caller.error("remember", content="Not so", scope="conversation", supersedes=[shared])
    assert (error["error"], error["field"]) == ("invalid_argument", "supersedes")
    assert caller.hits("office") == ["The office is in Oslo"]


def test_a_retry_whose_target_was_forgotten_since_is_answered_as_the_first_time(acme: Instance) -> None:
    old = acme.stored("The office is in Oslo")
    new = acme.stored("The office is in Bergen", supersedes=[old])
    acme.call("forget", id=old)
    again = acme.remember("The office is in Bergen", supersedes=[old])
    assert (again["status"], again["id"]) == ("already_known", new)


def test_a_note_that_could_not_be_written_is_said_and_the_successor_stands(
    world: World, acme: Instance
) -> None:
    old = acme.stored("The office is in Oslo")
    world.state.inject(on(Fault.UNAVAILABLE, "replace", times=None))
    error = acme.error("remember", content="The office is in Bergen", supersedes=[old])
    world.state.heal()
    assert (error["error"], error["written"]) == ("unavailable", True)
    assert acme.listed() == [error["id"]]


@pytest.mark.case("B09")
@pytest.mark.promise("P-READ-YOUR-WRITES")
@pytest.mark.parametrize("end", ["forgotten", "expired"])
def test_a_text_said_anew_is_seen_though_its_first_life_was_superseded(
    world: World, acme: Instance, end: str
) -> None:
    old = acme.stored("The office is in Oslo", ttl_days=1)
    acme.stored("The office is in Bergen", supersedes=[old])
    if end == "forgotten":
        acme.call("forget", id=old)
    else:
        world.clock.advance(timedelta(days=2))
    again = acme.stored("The office is in Oslo")
    assert again != old
    assert again in acme.listed()
    assert "The office is in Oslo" in acme.hits("Oslo")


def test_an_own_id_that_is_superseded_is_not_given_to_something_else(acme: Instance) -> None:
    acme.stored("The office is in Oslo", id="office")
    acme.stored("The office is in Bergen", supersedes=["office"])
    acme.call("forget", id="office")
    error = acme.error("remember", content="The office is in Tromsø", id="office")
    assert (error["error"], error["written"]) == ("conflict", False)


def test_a_retry_at_a_later_derived_id_is_answered_as_the_first_time(acme: Instance) -> None:
    first = acme.stored("eps")
    other = acme.stored("phi", supersedes=[first])
    again = acme.stored("eps", supersedes=[other])
    acme.call("forget", id=other)
    answer = acme.remember("eps", supersedes=[other])
    assert (answer["status"], answer["id"]) == ("already_known", again)


@pytest.mark.parametrize("since", ["changed", "superseded", "expired"])
def test_a_forgotten_target_is_refused_where_the_first_statement_no_longer_stands(
    world: World, acme: Instance, since: str
) -> None:
    old = acme.stored("The office is in Oslo")
    first = acme.stored("The office is in Bergen", supersedes=[old], ttl_days=1)
    acme.call("forget", id=old)
    if since == "changed":
        acme.call("update_memory", id=first, content="The office is in Bergen, at the harbour")
    elif since == "superseded":
        acme.stored("The office is in Tromsø", supersedes=[first])
    else:
        world.clock.advance(timedelta(days=2))
    error = acme.error("remember", content="The office is in Bergen", supersedes=[old], ttl_days=1)
    assert (error["error"], error["field"], error["written"]) == ("invalid_argument", "supersedes", False)


@pytest.mark.promise("P-BOUNDED")
def test_saying_a_memory_again_does_not_make_it_supersede_more_than_the_limit(acme: Instance) -> None:
    older = [acme.stored(f"The office is on floor {number}", id=f"floor-{number}") for number in range(33)]
    acme.stored("The office is on the roof", supersedes=older[:32])
    error = acme.error("remember", content="The office is on the roof", supersedes=older[32:])
    assert (error["error"], error["field"], error["limit"], error["got"]) == (
        "too_large",
        "supersedes",
        32,
        33,
    )
