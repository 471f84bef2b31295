"""Ids of a caller's own and idempotency keys."""

from __future__ import annotations

import pytest

from tests.services.world import Instance, World


def test_an_own_id_is_kept_and_accepted_by_every_tool(acme: Instance) -> None:
    assert acme.stored("Release notes live in docs/", id="Team.release-notes_1") == "Team.release-notes_1"
    acme.get("Team.release-notes_1")
    acme.call("update_memory", id="Team.release-notes_1", pinned=True)
    acme.call("memory_feedback", id="Team.release-notes_1", useful=True)
    assert acme.call("forget", id="Team.release-notes_1")["deleted"] is True


def test_own_ids_that_differ_in_case_are_two_memories(acme: Instance) -> None:
    acme.stored("lower", id="note")
    acme.stored("upper", id="NOTE")
    assert (acme.get("note")["content"], acme.get("NOTE")["content"]) == ("lower", "upper")


@pytest.mark.parametrize("name", ["id", "idempotency_key"])
def test_other_content_under_an_own_name_is_a_conflict_that_names_the_version(
    acme: Instance, name: str
) -> None:
    memory_id = acme.stored("Budget is 40k", **{name: "budget"})
    acme.call("update_memory", id=memory_id, importance=0.8)
    error = acme.error("remember", content="Budget is 50k", **{name: "budget"})
    assert (error["error"], error["field"], error["id"]) == ("conflict", name, memory_id)
    assert (error["current_version"], error["written"]) == (2, False)
    assert acme.get(memory_id)["content"] == "Budget is 40k"


@pytest.mark.promise("P-IDEMPOTENT")
@pytest.mark.parametrize("name", ["id", "idempotency_key"])
def test_a_late_retry_after_an_update_changes_nothing_and_says_since_when(acme: Instance, name: str) -> None:
    request = {"content": "Budget is 40k", "tags": ["money"], name: "budget"}
    memory_id = acme.call("remember", **request)["id"]
    acme.call("update_memory", id=memory_id, content="Budget is 50k", clear=["tags"])
    answer = acme.call("remember", **request)
    assert (answer["status"], answer["content"], answer["tags"]) == ("already_known", "Budget is 50k", [])
    assert answer["changed_since"] == "2026-03-09T01:30:00.000Z"
    assert answer["version"] == 2


def test_the_same_content_under_the_same_key_with_other_fields_is_an_update(acme: Instance) -> None:
    acme.stored("Budget is 40k", idempotency_key="budget")
    answer = acme.remember("Budget is 40k", idempotency_key="budget", tags=["money"])
    assert (answer["status"], answer["version"], answer["tags"]) == ("updated", 2, ["money"])


def test_the_same_content_under_two_keys_is_two_memories(acme: Instance) -> None:
    assert acme.stored("Yes", idempotency_key="turn-1") != acme.stored("Yes", idempotency_key="turn-2")


@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.parametrize("name", ["id", "idempotency_key"])
def test_a_late_retry_of_a_keyed_request_does_not_bring_a_forgotten_memory_back(
    acme: Instance, name: str
) -> None:
    request = {"content": "Nora's badge is 4471", "idempotency_key": "k", name: "k"}
    memory_id = acme.call("remember", **request)["id"]
    acme.call("forget", id=memory_id)
    answer = acme.call("remember", **request)
    assert (answer["status"], answer["id"]) == ("forgotten", memory_id)
    assert acme.hits("badge") == []
    assert acme.listed(status="all") == []


def test_a_key_is_any_text_up_to_128_characters(acme: Instance) -> None:
    key = "conv-26/D1:3 ü 年 " + "x" * 100
    memory_id = acme.stored("One", idempotency_key=key)
    assert acme.remember("One", idempotency_key=key)["id"] == memory_id
    assert acme.error("remember", content="One", idempotency_key="k" * 129)["error"] == "too_large"


@pytest.mark.promise("P-TENANT")
def test_a_key_of_one_conversation_does_not_meet_that_of_another(world: World) -> None:
    one = world.instance(conversation="chat-1")
    other = world.instance(conversation="chat-2")
    first = one.stored("Secret plan", scope="conversation", idempotency_key="k")
    second = other.stored("Another plan", scope="conversation", idempotency_key="k")
    assert first != second
    assert other.hits("plan") == ["Another plan"]


@pytest.mark.promise("P-TENANT")
def test_an_own_id_taken_by_another_conversation_is_refused_without_a_word_about_it(world: World) -> None:
    one = world.instance(conversation="chat-1")
    other = world.instance(conversation="chat-2")
    one.stored("Secret plan", scope="conversation", id="plan")
    error = other.error("remember", content="Another plan", id="plan")
    assert (error["error"], error["current_version"]) == ("conflict", None)
    assert "Secret" not in str(error)
    assert one.get("plan")["content"] == "Secret plan"


@pytest.mark.case("B26")
@pytest.mark.parametrize(
    "bad", ["..%2f..%2fother%2fx", "../x", ".hidden", "a\x00b", "x" * 3000, "a/b", "é", "-a", "a b"]
)
@pytest.mark.parametrize("tool", ["remember", "get_memory", "update_memory", "forget", "memory_feedback"])
def test_an_id_that_could_climb_out_is_refused_before_any_request(
    world: World, acme: Instance, tool: str, bad: str
) -> None:
    others: dict[str, dict[str, object]] = {
        "remember": {"content": "x"},
        "update_memory": {"pinned": True},
        "memory_feedback": {"useful": True},
    }
    error = acme.error(tool, id=bad, **others.get(tool, {}))
    assert (error["error"], error["field"]) == ("invalid_argument", "id")
    assert world.state.count() + world.index.count() == 0
