"""One MCP message in, one answer out, by the official SDK (docs/decisions, "SDK dispatch").

Owns: the SDK's low-level server and the JSON-RPC form of answers.
Guarantees: one message at a time and no session, so that any instance can answer any message (B91); nothing
is declared that is not served; the only errors whose text a client sees are the interface's and the
protocol's own.
Gives up: everything that needs a stream or a memory of earlier messages: sessions, subscriptions, server
requests.

Sources: MCP 2026-07-28 and 2025-11-25, JSON-RPC 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcp.server import CacheHint, Server
from mcp.server.caching import CacheableMethod
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp_types import INTERNAL_ERROR, ErrorData

from lodestore import __version__
from mcp_server import eras
from mcp_server.envelope import Message, RequestId
from mcp_server.exchange import Exchange
from mcp_server.loops import Loops
from mcp_server.message_context import MessageContext
from mcp_server.observability import Observer
from mcp_server.surface import Lodestore
from mcp_server.tool_handlers import ToolHandlers

NAME = "lodestore"
# What a client caches is keyed without our headers, so nothing is shared between callers.
CACHE_HINTS: Mapping[CacheableMethod, CacheHint] = {
    "tools/list": CacheHint(ttl_ms=300_000, scope="private"),
    "server/discover": CacheHint(ttl_ms=3_600_000, scope="private"),
}


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON-RPC answer and the HTTP status that goes with it; `payload` None: nothing is answered."""

    status: int
    payload: Mapping[str, object] | None


class Dispatch:
    """The SDK's server over one Lodestore. Thread-safe."""

    def __init__(self, lodestore: Lodestore, observer: Observer) -> None:
        handlers = ToolHandlers(lodestore.toolbox, observer)
        self._observer = observer
        self._loops = Loops()
        self._server = Server(
            NAME,
            version=__version__,
            instructions=lodestore.instructions,
            cache_hints=CACHE_HINTS,
            on_list_tools=handlers.list_tools,
            on_call_tool=handlers.call_tool,
        )
        # The SDK's only default middleware opens trace spans, which take in exception texts.
        self._server.middleware.clear()

    def answer(self, message: Message, exchange: Exchange, headers: Mapping[str, str] | None) -> Reply:
        """Serve one message. `headers`: of the HTTP request, names in lower case; None over stdio."""
        modern = eras.is_modern(message, headers)
        try:
            if message.id is None:
                eras.check_notification(headers)
                return Reply(202, None)
            connection = eras.connect(message, headers)
            result = self._loops.run(self._serve(message, exchange, connection))
        except Exception as failure:  # noqa: BLE001 - the one boundary between exceptions and the wire
            error = self._error_of(failure, exchange)
            exchange.record.error = f"rpc{error.code}"
            return Reply(eras.status_of(error, modern=modern), _payload(message.id, error))
        return Reply(200, {"jsonrpc": "2.0", "id": message.id, "result": result})

    async def _serve(
        self, message: Message, exchange: Exchange, connection: Connection
    ) -> Mapping[str, object]:
        context = MessageContext(message.id, exchange)
        return await serve_one(
            self._server, context, message.method, message.params, connection=connection, lifespan_state={}
        )

    def _error_of(self, failure: Exception, exchange: Exchange) -> ErrorData:
        if isinstance(failure, eras.Rejected):
            return failure.error
        known = handler_exception_to_error_data(failure)
        if known is not None:
            return known
        self._observer.failed(exchange.record, failure)
        said = f"Something failed inside the server (reference {exchange.record.request_id})."
        return ErrorData(code=INTERNAL_ERROR, message=said)


def _payload(request_id: RequestId | None, error: ErrorData) -> Mapping[str, object]:
    shown: dict[str, object] = {"code": error.code, "message": error.message}
    # The SDK marks a failed validation with empty data, which says nothing.
    if error.data not in (None, ""):
        shown["data"] = error.data
    return {"jsonrpc": "2.0", "id": request_id, "error": shown}
