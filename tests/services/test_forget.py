"""A forgotten memory stays forgotten."""

from __future__ import annotations

import json

import pytest

from lodestore.format import keys
from tests.faults.hostile_store import Fault, on
from tests.services.world import Instance, World


@pytest.mark.case("B02")
@pytest.mark.promise("P-FORGOTTEN")
def test_a_forgotten_memory_is_gone_from_every_answer_at_once(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Nora's badge number is 4471")
    assert acme.call("forget", id=memory_id, reason="she asked") == {
        "deleted": True,
        "id": memory_id,
        "reason": "forgotten",
    }
    for instance in (acme, world.instance("acme")):
        assert instance.hits("badge number", mode="exploratory", include_superseded=True) == []
        assert instance.listed(status="all") == []
        assert instance.error("get_memory", id=memory_id)["error"] == "not_found"
        assert instance.error("update_memory", id=memory_id, pinned=True)["error"] == "not_found"
        assert instance.error("memory_feedback", id=memory_id, useful=True)["error"] == "not_found"
        assert instance.call("memory_context", query="badge")["ids"] == []
        assert instance.call("memory_stats")["total"] == 0


@pytest.mark.promise("P-FORGOTTEN")
def test_what_stays_is_a_stub_without_content_and_its_copy(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Nora's badge number is 4471", tags=["badge"], source="HR", metadata={"a": "b"})
    acme.call("forget", id=memory_id, reason="she asked")
    for key in (keys.memory("acme", memory_id), keys.tombstone("acme", memory_id)):
        body = world.state.get(key).body  # type: ignore[union-attr]
        stub = json.loads(body)
        assert (stub["status"], stub["reason"], stub["forgotten_by"]) == ("forgotten", "she asked", "admin")
        assert not any(
            word in body.decode() for word in ("4471", "badge number", "HR", "metadata", "content")
        )
    assert world.state.count("delete") == 0


@pytest.mark.case("B04")
@pytest.mark.parametrize("unknown", ["01HZZZZZZZZZZZZZZZZZZZZZZZ", "note"])
def test_an_unknown_id_answers_not_found_without_an_error(acme: Instance, unknown: str) -> None:
    assert acme.call("forget", id=unknown) == {"deleted": False, "id": unknown, "reason": "not_found"}


def test_forgetting_twice_answers_not_found_the_second_time(acme: Instance) -> None:
    memory_id = acme.stored("Badge is 4471")
    acme.call("forget", id=memory_id)
    assert acme.call("forget", id=memory_id)["deleted"] is False


@pytest.mark.case("B04")
@pytest.mark.promise("P-DURABLE")
def test_a_stub_that_could_not_be_written_is_an_error_and_the_memory_stays_visible(
    world: World, acme: Instance
) -> None:
    memory_id = acme.stored("Badge is 4471")
    world.state.inject(on(Fault.UNAVAILABLE, "replace", times=None))
    error = acme.error("forget", id=memory_id)
    assert (error["error"], error["written"], error["retryable"]) == ("unavailable", False, True)
    world.state.heal()
    assert acme.hits("badge") == ["Badge is 4471"]
    assert acme.listed() == [memory_id]


@pytest.mark.case("B06")
def test_every_id_that_an_answer_shows_is_accepted_by_forget(acme: Instance) -> None:
    acme.stored("Alpha fact", id="own.id_1-x")
    acme.stored("Beta fact")
    acme.stored("Gamma fact", idempotency_key="k")
    shown = [hit["id"] for hit in acme.call("recall", query="fact")["hits"]]  # type: ignore[attr-defined]
    assert sorted(shown) == sorted(acme.listed())
    assert all(acme.call("forget", id=memory_id)["deleted"] for memory_id in shown)


@pytest.mark.promise("P-TENANT")
def test_a_foreign_and_a_hidden_id_look_like_an_unknown_one_and_cost_the_same(world: World) -> None:
    hidden = world.instance("acme", conversation="chat-1").stored("Note", scope="conversation")
    foreign = world.instance("zephyr").stored("Note of zephyr")
    caller = world.instance("acme", conversation="chat-2")
    seen = []
    for memory_id in ("unknown", hidden, foreign):
        before = (world.state.count(), world.index.count())
        answer = caller.call("forget", id=memory_id)
        cost = (world.state.count() - before[0], world.index.count() - before[1])
        seen.append((answer["deleted"], answer["reason"], cost))
    assert seen == [(False, "not_found", (1, 0))] * 3
    assert world.instance("zephyr").hits("note") == ["Note of zephyr"]


@pytest.mark.promise("P-FORGOTTEN")
def test_a_late_write_of_a_forgotten_memory_finds_the_stub_in_its_way(world: World, acme: Instance) -> None:
    world.state.inject(on(Fault.UNKNOWN_LATE, "create", "memories/*", times=5))
    error = acme.error("remember", content="Badge is 4471")
    assert error["written"] == "unknown"
    memory_id = acme.stored("Badge is 4471")
    acme.call("forget", id=memory_id)
    assert world.state.land_late() == 5
    assert acme.hits("badge") == []


@pytest.mark.promise("P-FORGOTTEN")
def test_a_forget_whose_answer_was_lost_says_forgotten(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Badge is 4471")
    world.state.inject(on(Fault.UNKNOWN_AFTER, "replace"))
    assert acme.call("forget", id=memory_id)["deleted"] is True


def test_a_reason_is_screened_for_secrets(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Badge is 4471")
    acme.call("forget", id=memory_id, reason="leaked " + "AKIA" + "0000EXAMPLE00000")
    body = world.state.get(keys.memory("acme", memory_id)).body  # type: ignore[union-attr]
    assert b"EXAMPLE" not in body


def test_a_tombstone_never_replaces_one_of_a_higher_revision(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Badge is 4471")
    other = world.instance("acme")

    def meanwhile(_: object) -> None:
        other.remember("Badge is 4471")
        other.call("forget", id=memory_id, reason="the second time")

    world.state.inject(on(meanwhile, "create", "tombstones/*"))
    acme.call("forget", id=memory_id, reason="the first time")
    body = world.state.get(keys.tombstone("acme", memory_id)).body  # type: ignore[union-attr]
    assert json.loads(body)["reason"] == "the second time"
