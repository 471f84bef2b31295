"""`tools/list` and `tools/call`: the SDK's handlers over the `Toolbox`.

Owns: what a tool's outcome becomes. An answer or one of the interface's errors is a result; an unknown tool
is -32602; anything else was not foreseen, and is answered as `unavailable` without a word of what it was.
Guarantees: a failed write is said to be of unknown outcome, a failed read to have written nothing.
Gives up: arguments and roles, which the Toolbox checks.
"""

from __future__ import annotations

from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from lodestore.domain.caller import Caller, Role
from lodestore.errors import LodestoreError, Unavailable, Written
from lodestore.services.toolbox import Toolbox, UnknownTool
from mcp_server.exchange import OTHER, Exchange
from mcp_server.observability import Observer
from mcp_server.rendering import render_answer, render_error, render_tools

_MOST_ECHOED = 64
Context = ServerRequestContext[Any, Any]


class ToolHandlers:
    """Bound to one Toolbox. Thread-safe."""

    def __init__(self, toolbox: Toolbox, observer: Observer) -> None:
        self._toolbox = toolbox
        self._observer = observer
        self._known = {tool.name: tool for tool in toolbox.tools(Role.ADMIN)}
        self._lists = {role: render_tools(toolbox.tools(role)) for role in Role}

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        """The tools of the caller's role."""
        if params is not None and params.cursor:
            raise MCPError(code=INVALID_PARAMS, message="Unknown cursor: the list of tools has one page.")
        return self._lists[_caller(_exchange(context)).role]

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Run a tool in this thread: each message has one of its own."""
        exchange = _exchange(context)
        exchange.record.tool = params.name if params.name in self._known else OTHER
        try:
            if exchange.fault is not None and params.name in self._known:
                raise exchange.fault
            answer = self._toolbox.call(_caller(exchange), params.name, params.arguments or {})
            return render_answer(answer)
        except UnknownTool:
            name = params.name[:_MOST_ECHOED]
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {name}") from None
        except LodestoreError as error:
            exchange.record.error = error.code
            return render_error(error)
        except Exception as error:  # noqa: BLE001 - logged by type, answered without its text
            return self._unforeseen(exchange, params.name, error)

    def _unforeseen(self, exchange: Exchange, name: str, error: Exception) -> CallToolResult:
        exchange.record.error = Unavailable.code
        self._observer.failed(exchange.record, error)
        reference = exchange.record.request_id
        written: Written = False if self._known[name].read_only else "unknown"
        said = f"Something failed inside the server (reference {reference})."
        return render_error(Unavailable(said, written=written))


def _exchange(context: Context) -> Exchange:
    exchange = context.request
    if not isinstance(exchange, Exchange):
        raise TypeError("a message was dispatched without its exchange")
    return exchange


def _caller(exchange: Exchange) -> Caller:
    if exchange.caller is None:
        raise LookupError("a method that needs a tenant was let through without one")
    return exchange.caller
