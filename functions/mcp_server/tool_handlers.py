"""`tools/list` and `tools/call`: the SDK's handlers over the `Toolbox`.

Owns: what a tool's outcome becomes. An answer or one of the interface's errors is a result; an unknown tool
is -32602; anything else was not foreseen, and is answered as `unavailable` without a word of what it was.
Guarantees: a failed write is said to be of unknown outcome, a failed read to have written nothing.
Gives up: arguments and roles, which the Toolbox checks.
"""

from __future__ import annotations

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from lodestore.domain.caller import Role
from lodestore.errors import LodestoreError, Unavailable, Written
from lodestore.services.toolbox import Toolbox, UnknownTool
from mcp_server.exchange import OTHER, Exchange
from mcp_server.observability import Observer
from mcp_server.rendering import render_answer, render_error, render_tools
from mcp_server.tool_reads import Context, caller_of, check_cursor, exchange_of

_MOST_ECHOED = 64


class ToolHandlers:
    """Bound to one Toolbox. Thread-safe."""

    def __init__(self, toolbox: Toolbox, observer: Observer) -> None:
        self._toolbox = toolbox
        self._observer = observer
        self._known = {tool.name: tool for tool in toolbox.tools(Role.ADMIN)}
        self._lists = {role: render_tools(toolbox.tools(role)) for role in Role}

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        """The tools of the caller's role."""
        check_cursor(params, "tools")
        return self._lists[caller_of(exchange_of(context)).role]

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Run a tool in this thread: each message has one of its own."""
        exchange = exchange_of(context)
        exchange.record.tool = params.name if params.name in self._known else OTHER
        try:
            if exchange.fault is not None and params.name in self._known:
                raise exchange.fault
            answer = self._toolbox.call(caller_of(exchange), params.name, params.arguments or {})
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
