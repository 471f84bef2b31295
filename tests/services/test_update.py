"""What `update_memory` changes, and what it leaves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.faults.hostile_store import Fault, meet, on
from tests.services.world import Instance, World


def _run(instance: Instance, tool: str, **arguments: object) -> None:
    instance.call(tool, **arguments)


@pytest.mark.case("B50")
def test_an_update_of_the_content_leaves_every_other_field(world: World, acme: Instance) -> None:
    memory_id = acme.stored(
        "Budget is 40k", tags=["money"], source="Nora", importance=0.8, ttl_days=9, metadata={"quarter": 2}
    )
    before = acme.get(memory_id)
    world.clock.advance(timedelta(hours=1))
    answer = acme.call("update_memory", id=memory_id, content="Budget is 50k")
    after = acme.get(memory_id)
    assert (answer["id"], answer["version"], answer["changed"]) == (memory_id, 2, ["content"])
    same = ("tags", "source", "importance", "expires_at", "metadata", "created_at", "type", "scope")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert (after["content"], after["updated_at"]) == ("Budget is 50k", "2026-03-09T02:30:00.000Z")
    assert str(answer["revision"]) > str(before["revision"])


@pytest.mark.case("B52")
def test_a_memory_updated_three_times_is_found_every_time(acme: Instance) -> None:
    memory_id = acme.stored("Short note")
    for text in ("Brief note", "Brief remark", "Terse remark"):
        acme.call("update_memory", id=memory_id, content=text)
        assert acme.hits(text) == [text]
    assert acme.hits("Short") == []


def test_an_update_is_one_read_and_two_puts_side_by_side(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k")
    before = (world.state.count(), world.index.count())
    together = meet(2)
    world.state.inject(on(together, "replace"))
    world.index.inject(on(together, "create"))
    acme.call("update_memory", id=memory_id, content="Budget is 50k")
    assert (world.state.count() - before[0], world.index.count() - before[1]) == (2, 1)


def test_an_update_that_changes_nothing_writes_nothing(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k", tags=["money"])
    answer = acme.call("update_memory", id=memory_id, tags=["money"], importance=0.5)
    assert (answer["version"], answer["changed"]) == (1, [])
    assert world.state.count("replace") == 0


def test_cleared_fields_are_empty_again(acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k", tags=["money"], category="plans", ttl_days=3, source="Nora")
    answer = acme.call("update_memory", id=memory_id, clear=["tags", "category", "ttl_days", "source"])
    assert answer["changed"] == ["category", "expires_at", "source", "tags"]
    memory = acme.get(memory_id)
    assert (memory["tags"], memory["category"], memory["expires_at"], memory["source"]) == (
        [],
        None,
        None,
        None,
    )


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_wrong_expected_version_is_a_conflict_that_names_the_current_one(acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k")
    acme.call("update_memory", id=memory_id, expected_version=1, content="Budget is 50k")
    error = acme.error("update_memory", id=memory_id, expected_version=1, content="Budget is 60k")
    assert (error["error"], error["id"], error["current_version"]) == ("conflict", memory_id, 2)
    assert acme.get(memory_id)["content"] == "Budget is 50k"


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_updates_of_different_fields_at_once_are_all_kept(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k")
    changes: list[dict[str, object]] = [
        {"importance": 0.9},
        {"category": "plans"},
        {"source": "Nora"},
        {"pinned": True},
    ]
    instances = [world.instance("acme") for _ in changes]
    with ThreadPoolExecutor(4) as callers:
        jobs = zip(instances, changes, strict=True)
        list(callers.map(lambda job: job[0].call("update_memory", id=memory_id, **job[1]), jobs))
    memory = acme.get(memory_id)
    assert (memory["importance"], memory["category"], memory["source"], memory["pinned"]) == (
        0.9,
        "plans",
        "Nora",
        True,
    )
    assert memory["version"] == 5


def test_an_update_that_meets_another_is_applied_to_the_newer_memory(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k")
    other = world.instance("acme")

    def meanwhile(_: object) -> None:
        other.call("update_memory", id=memory_id, source="Nora")

    world.state.inject(on(meanwhile, "replace"))
    answer = acme.call("update_memory", id=memory_id, content="Budget is 50k")
    memory = acme.get(memory_id)
    assert (memory["content"], memory["source"], memory["version"], answer["version"]) == (
        "Budget is 50k",
        "Nora",
        3,
        3,
    )


def test_an_expected_version_holds_against_a_writer_in_between(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k")
    other = world.instance("acme")
    world.state.inject(on(lambda _: _run(other, "update_memory", id=memory_id, source="Nora"), "replace"))
    error = acme.error("update_memory", id=memory_id, expected_version=1, content="Budget is 50k")
    assert (error["error"], error["current_version"]) == ("conflict", 2)


@pytest.mark.promise("P-FORGOTTEN")
def test_an_update_that_meets_a_forget_is_not_found_and_revives_nothing(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k")
    other = world.instance("acme")
    world.state.inject(on(lambda _: _run(other, "forget", id=memory_id), "replace"))
    assert acme.error("update_memory", id=memory_id, content="Budget is 50k")["error"] == "not_found"
    assert acme.listed(status="all") == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "content"),
        ({"clear": ["content"]}, "clear"),
        ({"clear": ["tags"], "tags": ["x"]}, "tags"),
        ({"ttl_days": 1, "expires_at": "2027-01-01"}, "expires_at"),
        ({"scope": "project"}, "scope"),
        ({"expected_version": 0, "pinned": True}, "expected_version"),
    ],
)
def test_what_an_update_cannot_mean_is_refused_by_name(
    acme: Instance, arguments: dict[str, object], field: str
) -> None:
    memory_id = acme.stored("Budget is 40k")
    error = acme.error("update_memory", id=memory_id, **arguments)
    assert (error["error"], error["field"]) == ("invalid_argument", field)


def test_the_history_shows_each_version_and_what_changed(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k")
    acme.call("update_memory", id=memory_id, content="Budget is 50k")
    acme.call("update_memory", id=memory_id, tags=["money"], source="Nora")
    history = world.instance().call("get_memory", id=memory_id, history=True)["history"]
    assert isinstance(history, list)
    assert [(item["version"], item["content"], item["change"]) for item in history] == [
        (3, "Budget is 50k", ["tags", "source"]),
        (2, "Budget is 50k", ["content"]),
        (1, "Budget is 40k", ["stored"]),
    ]


@pytest.mark.promise("P-FORGOTTEN")
def test_the_history_of_a_text_said_anew_ends_where_it_was_forgotten(acme: Instance) -> None:
    memory_id = acme.stored("Badge is 4471", tags=["secret-tag"])
    acme.call("forget", id=memory_id)
    acme.stored("Badge is 4471")
    answer = acme.call("get_memory", id=memory_id, history=True)
    assert isinstance(answer["history"], list)
    assert [item["version"] for item in answer["history"]] == [1]
    assert "secret-tag" not in str(answer)


def test_an_update_whose_answer_was_lost_is_found_and_counts_once(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Budget is 40k")
    world.state.inject(on(Fault.UNKNOWN_AFTER, "replace"))
    assert acme.call("update_memory", id=memory_id, content="Budget is 50k")["version"] == 2
    assert acme.get(memory_id)["version"] == 2
