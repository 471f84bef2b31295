"""Every tool, resource and prompt against everyone who may see nothing there."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lodestore.services.tool_schemas import SCHEMAS
from tests.handlers.wire import call, request
from tests.security.strangers import (
    CHAT,
    FILLED,
    FORGOTTEN_NOTE,
    ID_ARGUMENTS,
    NOTE,
    OF_PROPOSALS,
    OWNER,
    STRANGERS,
    UNKNOWN,
    Stranger,
    attempt,
    buckets,
    filled,
    proposals_in,
    tools,
    with_id,
)

Json = dict[str, Any]

NEW_TOOL = "a new tool: say in tests/security/strangers.py what a stranger tries with it"
CURSORS = ("list_memories", "list_proposals")
# The index's own counters: that it moved, not what moved it.
BY_DESIGN = {"generation", "updated_at", "age_seconds", "segments", "pending", "documents"}
# An admin's tool that tends the tenant as a whole: its counts are of all conversations, and of nothing else.
OF_THE_WHOLE_TENANT = {"maintain"}
# The stub of a forgotten note does not say whose it was: these read on before they answer the same.
READS_ON = {"forget", "restore_memory"}
METHODS: Mapping[str, Json] = {
    "tools/list": {},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": "memory://context"},
    "prompts/list": {},
    "prompts/get": {"name": "recall_first", "arguments": {"task": "walrus harbour"}},
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}  # fmt: skip


@pytest.fixture(params=STRANGERS.values(), ids=list(STRANGERS))
def stranger(request: pytest.FixtureRequest) -> Stranger:
    found: Stranger = request.param
    return found


def test_everything_that_a_tool_takes_is_known_here(tmp_path: Path) -> None:
    for name, schema in tools(tmp_path).items():
        assert set(schema.get("required", ())) <= set(FILLED), f"{name} is {NEW_TOOL}"
        assert ("cursor" in schema["properties"]) == (name in CURSORS), f"{name} is {NEW_TOOL}"
        odd = {n for n in schema["properties"] if "id" in n.split("_") or "ids" in n.split("_")} - set(
            ID_ARGUMENTS
        )
        assert not odd, f"{name} is {NEW_TOOL}: {odd}"


@pytest.mark.case("B21", "B24", "B26")
@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("indexed", [False, True], ids=["tail", "index"])
@pytest.mark.parametrize("tool", SCHEMAS)
def test_a_foreign_id_is_answered_like_one_that_never_was(
    tmp_path: Path, stranger: Stranger, tool: str, indexed: bool
) -> None:
    """The same status, the same body but for the id, the same requests."""
    before = buckets(tmp_path, stranger, foreign=True, indexed=indexed)
    schema = tools(tmp_path)[tool]
    for foreign in stranger.foreign if not _is_taken(tool, stranger) else ():
        tried = zip(with_id(tool, schema, foreign), with_id(tool, schema, UNKNOWN), strict=True)
        for with_foreign, with_unknown in tried:
            told = attempt(tmp_path, before, stranger, with_foreign).masked(foreign)
            expected = attempt(tmp_path, before, stranger, with_unknown).masked(UNKNOWN)
            assert (told.status, told.body) == (expected.status, expected.body), with_foreign
            more = Counter(told.requests) - Counter(expected.requests)
            assert not more or (tool in READS_ON and foreign == FORGOTTEN_NOTE), more
            assert not Counter(expected.requests) - Counter(told.requests)


@pytest.mark.case("B24")
@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("tool", OF_PROPOSALS)
def test_a_foreign_proposal_is_answered_like_one_that_never_was(
    tmp_path: Path, stranger: Stranger, tool: str
) -> None:
    before = buckets(tmp_path, stranger, foreign=True, indexed=True)
    schema = tools(tmp_path)[tool]
    foreign = proposals_in(before)
    assert len(foreign) == 2
    for proposal_id in foreign:
        unknown = proposal_id[:-6] + "zzzzzz"
        for with_foreign, with_unknown in zip(
            with_id(tool, schema, proposal_id), with_id(tool, schema, unknown), strict=True
        ):
            told = attempt(tmp_path, before, stranger, with_foreign)
            assert told.masked(proposal_id) == attempt(tmp_path, before, stranger, with_unknown).masked(
                unknown
            )


@pytest.mark.case("B24")
@pytest.mark.promise("P-TENANT")
def test_whoever_chooses_an_id_that_another_conversation_has_taken_is_told_that_and_no_more(
    tmp_path: Path,
) -> None:
    stranger = STRANGERS["another conversation"]
    before = buckets(tmp_path, stranger, foreign=True, indexed=False)
    told = attempt(tmp_path, before, stranger, call("remember", {"content": "x", "id": NOTE}))
    error = json.loads(told.body)["result"]["structuredContent"]
    assert (error["error"], error["id"], error["current_version"]) == ("conflict", NOTE, None)
    assert not {"secret", "harbour", CHAT} & set(re.findall(r"[\w-]+", told.body))


@pytest.mark.case("B21", "B24")
@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("indexed", [False, True], ids=["tail", "index"])
@pytest.mark.parametrize("tool", SCHEMAS)
def test_a_tool_answers_the_same_whether_or_not_a_stranger_holds_anything(
    tmp_path: Path, stranger: Stranger, tool: str, indexed: bool
) -> None:
    """Hits, scores and their parts, near-duplicates, counts, cursors, contexts: all of it."""
    if tool in OF_THE_WHOLE_TENANT and stranger.tenant == OWNER:
        return
    message = call(tool, filled(tool, tools(tmp_path)[tool]))
    assert _compared(tmp_path, stranger, message, indexed) is None


@pytest.mark.case("B24")
@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("method", METHODS)
def test_a_method_answers_the_same_whether_or_not_a_stranger_holds_anything(
    tmp_path: Path, stranger: Stranger, method: str
) -> None:
    assert _compared(tmp_path, stranger, request(method, METHODS[method]), indexed=True) is None


@pytest.mark.case("B24")
@pytest.mark.promise("P-TENANT")
def test_a_resource_of_a_foreign_id_is_one_that_never_was(tmp_path: Path, stranger: Stranger) -> None:
    before = buckets(tmp_path, stranger, foreign=True, indexed=True)
    for foreign in stranger.foreign:
        told, expected = (
            attempt(
                tmp_path, before, stranger, request("resources/read", {"uri": f"memory://memory/{memory_id}"})
            )
            for memory_id in (foreign, UNKNOWN)
        )
        assert told.masked(foreign) == expected.masked(UNKNOWN)


@pytest.mark.case("B38")
@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("tool", CURSORS)
def test_a_foreign_cursor_is_answered_like_nonsense(tmp_path: Path, stranger: Stranger, tool: str) -> None:
    before = buckets(tmp_path, stranger, foreign=True, indexed=True)
    owner = Stranger(OWNER, CHAT, ())
    cursor = _next_cursor(attempt(tmp_path, before, owner, call(tool, {"limit": 1})).body)
    nonsense = "x" * len(cursor)
    for given in ({"limit": 1}, {}):
        told = attempt(tmp_path, before, stranger, call(tool, {**given, "cursor": cursor}))
        expected = attempt(tmp_path, before, stranger, call(tool, {**given, "cursor": nonsense}))
        assert told == expected
        assert '"field":"cursor"' in told.body


def test_the_owner_is_shown_what_strangers_are_not(tmp_path: Path) -> None:
    """Else all of the above would hold for a store that shows nothing to anyone."""
    owner = Stranger(OWNER, CHAT, ())
    before = buckets(tmp_path, STRANGERS["another tenant"], foreign=True, indexed=True)
    for tool in ("recall", "list_memories", "memory_context"):
        message = call(tool, filled(tool, tools(tmp_path)[tool]))
        assert "A secret walrus" in attempt(tmp_path, before, owner, message).body
    assert "A secret walrus" in attempt(tmp_path, before, owner, call("get_memory", {"id": NOTE})).body
    assert '"total":2' in attempt(tmp_path, before, owner, call("list_proposals", {})).body


def _is_taken(tool: str, stranger: Stranger) -> bool:
    """Ids are the tenant's: whoever chooses one that another conversation has taken is told that it is taken."""
    return tool == "remember" and stranger.tenant == OWNER


def _compared(folder: Path, stranger: Stranger, message: Json, indexed: bool) -> str | None:
    """None where the answer is the same with and without the foreign memories; else both."""
    told, alone = (
        attempt(folder, buckets(folder, stranger, foreign=foreign, indexed=indexed), stranger, message)
        for foreign in (True, False)
    )
    seen, expected = (_lasting(json.loads(one.body)) for one in (told, alone))
    if seen == expected and (stranger.tenant == OWNER or told.requests == alone.requests):
        return None
    return f"{told}\n\nis not\n\n{alone}"


def _lasting(value: object) -> object:
    if isinstance(value, dict):
        return {key: _lasting(item) for key, item in value.items() if key not in BY_DESIGN}
    if isinstance(value, list):
        return [_lasting(item) for item in value]
    if isinstance(value, str) and value.startswith("{"):
        return _lasting(json.loads(value))
    return value


def _next_cursor(body: str) -> str:
    return str(json.loads(body)["result"]["structuredContent"]["next_cursor"])
