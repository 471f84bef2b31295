"""Whatever a client sends: a 2xx or 4xx, JSON, and never a word of an exception."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_server.endpoint import Endpoint
from mcp_server.envelope import MOST_LEVELS
from tests.handlers.stand_ins import StandIn
from tests.handlers.wire import (
    LOCAL,
    MODERN,
    Answer,
    call,
    event,
    modern,
    modern_headers,
    post,
    request,
    send,
)

INTERNALS = (
    "Traceback",
    "Error(",
    "Exception",
    "pydantic",
    "validation error",
    "site-packages",
    ".py",
    "errors.",
)


def _is_tame(answer: Answer) -> None:
    assert 200 <= answer.status < 500
    assert not [word for word in INTERNALS if word in answer.text]
    if answer.text:
        assert answer.headers["content-type"] == "application/json"
        json.loads(answer.text)


PARSE_ERRORS = {
    "empty": "",
    "blank": "  \n",
    "half": '{"jsonrpc":"2.0"',
    "two": '{"jsonrpc":"2.0","id":1,"method":"ping"}{}',
    "word": "ping",
    "NaN": '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    "Infinity": '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}',
    "comments": '{"jsonrpc":"2.0","id":1,"method":"ping"} // hi',
    "single quotes": "{'jsonrpc':'2.0'}",
    "a byte order mark": '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}',
    "a raw control character": '{"jsonrpc":"2.0","id":1,"method":"pi\nng"}',
    "a number of 5,000 digits": '{"jsonrpc":"2.0","id":' + "1" * 5000 + ',"method":"ping"}',
    "100,000 open lists": "[" * 100_000,
    "100,000 open objects": '{"a":' * 100_000,
}
INVALID_REQUESTS = {
    "a batch": json.dumps([request("ping"), request("ping", number=2)]),
    "an empty batch": "[]",
    "a text": '"ping"',
    "a number": "1",
    "null": "null",
    "nothing in it": "{}",
    "no version": '{"id":1,"method":"ping"}',
    "another version": '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    "a version that is a number": '{"jsonrpc":2.0,"id":1,"method":"ping"}',
    "no method": '{"jsonrpc":"2.0","id":1}',
    "an empty method": '{"jsonrpc":"2.0","id":1,"method":""}',
    "a method that is a number": '{"jsonrpc":"2.0","id":1,"method":5}',
    "a response": '{"jsonrpc":"2.0","id":1,"result":{}}',
    "parameters by position": '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}',
    "parameters that are a text": '{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}',
    "no id but null": '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    "a fractional id": '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    "a true id": '{"jsonrpc":"2.0","id":true,"method":"ping"}',
    "an id that is an object": '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    "an id of half a character": '{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}',
    "a method of half a character": '{"jsonrpc":"2.0","id":1,"method":"\\ud83d"}',
    "a tool of half a character": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud83d"}}',
    "a parameter of half a character": '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\ud83d":1}}',
    "a name twice": '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
    "an argument twice": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    '{"name":"recall","arguments":{"query":"a","query":"b"}}}',
    "a number without end": '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}',
    "900 levels": '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + "[" * 900 + "]" * 900 + "}}",
}


@pytest.mark.parametrize("body", PARSE_ERRORS.values(), ids=PARSE_ERRORS)
def test_what_is_not_json_is_a_parse_error(core: StandIn, endpoint: Endpoint, body: str) -> None:
    for headers in (LOCAL, {**LOCAL, "mcp-protocol-version": MODERN}):
        answer = send(endpoint, event(headers=headers, body=body))
        _is_tame(answer)
        assert (answer.status, answer.error["code"], answer.json["id"]) == (400, -32700, None)
    assert not core.store.requests


def test_no_body_at_all_is_a_parse_error(endpoint: Endpoint) -> None:
    answer = send(endpoint, event(headers=LOCAL))
    assert (answer.status, answer.error["code"]) == (400, -32700)


@pytest.mark.parametrize("body", INVALID_REQUESTS.values(), ids=INVALID_REQUESTS)
def test_what_is_not_one_message_is_an_invalid_request(core: StandIn, endpoint: Endpoint, body: str) -> None:
    for headers in (LOCAL, {**LOCAL, "mcp-protocol-version": MODERN}):
        answer = send(endpoint, event(headers=headers, body=body))
        _is_tame(answer)
        assert (answer.status, answer.error["code"]) == (400, -32600)
        assert answer.json["jsonrpc"] == "2.0"
    assert not core.store.requests
    assert not core.calls


def test_bytes_that_are_not_utf_8_are_a_parse_error(endpoint: Endpoint) -> None:
    for raw in (b"\xff\xfe{}", '{"a":"é"}'.encode("latin-1"), json.dumps(request("ping")).encode("utf-16")):
        sent = event(headers=LOCAL, body=base64.b64encode(raw).decode(), is_base64=True)
        answer = send(endpoint, sent)
        assert (answer.status, answer.error["code"]) == (400, -32700)


@pytest.mark.promise("P-BOUNDED")
def test_nesting_has_a_limit_that_is_said(endpoint: Endpoint) -> None:
    def nested(levels: int) -> str:
        inside = levels - 2
        return '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + "[" * inside + "]" * inside + "}}"

    assert send(endpoint, event(headers=LOCAL, body=nested(MOST_LEVELS))).status == 200
    refused = send(endpoint, event(headers=LOCAL, body=nested(MOST_LEVELS + 1)))
    assert refused.status == 400
    assert str(MOST_LEVELS) in str(refused.error["message"])


def test_many_small_objects_side_by_side_are_not_deep(endpoint: Endpoint) -> None:
    answer = post(endpoint, call("recall", {"query": "x", "many": [{"a": [1]}] * 1000}))
    assert answer.result["isError"] is False


@pytest.mark.case("B59")
def test_punctuation_in_a_query_is_only_text(core: StandIn, endpoint: Endpoint) -> None:
    query = 'C++ "v2": AND NOT (x*) ^~ ? / # \\ \' ; -- \u0000'
    assert post(endpoint, call("recall", {"query": query})).result["isError"] is False
    assert core.calls[0].arguments == {"query": query}


def test_an_event_of_another_kind_is_no_failure(endpoint: Endpoint) -> None:
    others: list[dict[str, object]] = [
        {},
        {"requestContext": None, "headers": [], "body": 5},
        {"Records": []},
    ]
    for other in others:
        _is_tame(send(endpoint, other))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(
    [
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "tools/call",
        "notifications/initialized",
        "x",
        "",
    ]
)
FUZZ = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FUZZ
@given(method=METHODS, params=JSON, number=JSON)
def test_any_json_in_a_message_is_answered_tamely(
    endpoint: Endpoint, method: str, params: object, number: object
) -> None:
    for message in (
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "recall", "arguments": params},
        },
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": params, "name": number}},
        params,
    ):
        _is_tame(post(endpoint, message))


@FUZZ
@given(arguments=JSON, extra=JSON)
def test_any_json_in_a_2026_message_is_answered_tamely(
    endpoint: Endpoint, arguments: object, extra: object
) -> None:
    message = modern(call("remember", {"content": arguments}), extra=extra)
    _is_tame(post(endpoint, message, **modern_headers(message)))


@FUZZ
@given(body=st.text(max_size=40), is_base64=st.booleans())
def test_any_text_for_a_body_is_answered_tamely(endpoint: Endpoint, body: str, is_base64: bool) -> None:
    _is_tame(send(endpoint, event(headers=LOCAL, body=body, is_base64=is_base64)))


HEADERS = st.sampled_from(
    "mcp-protocol-version mcp-method mcp-name x-memory-tenant x-tenant-id x-conversation-id authorization x-api-key"
    " content-type accept origin host mcp-session-id content-encoding".split()
)


@FUZZ
@given(given_headers=st.dictionaries(HEADERS, st.text(max_size=20), max_size=4))
def test_any_text_in_a_header_is_answered_tamely(endpoint: Endpoint, given_headers: dict[str, str]) -> None:
    for message in (call("recall", {"query": "x"}), modern(call("recall", {"query": "x"}))):
        _is_tame(send(endpoint, event(headers={**LOCAL, **given_headers}, body=json.dumps(message))))
