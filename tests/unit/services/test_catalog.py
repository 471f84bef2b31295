"""What a model reads of the tools."""

from __future__ import annotations

import json

import pytest

from lodestore.domain.caller import Role
from lodestore.errors import Forbidden, InvalidArgument
from lodestore.services import (
    context,
    deciding,
    feedback,
    forget,
    listing,
    maintain,
    proposal_listing,
    reading,
    recall,
    remember,
    restoring,
    undoing,
    update,
)
from lodestore.services.catalog import INSTRUCTIONS
from lodestore.services.tool_schemas import SCHEMAS
from tests.services.world import World

ARGUMENTS = {
    "remember": remember.ARGUMENTS,
    "recall": recall.ARGUMENTS,
    "memory_context": context.ARGUMENTS,
    "get_memory": reading.ARGUMENTS,
    "list_memories": listing.ARGUMENTS,
    "memory_stats": (),
    "update_memory": update.ARGUMENTS,
    "forget": forget.ARGUMENTS,
    "memory_feedback": feedback.ARGUMENTS,
    "restore_memory": restoring.ARGUMENTS,
    "list_proposals": proposal_listing.ARGUMENTS,
    "decide_proposal": deciding.ARGUMENTS,
    "undo": undoing.ARGUMENTS,
    "maintain": maintain.ARGUMENTS,
}


def test_each_schema_names_exactly_the_arguments_that_its_tool_accepts() -> None:
    assert {name: set(schema["properties"]) for name, schema in SCHEMAS.items()} == {  # type: ignore[call-overload]
        name: set(arguments) for name, arguments in ARGUMENTS.items()
    }
    assert all(schema["additionalProperties"] is False for schema in SCHEMAS.values())


def test_readers_may_read_writers_may_write(world: World) -> None:
    for role, count in ((Role.READER, 5), (Role.WRITER, 9), (Role.ADMIN, 14)):
        instance = world.instance(role=role)
        assert len(instance.lodestore.toolbox.tools(Role.WRITER)) == 9
        allowed = {tool for tool in ARGUMENTS if not isinstance(instance_error(instance, tool), Forbidden)}
        assert len(allowed) == count
    assert world.state.count("create") == 0


def instance_error(instance: object, tool: str) -> Exception | None:
    try:
        instance.call(tool, nonsense=1)  # type: ignore[attr-defined]
    except (Forbidden, InvalidArgument) as error:
        return error
    return None


def test_a_read_only_server_refuses_every_write(world: World) -> None:
    instance = world.instance(variables={"READ_ONLY": "1"})
    readers = ("recall", "memory_context", "get_memory", "list_memories", "memory_stats", "list_proposals")
    for tool in ARGUMENTS.keys() - set(readers):
        error = instance.error(tool, content="x", id="x")
        assert (error["error"], error["written"]) == ("forbidden", False)
    assert instance.call("memory_stats")["total"] == 0
    assert instance.call("list_proposals")["total"] == 0
    assert world.state.count("create") + world.index.count("create") == 0


@pytest.mark.promise("P-BOUNDED")
def test_the_list_of_tools_is_at_most_seven_kilobytes_for_a_writer(world: World) -> None:
    tools = world.instance().lodestore.toolbox.tools(Role.WRITER)
    listed = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "annotations": {
                "readOnlyHint": tool.read_only,
                "destructiveHint": tool.destructive,
                "idempotentHint": tool.idempotent,
                "openWorldHint": False,
            },
        }
        for tool in tools
    ]
    assert len(json.dumps({"tools": listed}, separators=(",", ":"))) <= 7_000


def test_the_instructions_say_the_main_thing_in_their_first_512_characters() -> None:
    head = INSTRUCTIONS[:512]
    assert all(word in head for word in ("memory", "recall", "remember", "memory_context", "never secrets"))
