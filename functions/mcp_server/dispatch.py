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
from mcp_server.envelope import GREETINGS, Message, RequestId
from mcp_server.exchange import Exchange
from mcp_server.loops import Loops
from mcp_server.message_context import MessageContext
from mcp_server.observability import Observer
from mcp_server.prompt_handlers import PromptHandlers
from mcp_server.resource_handlers import ResourceHandlers
from mcp_server.surface import Lodestore
from mcp_server.tool_handlers import ToolHandlers
from mcp_server.tool_reads import ToolReads

NAME = "lodestore"
# What a client caches is keyed without our headers, so nothing is shared between callers.
CACHE_HINTS: Mapping[CacheableMethod, CacheHint] = {
    "tools/list": CacheHint(ttl_ms=300_000, scope="private"),
    "server/discover": CacheHint(ttl_ms=3_600_000, scope="private"),
    "resources/list": CacheHint(ttl_ms=300_000, scope="private"),
    "resources/templates/list": CacheHint(ttl_ms=300_000, scope="private"),
    "resources/read": CacheHint(ttl_ms=0, scope="private"),
    "prompts/list": CacheHint(ttl_ms=300_000, scope="private"),
}


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON-RPC answer and the HTTP status that goes with it; `payload` None: nothing is answered.

    before   notifications that belong in front of it
    """

    status: int
    payload: Mapping[str, object] | None
    before: tuple[Mapping[str, object], ...] = ()


class Dispatch:
    """The SDK's server over one Lodestore. Thread-safe."""

    def __init__(self, lodestore: Lodestore, observer: Observer) -> None:
        tools = ToolHandlers(lodestore.toolbox, observer)
        reads = ToolReads(lodestore.toolbox)
        resources, prompts = ResourceHandlers(reads), PromptHandlers(reads)
        self._lodestore = lodestore
        self._observer = observer
        self._loops = Loops()
        self.server = Server(
            NAME,
            version=__version__,
            instructions=lodestore.instructions,
            cache_hints=CACHE_HINTS,
            on_list_tools=tools.list_tools,
            on_call_tool=tools.call_tool,
            on_list_resources=resources.list_resources,
            on_list_resource_templates=resources.list_templates,
            on_read_resource=resources.read,
            on_list_prompts=prompts.list_prompts,
            on_get_prompt=prompts.get,
        )
        # The SDK's only default middleware opens trace spans, which take in exception texts.
        self.server.middleware.clear()

    def answer(self, message: Message, exchange: Exchange, headers: Mapping[str, str] | None) -> Reply:
        """Serve one message. `headers`: of the HTTP request, names in lower case; None over stdio."""
        modern = eras.is_modern(message, headers)
        try:
            if message.id is None:
                eras.check_notification(headers)
                return Reply(202, None)
            connection = eras.connect(message, headers)
            context = MessageContext(message.id, exchange, progress_token=_progress_token(message))
            result = self._loops.run(self._serve(message, context, connection))
            result = self._with_own_instructions(message, exchange, result)
        except Exception as failure:  # noqa: BLE001 - the one boundary between exceptions and the wire
            error = self._error_of(failure, exchange)
            exchange.record.error = f"rpc{error.code}"
            return Reply(eras.status_of(error, modern=modern), _payload(message.id, error))
        payload = {"jsonrpc": "2.0", "id": message.id, "result": result}
        return Reply(200, payload, tuple(context.reports))

    def _with_own_instructions(
        self, message: Message, exchange: Exchange, result: Mapping[str, object]
    ) -> Mapping[str, object]:
        pinned = self._lodestore.pinned
        if message.method not in GREETINGS or exchange.caller is None or pinned is None or not pinned.on:
            return result
        own = {**result, "instructions": pinned.of(exchange.caller, self._lodestore.instructions)}
        # What a client keeps is keyed without the tenant's header.
        return own | {"ttlMs": 0, "cacheScope": "private"} if "ttlMs" in result else own

    async def _serve(
        self, message: Message, context: MessageContext, connection: Connection
    ) -> Mapping[str, object]:
        return await serve_one(
            self.server, context, message.method, message.params, connection=connection, lifespan_state={}
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


def _progress_token(message: Message) -> RequestId | None:
    meta = (message.params or {}).get("_meta")
    token = meta.get("progressToken") if isinstance(meta, Mapping) else None
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def _payload(request_id: RequestId | None, error: ErrorData) -> Mapping[str, object]:
    shown: dict[str, object] = {"code": error.code, "message": error.message}
    # The SDK marks a failed validation with empty data, which says nothing.
    if error.data not in (None, ""):
        shown["data"] = error.data
    return {"jsonrpc": "2.0", "id": request_id, "error": shown}
