"""No tenant and no conversation sees anything of another."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.services.world import Instance, World

Call = Callable[[Instance], object]
# What differs between any two runs, and the index's own counters: that it moved, not what moved it. Whether the
# indexer was here yet ("random") is chance.
BY_DESIGN = {"revision", "generation", "updated_at", "age_seconds", "segments", "pending", "documents"}
CALLS: dict[str, Call] = {
    "recall": lambda i: i.call(
        "recall", query="walrus", mode="exploratory", explain=True, include_superseded=True
    ),
    "list": lambda i: i.call("list_memories", status="all", limit=100),
    "stats": lambda i: i.call("memory_stats"),
    "context": lambda i: i.call("memory_context", query="walrus"),
    "remember": lambda i: i.remember("A walrus lives in the harbour of Oslo too"),
}


@pytest.mark.case("B21", "B24")
@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("tenant", ["acme", "Acme", "acme-corp", "acm", "a"])
def test_answers_are_the_same_whether_or_not_another_tenant_has_anything(
    world: World, tmp_path_factory: pytest.TempPathFactory, name: str, tenant: str
) -> None:
    empty = World(tmp_path_factory.mktemp("empty"), world.indexing)
    alone = CALLS[name](empty.instance(tenant))
    empty.close()
    other = world.instance("acme.corp" if tenant == "acme" else "acme")
    for number in range(3):
        other.stored(f"A walrus lives in the harbour of Oslo {number}")
    seen = CALLS[name](world.instance(tenant))
    assert _without(seen, BY_DESIGN) == _without(alone, BY_DESIGN)


@pytest.mark.case("B24")
@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("name", CALLS)
def test_answers_are_the_same_whether_or_not_another_conversation_has_notes(
    world: World, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    empty = World(tmp_path_factory.mktemp("empty"), world.indexing)
    for where in (empty, world):
        where.instance(conversation="chat-2").stored("A walrus in the zoo", id="zoo")
    alone = CALLS[name](empty.instance(conversation="chat-2"))
    empty.close()
    for number in range(3):
        world.instance(conversation="chat-1").stored(f"A walrus of mine {number}", scope="conversation")
    seen = CALLS[name](world.instance(conversation="chat-2"))
    assert _without(seen, BY_DESIGN) == _without(alone, BY_DESIGN)


def test_a_note_of_a_conversation_is_seen_there_and_nowhere_else(world: World) -> None:
    note = world.instance(conversation="chat-1").stored("A walrus of mine", scope="conversation")
    assert world.instance(conversation="chat-1").hits("walrus") == ["A walrus of mine"]
    for stranger in (
        world.instance(conversation="chat-2"),
        world.instance(conversation="Chat-1"),
        world.instance(),
        world.instance("zephyr", conversation="chat-1"),
    ):
        assert stranger.hits("walrus") == []
        assert stranger.listed(status="all") == []
        errors = [stranger.error("get_memory", id=note), stranger.error("get_memory", id="unknown")]
        assert json.dumps(errors[0]).replace(note, "ID") == json.dumps(errors[1]).replace("unknown", "ID")


def test_a_memory_of_the_project_does_not_show_whose_conversation_wrote_it(world: World) -> None:
    memory_id = world.instance(conversation="chat-1").stored("The walrus is shared")
    seen = world.instance(conversation="chat-2").call("get_memory", id=memory_id, history=True)
    assert "chat-1" not in json.dumps(seen)
    assert world.instance(conversation="chat-1").get(memory_id)["conversation"] == "chat-1"


def test_the_same_fact_from_two_chats_meets(world: World) -> None:
    first = world.instance(conversation="chat-1").stored("The office is in Oslo")
    second = world.instance(conversation="chat-2").remember("The office is in Oslo")
    assert (second["status"], second["id"]) == ("already_known", first)


def test_the_same_note_in_two_chats_does_not_meet(world: World) -> None:
    first = world.instance(conversation="chat-1").stored("The office is in Oslo", scope="conversation")
    second = world.instance(conversation="chat-2").stored("The office is in Oslo", scope="conversation")
    assert first != second


def test_a_note_needs_a_conversation(world: World) -> None:
    error = world.instance().error("remember", content="x", scope="conversation")
    assert (error["error"], error["field"]) == ("invalid_argument", "scope")
    assert "X-Conversation-Id" in str(error["next_step"])


def test_no_tool_has_a_tenant_argument(world: World) -> None:
    instance = world.instance()
    for tool in instance.lodestore.toolbox.tools(instance.caller.role):
        assert not {"tenant", "tenant_id", "namespace"} & set(tool.input_schema["properties"])  # type: ignore[call-overload]
        error = instance.error(tool.name, tenant="evil")
        assert (error["error"], error["field"]) == ("invalid_argument", "tenant")


def _without(value: object, names: set[str]) -> object:
    if isinstance(value, dict):
        return {key: _without(item, names) for key, item in value.items() if key not in names}
    return [_without(item, names) for item in value] if isinstance(value, list) else value
