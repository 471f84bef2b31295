"""What `remember` answers, and what is in the bucket when it has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.faults.hostile_store import Fault, meet, on
from tests.services.world import Instance, World


@pytest.mark.promise("P-DURABLE")
def test_a_stored_memory_is_read_by_a_process_that_starts_afterwards(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Nora leads QA", tags=["people"], source="Nora", metadata={"desk": 4})
    memory = world.instance("acme").get(memory_id)
    assert (memory["content"], memory["tags"], memory["source"]) == ("Nora leads QA", ["people"], "Nora")
    assert memory["metadata"] == {"desk": 4}


@pytest.mark.promise("P-FLAT-WRITES", "P-NO-LLM-ON-WRITE")
def test_remember_sends_two_puts_side_by_side_and_nothing_else(world: World, acme: Instance) -> None:
    together = meet(2)
    world.state.inject(on(together, "create", "memories/*"))
    world.index.inject(on(together, "create", "pending/*"))
    acme.stored("Two requests, one round trip")
    assert (world.state.count(), world.index.count()) == (1, 1)


@pytest.mark.promise("P-FLAT-WRITES")
def test_remember_costs_the_same_when_the_instance_holds_many_memories(world: World, acme: Instance) -> None:
    acme.stored("The first one is the measure of the others.")
    first = world.state.requests[-1].sent
    for number in range(60):
        acme.stored(f"Filler statement number {number} about nothing")
    acme.hits("filler")
    before = (world.state.count(), world.index.count())
    acme.stored("Quarterly numbers come out in April, each y")
    assert (world.state.count() - before[0], world.index.count() - before[1]) == (1, 1)
    assert world.state.requests[-1].sent == first


@pytest.mark.promise("P-IDEMPOTENT")
def test_the_same_content_is_already_known_and_nothing_changes(acme: Instance) -> None:
    first = acme.remember("Standup is at 09:15", tags=["team"])
    again = acme.remember("Standup is at 09:15", tags=["team"])
    assert again["status"] == "already_known"
    assert (again["id"], again["version"], again["revision"]) == (first["id"], 1, first["revision"])


@pytest.mark.parametrize(
    "same", ["  Standup is at 09:15\r\n", "Standup is at 09:15\x00", "​Standup is at 09:15"]
)
def test_outer_blanks_line_endings_and_invisible_characters_do_not_make_another_memory(
    acme: Instance, same: str
) -> None:
    memory_id = acme.stored("Standup is at 09:15")
    assert acme.remember(same)["id"] == memory_id


@pytest.mark.parametrize("other", ["standup is at 09:15", "Standup  is at 09:15", "Standup is at 09.15"])
def test_case_inner_blanks_and_marks_make_another_memory(acme: Instance, other: str) -> None:
    acme.stored("Standup is at 09:15")
    assert acme.remember(other)["status"] == "stored"


def test_composed_and_decomposed_accents_are_the_same_content(acme: Instance) -> None:
    memory_id = acme.stored("Jörg Müller leads QA")
    assert acme.remember("Jörg Müller leads QA")["id"] == memory_id


def test_other_given_fields_update_the_memory_and_tags_are_added(acme: Instance) -> None:
    memory_id = acme.stored("Standup is at 09:15", tags=["team"], source="Nora")
    answer = acme.remember("Standup is at 09:15", tags=["daily"], importance=0.9)
    assert (answer["status"], answer["id"], answer["version"]) == ("updated", memory_id, 2)
    memory = acme.get(memory_id)
    assert (memory["tags"], memory["importance"], memory["source"]) == (["team", "daily"], 0.9, "Nora")


@pytest.mark.case("B12")
@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_twenty_at_once_of_the_same_statement_make_one_memory(world: World) -> None:
    instances = [world.instance("acme") for _ in range(4)]
    with ThreadPoolExecutor(20) as callers:
        answers = list(callers.map(lambda n: instances[n % 4].remember("Standup is at 09:15"), range(20)))
    assert len({answer["id"] for answer in answers}) == 1
    assert [answer["status"] for answer in answers].count("stored") == 1
    assert world.instance("acme").call("list_memories")["total"] == 1


@pytest.mark.case("B16")
def test_fifty_different_statements_at_once_are_all_there(world: World) -> None:
    instances = [world.instance("acme") for _ in range(5)]
    contents = [f"Fact {number} about room {number * 7}" for number in range(50)]
    with ThreadPoolExecutor(10) as callers:
        list(callers.map(lambda item: instances[item[0] % 5].stored(item[1]), enumerate(contents)))
    reader = world.instance("acme")
    assert reader.call("list_memories")["total"] == 50
    assert sorted(reader.hits("fact", limit=50, mode="exploratory")) == sorted(contents)


@pytest.mark.case("B09")
def test_a_forgotten_text_can_be_said_again_and_is_recalled(acme: Instance) -> None:
    memory_id = acme.stored("The printer is on floor 3", tags=["office"], importance=0.9, source="Nora")
    acme.call("forget", id=memory_id)
    again = acme.remember("The printer is on floor 3")
    assert (again["status"], again["id"], again["version"]) == ("stored", memory_id, 1)
    assert (again["tags"], again["importance"]) == ([], 0.5)
    assert acme.hits("printer") == ["The printer is on floor 3"]


def test_an_expired_memory_is_renewed_and_keeps_nothing_of_the_old_one(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Door code is 4471", ttl_days=1, tags=["old"])
    world.clock.advance(timedelta(days=2))
    again = acme.remember("Door code is 4471")
    assert (again["status"], again["id"], again["tags"], again["expires_at"]) == (
        "stored",
        memory_id,
        [],
        None,
    )


def test_a_content_whose_memory_says_something_else_by_now_gets_the_next_id(acme: Instance) -> None:
    memory_id = acme.stored("The build takes 5 minutes")
    acme.call("update_memory", id=memory_id, content="The build takes 7 minutes")
    again = acme.remember("The build takes 5 minutes")
    assert again["status"] == "stored"
    assert again["id"] != memory_id
    assert sorted(acme.hits("build takes", limit=10)) == [
        "The build takes 5 minutes",
        "The build takes 7 minutes",
    ]


def test_a_superseded_statement_said_again_is_a_new_memory(acme: Instance) -> None:
    old = acme.stored("The office is in Oslo")
    acme.stored("The office is in Bergen", supersedes=[old])
    again = acme.remember("The office is in Oslo")
    assert again["status"] == "stored"
    assert again["id"] != old
    assert "The office is in Oslo" in acme.hits("office Oslo")


def test_after_eight_lives_of_a_content_an_error_says_so_and_an_own_id_helps(acme: Instance) -> None:
    for number in range(8):
        memory_id = acme.stored("Flapping statement")
        acme.call("update_memory", id=memory_id, content=f"Settled statement {number}")
    error = acme.error("remember", content="Flapping statement")
    assert (error["error"], error["field"], error["written"]) == ("conflict", "content", False)
    assert acme.remember("Flapping statement", id="own")["status"] == "stored"


def test_near_duplicates_in_memory_are_named_and_how_many_were_looked_at(acme: Instance) -> None:
    first = acme.stored("The deploy key of staging lives in vault number 7")
    answer = acme.remember("The deploy key of staging lives in vault number 8")
    near = answer["near_duplicates"]
    assert isinstance(near, list)
    assert (near[0]["id"], answer["near_duplicates_checked"]) == (first, 1)
    assert 0.6 <= near[0]["similarity"] < 1


def test_an_instance_that_holds_nothing_says_that_it_looked_at_nothing(world: World, acme: Instance) -> None:
    acme.stored("The deploy key of staging lives in vault number 7")
    answer = world.instance("acme").remember("The deploy key of staging lives in vault number 8")
    assert (answer["near_duplicates"], answer["near_duplicates_checked"]) == ([], 0)


@pytest.mark.case("B73")
def test_the_newest_statement_is_always_stored_even_if_it_contradicts(acme: Instance) -> None:
    acme.stored("I like Thai food")
    assert acme.remember("I no longer like Thai food")["status"] == "stored"
    assert len(acme.hits("Thai food")) == 2


@pytest.mark.case("B75")
@pytest.mark.parametrize(
    "twins",
    [
        ("The favourite colour is purple", "The favourite colour is cyan"),
        ("The service listens on port 8090", "The service listens on port 8091"),
        ("Guest access is allowed", "Guest access is not allowed"),
    ],
)
def test_near_twins_with_different_values_stay_two_memories(acme: Instance, twins: tuple[str, str]) -> None:
    ids = {acme.stored(twin) for twin in twins}
    assert len(ids) == 2
    assert sorted(acme.hits(twins[0], mode="exploratory")) == sorted(twins)


def test_a_lifetime_given_again_by_a_retry_changes_nothing(world: World, acme: Instance) -> None:
    first = acme.remember("The demo is on Friday", ttl_days=3)
    world.clock.advance(timedelta(seconds=5))
    again = acme.remember("The demo is on Friday", ttl_days=3)
    assert (again["status"], again["expires_at"]) == ("already_known", first["expires_at"])


def test_another_lifetime_is_an_update(acme: Instance) -> None:
    acme.stored("The demo is on Friday", ttl_days=3)
    answer = acme.remember("The demo is on Friday", ttl_days=5)
    assert (answer["status"], answer["expires_at"]) == ("updated", "2026-03-14T01:30:00.000Z")


@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.parametrize("end", ["forget", "update", "supersede"])
def test_no_process_shows_as_near_duplicate_what_another_one_took_away(
    world: World, acme: Instance, end: str
) -> None:
    memory_id = acme.stored("The deploy key of staging lives in vault number 7")
    other = world.instance("acme")
    if end == "forget":
        other.call("forget", id=memory_id)
    if end == "update":
        other.call("update_memory", id=memory_id, content="Something else entirely")
    if end == "supersede":
        other.stored("Keys are no more", supersedes=[memory_id])
    answer = acme.remember("The deploy key of staging lives in vault number 8")
    assert answer["near_duplicates"] == []


def test_near_duplicates_that_cannot_be_checked_are_left_out_and_the_write_stands(
    world: World, acme: Instance
) -> None:
    acme.stored("The deploy key of staging lives in vault number 7")
    world.state.inject(on(Fault.UNAVAILABLE, "get", times=None))
    answer = acme.remember("The deploy key of staging lives in vault number 8")
    assert (answer["status"], answer["near_duplicates"]) == ("stored", [])
    assert world.meter.counts["near_duplicates_not_checked"] == 1
