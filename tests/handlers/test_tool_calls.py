"""`tools/list` and `tools/call`: results, errors, and what is said when something fails unforeseen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lodestore.domain.caller import Caller, Role
from mcp_server.endpoint import Endpoint
from tests.handlers.stand_ins import SECRET_TEXT, StandIn, endpoint_of, stand_in
from tests.handlers.wire import LOCAL, Answer, call, event, post, post_modern, request, send


def _text(answer: Answer) -> str:
    content = answer.result["content"]
    assert isinstance(content, list)
    assert [block["type"] for block in content] == ["text"]
    text = content[0]["text"]
    assert isinstance(text, str)
    return text


def _both_eras(endpoint: Endpoint, message: dict[str, object], **headers: str) -> tuple[Answer, Answer]:
    return post(endpoint, message, **headers), post_modern(endpoint, message, **headers)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall", {"query": "tea"}),
        ("remember", {"content": "年 é 😀 \u2028"}),
        ("remember", {"content": "conflict"}),
        ("remember", {"content": "boom"}),
        ("get_memory", {"id": "zz"}),
        ("get_memory", {"id": "boom"}),
    ],
)
def test_the_text_block_and_the_structure_say_the_same_in_compact_json(
    endpoint: Endpoint, tool: str, arguments: dict[str, object]
) -> None:
    for answer in _both_eras(endpoint, call(tool, arguments)):
        text = _text(answer)
        assert json.loads(text) == answer.structured
        assert text == json.dumps(answer.structured, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.case("B29")
@pytest.mark.promise("P-UNTRUSTED")
def test_memory_text_comes_only_inside_the_answer_of_a_call(endpoint: Endpoint) -> None:
    for answer in _both_eras(endpoint, call("recall", {"query": "tea"})):
        assert answer.structured["untrusted"] is True
        assert SECRET_TEXT in _text(answer)
    for message in (request("tools/list"), request("server/discover")):
        assert SECRET_TEXT not in post_modern(endpoint, message).text


def test_an_error_of_the_interface_is_a_result_that_the_model_reads(
    core: StandIn, endpoint: Endpoint
) -> None:
    for answer in _both_eras(endpoint, call("remember", {"content": "conflict"})):
        assert answer.status == 200
        assert answer.result["isError"] is True
        assert answer.structured["error"] == "conflict"
        assert answer.structured["id"] == "m1"
        assert answer.structured["current_version"] == 3
        assert answer.structured["written"] is False
    assert len(core.calls) == 2


@pytest.mark.parametrize(
    ("tool", "key", "written"), [("remember", "content", "unknown"), ("get_memory", "id", False)]
)
def test_what_fails_unforeseen_is_unavailable_without_the_reason(
    endpoint: Endpoint, tool: str, key: str, written: object
) -> None:
    for answer in _both_eras(endpoint, call(tool, {key: "boom"})):
        assert answer.status == 200
        assert answer.result["isError"] is True
        assert answer.structured["error"] == "unavailable"
        assert answer.structured["retryable"] is True
        assert answer.structured["written"] == written
        for word in (SECRET_TEXT, "RuntimeError", "Traceback"):
            assert word not in answer.text


def test_an_answer_that_is_no_json_is_unavailable_too(endpoint: Endpoint) -> None:
    answer = post(endpoint, call("get_memory", {"id": "endless"}))
    assert (answer.status, answer.structured["error"]) == (200, "unavailable")


def test_half_a_character_in_a_stored_object_spoils_no_answer(endpoint: Endpoint) -> None:
    for answer in _both_eras(endpoint, call("get_memory", {"id": "half"})):
        assert answer.structured == {"content": "half of ?"}
        assert json.loads(_text(answer)) == answer.structured


@pytest.mark.parametrize("name", ["nope", "Recall", "", "recall ", "x" * 5000])
def test_an_unknown_tool_is_a_protocol_error(core: StandIn, endpoint: Endpoint, name: str) -> None:
    legacy, modern = post(endpoint, call(name)), post_modern(endpoint, call(name))
    assert (legacy.status, legacy.error["code"]) == (200, -32602)
    assert modern.status == 400
    assert modern.error["code"] in (-32602, -32020)
    assert len(legacy.text) < 300
    assert not core.calls


@pytest.mark.parametrize("arguments", [[], "x", 7, True, ["query"]])
def test_arguments_that_are_no_object_are_a_protocol_error(
    core: StandIn, endpoint: Endpoint, arguments: object
) -> None:
    message = request("tools/call", {"name": "recall", "arguments": arguments})
    for answer in _both_eras(endpoint, message):
        assert answer.error == {"code": -32602, "message": "Invalid request parameters"}
    assert not core.calls


@pytest.mark.parametrize("params", [{"name": "recall"}, {"name": "recall", "arguments": None}])
def test_no_arguments_are_the_same_as_none(
    core: StandIn, endpoint: Endpoint, params: dict[str, object]
) -> None:
    assert post(endpoint, request("tools/call", params)).status == 200
    assert core.calls[0].arguments == {}


@pytest.mark.case("B31")
@pytest.mark.case("B32")
def test_arguments_reach_the_tool_as_they_were_sent(core: StandIn, endpoint: Endpoint) -> None:
    forms: dict[str, object] = {
        "tags": '["a"]',
        "limit": "5",
        "since": None,
        "category": {},
        "x": [1, 2.5, True, "😀"],
    }
    sent: dict[str, object] = {"query": "x", **forms}
    for answer in _both_eras(endpoint, call("recall", sent)):
        assert answer.result["isError"] is False
    assert [called.arguments for called in core.calls] == [sent, sent]


@pytest.mark.case("B64")
def test_a_surrogate_pair_is_one_character_and_a_lone_half_is_refused_by_name(
    core: StandIn, endpoint: Endpoint
) -> None:
    for text in ("cheers 🍸", "👨‍👩‍👧", "שלום", "e\u0301"):
        for answer in _both_eras(endpoint, call("remember", {"content": text})):
            assert answer.structured["content"] == text
    core.calls.clear()
    unsound: list[tuple[str, dict[str, object]]] = [
        ("content", {"content": "half \ud83d"}),
        ("tags", {"content": "x", "tags": ["a", "\udf78"]}),
        ("metadata", {"content": "x", "metadata": {"deep": [{"\ud83d": 1}]}}),
        ("arguments", {"\ud83d": "x"}),
    ]
    for field, arguments in unsound:
        for answer in _both_eras(endpoint, call("remember", arguments)):
            assert answer.status == 200
            assert answer.result["isError"] is True
            assert answer.structured["error"] == "invalid_argument"
            assert answer.structured["field"] == field
            assert answer.structured["written"] is False
    assert not core.calls


def test_a_number_without_end_is_refused_by_name(core: StandIn, endpoint: Endpoint) -> None:
    body = call("remember", {"content": "x", "importance": "NUMBER"})
    sent = event(headers=LOCAL, body=json.dumps(body).replace('"NUMBER"', "1e999"))
    assert send(endpoint, sent).structured["field"] == "importance"
    assert not core.calls


@pytest.mark.parametrize("era", [post, post_modern])
def test_the_list_holds_what_the_role_may_call_with_its_hints(tmp_path: Path, era: object) -> None:
    core = stand_in(tmp_path, AUTH="keys")
    endpoint = endpoint_of(core)
    seen: dict[Role, list[str]] = {}
    for role in Role:
        key = core.access.issue_key(["acme"], role)
        answers = [era(endpoint, request("tools/list"), X_API_Key=key) for _ in range(2)]  # type: ignore[operator]
        assert answers[0].text == answers[1].text
        tools = answers[0].result["tools"]
        seen[role] = [tool["name"] for tool in tools]
        for tool in tools:
            assert set(tool) == {"name", "description", "inputSchema", "annotations"}
            assert set(tool["annotations"]) == {
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            }
            assert tool["annotations"]["openWorldHint"] is False
    assert seen[Role.READER] == ["recall", "get_memory"]
    assert seen[Role.WRITER] == ["recall", "get_memory", "remember"]
    assert seen[Role.ADMIN] == ["recall", "get_memory", "remember", "maintain"]


def test_the_list_may_be_kept_by_its_caller_alone(endpoint: Endpoint) -> None:
    result = post_modern(endpoint, request("tools/list")).result
    assert result["cacheScope"] == "private"
    assert result["ttlMs"] == 300_000


def test_a_tool_above_the_role_is_forbidden_and_not_run(tmp_path: Path) -> None:
    core = stand_in(tmp_path, AUTH="keys")
    key = core.access.issue_key(["acme"], Role.READER)
    for tool in ("remember", "maintain"):
        answer = post(endpoint_of(core), call(tool), X_API_Key=key)
        assert answer.structured["error"] == "forbidden"
    assert not core.calls


def test_the_caller_is_the_tenant_and_conversation_of_the_headers(core: StandIn, endpoint: Endpoint) -> None:
    headers = {"X_Memory_Tenant": "acme-corp", "X_Conversation_Id": "conv/1:a"}
    _both_eras(endpoint, call("recall", {"query": "tea"}), **headers)
    assert [called.caller for called in core.calls] == [Caller("acme-corp", "conv/1:a", Role.ADMIN)] * 2
