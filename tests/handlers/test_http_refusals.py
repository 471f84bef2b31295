"""What is refused over HTTP, how, and that no storage is asked."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from lodestore.domain.limits import BODY_BYTES
from lodestore.errors import SettingsError
from mcp_server.endpoint import Endpoint
from mcp_server.origins import parse_origins
from tests.handlers.stand_ins import StandIn, endpoint_of, keys_mode, stand_in
from tests.handlers.wire import LOCAL, Answer, call, event, post, request, send

PING = json.dumps(request("ping"))


def _says_why(answer: Answer) -> None:
    assert answer.headers["content-type"] == "application/json"
    assert {"error", "message", "next_step"} <= set(answer.json)
    assert all(answer.json[name] for name in ("error", "message", "next_step"))


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "PUT", "PATCH", "TRACE", "", "post2"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_every_method_but_post_is_405_at_once(
    core: StandIn, endpoint: Endpoint, method: str, path: str
) -> None:
    for headers in ({}, {"accept": "text/event-stream", "mcp-session-id": "x", "host": "evil.example"}):
        answer = send(endpoint, event(method, path, headers=headers))
        assert answer.status == 405
        assert answer.headers["allow"] == "POST"
    assert not core.store.requests


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/mcp2",
        "//mcp",
        "/mcp/x",
        "/MCP",
        "/sse",
        "/health/x",
        "/%2e%2e/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.case("B90")
def test_every_other_path_is_404(tmp_path: Path, method: str, path: str) -> None:
    for core in (stand_in(tmp_path), stand_in(tmp_path, AUTH="keys")):
        answer = send(endpoint_of(core), event(method, path, headers=LOCAL, body=PING))
        assert answer.status == 404
        _says_why(answer)
        assert not core.store.requests


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_mcp_is_served_with_and_without_a_slash(endpoint: Endpoint, path: str) -> None:
    assert send(endpoint, event("POST", path, headers=LOCAL, body=PING)).result == {}


def test_health_needs_no_key_no_tenant_and_no_storage(tmp_path: Path) -> None:
    core = stand_in(tmp_path, AUTH="keys", TENANT="")
    answer = send(endpoint_of(core), event("GET", "/health"))
    assert answer.status == 200
    assert set(answer.json) == {"status", "version", "auth", "embeddings"}
    assert answer.json["auth"] == "keys"
    assert not core.store.requests
    refused = send(endpoint_of(core), event("POST", "/health", body="{}"))
    assert (refused.status, refused.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example:8765",
        "null",
        "",
        "file://",
        "http://127.0.0.1@evil.example",
        "http://[::1",
        "http://localhost:notaport",
        "http://localhost/path",
        "chrome-extension://localhost",
        "http://localhost,http://localhost",
    ],
)
def test_a_page_of_another_origin_is_refused(core: StandIn, endpoint: Endpoint, origin: str) -> None:
    answer = send(endpoint, event(headers={**LOCAL, "origin": origin}, body=json.dumps(call("recall"))))
    assert answer.status == 403
    _says_why(answer)
    assert "access-control-allow-origin" not in answer.headers
    assert not core.calls


@pytest.mark.parametrize(
    "origin", ["http://localhost:6274", "http://127.0.0.1", "https://[::1]:8443", "http://LOCALHOST:1"]
)
def test_a_page_of_this_machine_may_call_in_open_mode(endpoint: Endpoint, origin: str) -> None:
    answer = post(endpoint, request("ping"), Origin=origin)
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == origin
    assert answer.headers["vary"] == "Origin"


def test_in_key_mode_only_listed_origins_may_call(tmp_path: Path) -> None:
    core, key = keys_mode(tmp_path)
    endpoint = endpoint_of(core, origins=parse_origins("https://app.example, http://localhost:3000"))
    allowed = post(endpoint, request("ping"), Origin="https://app.example", Authorization=f"Bearer {key}")
    assert (allowed.status, allowed.headers["access-control-allow-origin"]) == (200, "https://app.example")
    for origin in ("http://localhost:6274", "https://app.example:444", "http://app.example"):
        refused = post(endpoint, request("ping"), Origin=origin, Authorization=f"Bearer {key}")
        assert refused.status == 403
    unauthenticated = post(endpoint, request("ping"), Origin="https://app.example")
    assert unauthenticated.status == 401
    assert unauthenticated.headers["access-control-expose-headers"] == "WWW-Authenticate"


@pytest.mark.parametrize("text", ["app.example", "*", "https://", "ftp://x", "https://a/b", "null"])
def test_an_origin_that_no_browser_sends_stops_the_start(text: str) -> None:
    with pytest.raises(SettingsError, match="ALLOWED_ORIGINS"):
        parse_origins(text)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "abc.lambda-url.eu-central-1.on.aws",
        "127.0.0.1.x",
        "",
        "a b",
        "[::1",
    ],
)
def test_in_open_mode_a_rebound_host_name_is_refused(core: StandIn, endpoint: Endpoint, host: str) -> None:
    answer = send(endpoint, event(headers={**LOCAL, "host": host}, body=json.dumps(call("recall"))))
    assert answer.status == 403
    assert answer.json["field"] == "Host"
    assert not core.calls


@pytest.mark.parametrize("host", ["localhost", "LocalHost:1", "127.0.0.1:8765", "[::1]:8765"])
def test_in_open_mode_loopback_names_are_served(endpoint: Endpoint, host: str) -> None:
    assert post(endpoint, request("ping"), Host=host).status == 200


def test_in_key_mode_any_host_name_is_served(tmp_path: Path) -> None:
    core, key = keys_mode(tmp_path)
    for host in ("abc.lambda-url.eu-central-1.on.aws", "memory.example.com"):
        assert post(endpoint_of(core), request("ping"), Host=host, X_API_Key=key).status == 200


def test_a_preflight_is_answered_for_admitted_pages_only(core: StandIn, endpoint: Endpoint) -> None:
    asked = {**LOCAL, "origin": "http://localhost:6274", "access-control-request-method": "POST"}
    answer = send(endpoint, event("OPTIONS", headers=asked))
    assert (answer.status, answer.text) == (204, "")
    assert answer.headers["access-control-allow-origin"] == "http://localhost:6274"
    assert answer.headers["access-control-allow-methods"] == "POST"
    for name in ("Authorization", "X-API-Key", "MCP-Protocol-Version", "Mcp-Name", "X-Memory-Tenant"):
        assert name in answer.headers["access-control-allow-headers"]
    assert send(endpoint, event("OPTIONS", headers={**asked, "origin": "https://evil.example"})).status == 403
    assert send(endpoint, event("OPTIONS", headers=LOCAL)).status == 204
    assert not core.store.requests


def _ping_of(size: int, filler: str) -> str:
    """A ping of exactly `size` bytes, most of them `filler`."""
    head, tail = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', '"}}'
    fillers, rest = divmod(size - len(head) - len(tail), len(filler.encode()))
    return f"{head}{filler * fillers}{'x' * rest}{tail}"


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.parametrize("filler", ["x", "é", "年", "😀"])
@pytest.mark.parametrize(
    ("size", "status"), [(BODY_BYTES, 200), (BODY_BYTES + 1, 413), (3 * BODY_BYTES, 413)]
)
def test_a_body_over_one_mebibyte_is_413_in_either_encoding(
    endpoint: Endpoint, filler: str, size: int, status: int
) -> None:
    body = _ping_of(size, filler)
    assert len(body.encode()) == size
    encoded = base64.b64encode(body.encode()).decode()
    for sent in (event(headers=LOCAL, body=body), event(headers=LOCAL, body=encoded, is_base64=True)):
        answer = send(endpoint, sent)
        assert answer.status == status
        if status == 413:
            _says_why(answer)
            assert answer.json["error"] == "too_large"


@pytest.mark.parametrize("body", ["@@@", "a", "ab=c", "é", "YWJj\n"])
def test_a_body_that_is_no_base64_is_400_and_not_empty(endpoint: Endpoint, body: str) -> None:
    answer = send(endpoint, event(headers=LOCAL, body=body, is_base64=True))
    assert (answer.status, answer.json["field"]) == (400, "body")


def test_a_base64_body_is_decoded(endpoint: Endpoint) -> None:
    body = base64.b64encode(PING.encode()).decode()
    assert send(endpoint, event(headers=LOCAL, body=body, is_base64=True)).result == {}


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        'Application/JSON;charset="UTF-8"',
        "application/json;v=1",
        "",
    ],
)
def test_json_content_types_are_served(endpoint: Endpoint, content_type: str) -> None:
    assert post(endpoint, request("ping"), Content_Type=content_type).status == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "application/jsonp",
        "x",
    ],
)
def test_another_content_type_is_415_with_the_reason_as_json(endpoint: Endpoint, content_type: str) -> None:
    answer = post(endpoint, request("ping"), Content_Type=content_type)
    assert answer.status == 415
    _says_why(answer)


@pytest.mark.parametrize(
    "accept", ["", "application/json", "*/*", "application/json, text/event-stream", "text/event-stream"]
)
def test_answers_are_json_whatever_is_accepted(endpoint: Endpoint, accept: str) -> None:
    answer = post(endpoint, request("ping"), Accept=accept)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
