"""What a client asks when it starts, in either era, costs an invocation each and no storage request."""

from __future__ import annotations

import pytest

from mcp_server.endpoint import Endpoint
from tests.handlers.stand_ins import StandIn
from tests.handlers.wire import event, post, post_modern, request, send


@pytest.mark.promise("P-BOUNDED")
def test_what_a_client_asks_at_its_start_makes_no_storage_request(core: StandIn, endpoint: Endpoint) -> None:
    handshake = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    lists = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
    for method in ("server/discover", *lists):
        assert post_modern(endpoint, request(method)).status == 200
    for method, params in (("initialize", handshake), ("ping", {}), *((each, {}) for each in lists)):
        assert post(endpoint, request(method, params)).status == 200
    assert post(endpoint, {"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
    for method in ("GET", "DELETE", "OPTIONS", "PUT"):
        send(endpoint, event(method, headers={"host": "127.0.0.1:8765", "mcp-session-id": "stale"}))
    stale = post(endpoint, request("tools/list"), Mcp_Session_Id="stale")
    assert stale.status == 200
    assert not core.store.requests
    assert core.calls == []
