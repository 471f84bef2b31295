"""Both eras of MCP from one endpoint: the exchanges and the header rules of each."""

from __future__ import annotations

import base64

import pytest

from lodestore import __version__
from mcp_server.endpoint import Endpoint
from tests.handlers.stand_ins import INSTRUCTIONS
from tests.handlers.wire import (
    CAPABILITIES_KEY,
    META,
    MODERN,
    VERSION_KEY,
    call,
    modern,
    modern_headers,
    post,
    post_modern,
    request,
)

HANDSHAKE = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
SERVER = {"name": "lodestore", "version": __version__}


def test_a_client_of_2026_discovers_the_server(endpoint: Endpoint) -> None:
    answer = post_modern(endpoint, request("server/discover"))
    assert answer.status == 200
    assert answer.result["resultType"] == "complete"
    assert answer.result["supportedVersions"] == [MODERN]
    assert answer.result["instructions"] == INSTRUCTIONS
    assert answer.result["_meta"] == {"io.modelcontextprotocol/serverInfo": SERVER}
    assert answer.result["cacheScope"] == "private"
    assert isinstance(answer.result["ttlMs"], int)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_client_of_a_handshake_version_gets_the_version_it_asked_for(
    endpoint: Endpoint, version: str
) -> None:
    answer = post(endpoint, request("initialize", {"protocolVersion": version, **HANDSHAKE}))
    assert answer.status == 200
    assert answer.result["protocolVersion"] == version
    assert answer.result["serverInfo"] == SERVER
    assert answer.result["instructions"] == INSTRUCTIONS
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("version", ["1999-01-01", MODERN, "latest"])
def test_an_unknown_or_later_version_is_answered_with_the_newest_of_the_handshake(
    endpoint: Endpoint, version: str
) -> None:
    answer = post(endpoint, request("initialize", {"protocolVersion": version, **HANDSHAKE}))
    assert answer.result["protocolVersion"] == "2025-11-25"


def test_only_what_is_served_is_declared(endpoint: Endpoint) -> None:
    legacy = post(endpoint, request("initialize", {"protocolVersion": "2025-11-25", **HANDSHAKE}))
    discovered = post_modern(endpoint, request("server/discover"))
    for answer in (legacy, discovered):
        assert answer.result["capabilities"] == {
            "tools": {"listChanged": False},
            "resources": {"listChanged": False, "subscribe": False},
            "prompts": {"listChanged": False},
        }
    for method in ("subscriptions/listen", "resources/subscribe", "logging/setLevel", "tasks/get"):
        answer = post_modern(endpoint, request(method))
        assert answer.status in (400, 404)
        assert answer.error["code"] in (-32601, -32602)


def test_initialize_with_a_2026_header_is_refused(endpoint: Endpoint) -> None:
    message = request("initialize", {"protocolVersion": "2025-11-25", **HANDSHAKE})
    answer = post(endpoint, message, MCP_Protocol_Version=MODERN)
    assert (answer.status, answer.error["code"]) == (400, -32602)


def test_ping_belongs_to_the_handshake_era(endpoint: Endpoint) -> None:
    assert post(endpoint, request("ping")).json == {"jsonrpc": "2.0", "id": 1, "result": {}}
    answer = post_modern(endpoint, request("ping"))
    assert (answer.status, answer.error["code"]) == (404, -32601)


def test_an_unknown_method_is_404_in_2026_and_an_error_in_200_before(endpoint: Endpoint) -> None:
    before = post(endpoint, request("tools/invent"))
    assert (before.status, before.error["code"]) == (200, -32601)
    since = post_modern(endpoint, request("tools/invent"))
    assert (since.status, since.error["code"]) == (404, -32601)


@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/cancelled", "notifications/x"]
)
def test_a_notification_is_accepted_with_no_body(endpoint: Endpoint, method: str) -> None:
    for headers in ({}, {"MCP_Protocol_Version": "2025-11-25"}, {"MCP_Protocol_Version": MODERN}):
        answer = post(endpoint, {"jsonrpc": "2.0", "method": method}, **headers)
        assert (answer.status, answer.text) == (202, "")


def test_a_notification_of_an_unknown_version_is_told_which_are_served(endpoint: Endpoint) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = post(endpoint, message, MCP_Protocol_Version="2099-01-01")
    assert (answer.status, answer.error["code"]) == (400, -32022)


@pytest.mark.parametrize("message", [request("tools/list"), call("recall", {"query": "tea"})])
def test_a_handshake_client_needs_no_version_header_and_may_send_one(
    endpoint: Endpoint, message: dict[str, object]
) -> None:
    plain = post(endpoint, message)
    for version in ("2025-03-26", "2025-06-18", "2025-11-25"):
        assert post(endpoint, message, MCP_Protocol_Version=version).json == plain.json


@pytest.mark.parametrize("number", [0, 1, -7, "", "0", "a-b", 2**53])
def test_the_id_comes_back_as_it_was_sent(endpoint: Endpoint, number: object) -> None:
    assert post(endpoint, request("ping", number=number)).json["id"] == number
    assert post_modern(endpoint, request("server/discover", number=number)).json["id"] == number


def test_results_of_2026_are_complete_and_name_the_server(endpoint: Endpoint) -> None:
    for message in (request("tools/list"), call("recall", {"query": "tea"})):
        result = post_modern(endpoint, message).result
        assert result["resultType"] == "complete"
        assert result["_meta"] == {"io.modelcontextprotocol/serverInfo": SERVER}
        assert "resultType" not in post(endpoint, message).result


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("MCP_Protocol_Version", ""),
        ("MCP_Protocol_Version", "2025-11-25"),
        ("MCP_Protocol_Version", f"{MODERN},{MODERN}"),
        ("MCP_Protocol_Version", "2026-07-29"),
        ("Mcp_Method", ""),
        ("Mcp_Method", "tools/list"),
        ("Mcp_Method", "tools/call,tools/call"),
        ("Mcp_Method", "Tools/Call"),
        ("Mcp_Name", ""),
        ("Mcp_Name", "remember"),
        ("Mcp_Name", "recall,recall"),
        ("Mcp_Name", "=?base64?@@@?="),
    ],
)
def test_a_header_that_disagrees_with_the_message_is_a_mismatch(
    endpoint: Endpoint, header: str, value: str
) -> None:
    answer = post_modern(endpoint, call("recall", {"query": "tea"}), **{header: value})
    assert (answer.status, answer.error["code"]) == (400, -32020)
    assert answer.json["id"] == 1


def test_a_name_header_may_be_base64_and_padded(endpoint: Endpoint) -> None:
    message = call("recall", {"query": "tea"})
    encoded = base64.b64encode(b"recall").decode()
    for value in ("  recall\t", f"=?base64?{encoded}?="):
        assert post_modern(endpoint, message, Mcp_Name=value).status == 200


def test_an_unknown_version_said_twice_alike_is_told_which_are_served(endpoint: Endpoint) -> None:
    message = modern(request("tools/list"), **{VERSION_KEY: "2099-01-01"})
    answer = post(endpoint, message, MCP_Protocol_Version="2099-01-01", Mcp_Method="tools/list")
    assert answer.status == 400
    assert answer.error["code"] == -32022
    assert answer.error["data"] == {"supported": [MODERN], "requested": "2099-01-01"}


@pytest.mark.parametrize(
    "meta", [{}, {VERSION_KEY: MODERN}, {CAPABILITIES_KEY: {}}, None, "x", [], {**META, CAPABILITIES_KEY: 7}]
)
def test_an_incomplete_envelope_is_refused(endpoint: Endpoint, meta: object) -> None:
    message = request("tools/list", {"_meta": meta})
    answer = post(endpoint, message, **modern_headers(message))
    assert (answer.status, answer.error["code"]) == (400, -32602)


def test_an_envelope_without_client_info_is_fine(endpoint: Endpoint) -> None:
    message = request("tools/list", {"_meta": {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}}})
    assert post(endpoint, message, **modern_headers(message)).status == 200


def test_a_2026_message_is_never_served_by_the_rules_of_2025(endpoint: Endpoint) -> None:
    message = modern(call("recall", {"query": "tea"}))
    for headers in ({}, {"MCP_Protocol_Version": "2025-06-18"}):
        answer = post(endpoint, message, **headers)
        assert (answer.status, answer.error["code"]) == (400, -32020)


def test_a_cursor_of_tools_list_is_refused_since_there_is_one_page(endpoint: Endpoint) -> None:
    assert post(endpoint, request("tools/list", {"cursor": "x"})).error["code"] == -32602


@pytest.mark.case("B91")
@pytest.mark.parametrize("session", ["", "3f0c9a1e-7f0b-4a51-9c1d-000000000000", "nonsense", "a,b"])
def test_a_stale_session_id_makes_no_difference_even_to_a_cold_endpoint(
    endpoint: Endpoint, session: str
) -> None:
    message = call("recall", {"query": "tea"})
    first = post(endpoint, message, Mcp_Session_Id=session)
    assert first.status == 200
    assert first.result["isError"] is False
    assert post_modern(endpoint, message, Mcp_Session_Id=session).status == 200


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_a_version_that_was_sent_twice_is_refused_by_name(endpoint: Endpoint, version: str) -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for message in (request("ping"), call("recall", {"query": "tea"}), notification):
        answer = post(endpoint, message, MCP_Protocol_Version=f"{version},{version}")
        assert (answer.status, answer.error["code"]) == (400, -32020)
        assert "mcp-protocol-version" in str(answer.error["message"])
