"""Messages and events as clients send them, and answers as they read them.

Owns: the exact forms of both protocol eras. Guarantees: nothing is filled in that a test did not ask for.
Gives up: being a client; the real ones are used elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from mcp_server.endpoint import Endpoint

MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
INFO_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
META: Mapping[str, object] = {
    VERSION_KEY: MODERN,
    INFO_KEY: {"name": "t", "version": "1"},
    CAPABILITIES_KEY: {},
}
LOCAL = {"host": "127.0.0.1:8765", "content-type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """An HTTP answer with its body read as JSON (None: empty)."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> dict[str, object]:
        value = json.loads(self.text)
        assert isinstance(value, dict)
        return value

    @property
    def result(self) -> dict[str, object]:
        result = self.json["result"]
        assert isinstance(result, dict)
        return result

    @property
    def error(self) -> dict[str, object]:
        error = self.json["error"]
        assert isinstance(error, dict)
        return error

    @property
    def structured(self) -> dict[str, object]:
        structured = self.result["structuredContent"]
        assert isinstance(structured, dict)
        return structured


def event(
    method: str = "POST",
    path: str = "/mcp",
    *,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
    is_base64: bool = False,
) -> dict[str, object]:
    """A function-URL event; headers are exactly those given."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": dict(headers or {}),
        "requestContext": {
            "domainName": "abc.lambda-url.eu-central-1.on.aws",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            "requestId": "r-1",
        },
        "isBase64Encoded": is_base64,
        **({} if body is None else {"body": body}),
    }


def send(endpoint: Endpoint, sent: dict[str, object]) -> Answer:
    """Call the endpoint as Lambda does, event and answer through JSON."""
    answer = json.loads(json.dumps(endpoint(json.loads(json.dumps(sent)), None)))
    assert set(answer) == {"statusCode", "headers", "body", "isBase64Encoded"}
    return Answer(answer["statusCode"], answer["headers"], answer["body"])


def post(endpoint: Endpoint, message: object, **headers: str) -> Answer:
    """Send a message as JSON. Header names are given with `_` for `-`; a value "" leaves a header out."""
    named = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    chosen = {name: value for name, value in {**LOCAL, **named}.items() if value}
    return send(endpoint, event(headers=chosen, body=json.dumps(message)))


def request(
    method: str, params: Mapping[str, object] | None = None, *, number: object = 1
) -> dict[str, object]:
    """A request of the handshake era."""
    message: dict[str, object] = {"jsonrpc": "2.0", "id": number, "method": method}
    return message if params is None else message | {"params": dict(params)}


def call(
    tool: str, arguments: Mapping[str, object] | None = None, *, number: object = 1
) -> dict[str, object]:
    """`tools/call` of the handshake era."""
    return request("tools/call", {"name": tool, "arguments": dict(arguments or {})}, number=number)


def modern(message: Mapping[str, object], **meta: object) -> dict[str, object]:
    """The same request with the envelope of 2026-07-28."""
    params = message.get("params") or {}
    assert isinstance(params, Mapping)
    return {**message, "params": {**params, "_meta": {**META, **meta}}}


def modern_headers(message: Mapping[str, object]) -> dict[str, str]:
    """The headers that 2026-07-28 wants beside the message, for `post`."""
    params = message.get("params") or {}
    assert isinstance(params, Mapping)
    named = {"Mcp_Name": str(params["name"])} if message["method"] == "tools/call" else {}
    return {"MCP_Protocol_Version": MODERN, "Mcp_Method": str(message["method"]), **named}


def post_modern(endpoint: Endpoint, message: Mapping[str, object], **headers: str) -> Answer:
    """Send a message by the rules of 2026-07-28."""
    return post(endpoint, modern(message), **{**modern_headers(message), **headers})
