"""The SDK's own client in front of an endpoint, without a socket.

Owns: the bridge from the client's HTTP requests to function-URL events. Guarantees: every request that the client
makes is kept, in order. Gives up: what a server in between adds; `tests/system` has real ones.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio.to_thread
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from tests.handlers.wire import event

Handler = Callable[[Mapping[str, object], object], dict[str, object]]
Mode = Literal["auto", "legacy"]
URL = "http://127.0.0.1:8765/mcp"


@dataclass(frozen=True)
class Seen:
    """One HTTP request of the client: its method, the MCP method in it, and the status that it got."""

    method: str
    message: str
    status: int


@dataclass
class Bridge(httpx2.AsyncBaseTransport):
    """An HTTP transport whose other end is a handler."""

    handler: Handler
    seen: list[Seen] = field(default_factory=list)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        sent = event(
            request.method,
            request.url.path,
            headers=dict(request.headers),
            body=base64.b64encode(body).decode(),
            is_base64=True,
        )
        answer = await anyio.to_thread.run_sync(self.handler, sent, None)
        status, headers, text = answer["statusCode"], answer["headers"], answer["body"]
        assert isinstance(status, int)
        assert isinstance(headers, dict)
        assert isinstance(text, str)
        self.seen.append(Seen(request.method, json.loads(body)["method"] if body else "", status))
        return httpx2.Response(status, headers=headers, content=text.encode(), request=request)


@asynccontextmanager
async def client(bridge: Bridge, mode: Mode, **headers: str) -> AsyncIterator[Client]:
    """The SDK's client in one of its modes, sending these headers with every request (`_` for `-`)."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(transport=bridge, headers=named) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as connected,
    ):
        yield connected


async def structured(connected: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool; its structured answer, which its text must equal."""
    result = await connected.call_tool(tool, arguments)
    assert isinstance(result.structured_content, dict)
    (block,) = result.content
    assert isinstance(block, TextContent)
    return result.structured_content
