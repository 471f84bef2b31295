"""Tools called by methods other than `tools/call`.

Owns: what a tool's error becomes where the answer is no tool result: a JSON-RPC error with the interface's own
JSON as its data. Guarantees: nothing unforeseen is caught here; the dispatch answers that without its text.
Gives up: tools that write.

Source: JSON-RPC 2.0, section 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, PaginatedRequestParams

from lodestore.domain.caller import Caller
from lodestore.errors import LodestoreError, NotFound, Unavailable
from lodestore.services.toolbox import Toolbox
from mcp_server.exchange import Exchange

Context = ServerRequestContext[Any, Any]


class ToolReads:
    """The Toolbox for handlers of resources and prompts. Thread-safe."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    def call(
        self,
        context: Context,
        name: str,
        arguments: Mapping[str, object],
        *,
        not_found: int = INVALID_PARAMS,
    ) -> dict[str, object]:
        """The tool's answer for the caller of this message. Raises MCPError; `not_found` is the code of NotFound."""
        exchange = exchange_of(context)
        exchange.record.tool = name
        try:
            return self._toolbox.call(caller_of(exchange), name, arguments)
        except LodestoreError as error:
            exchange.record.error = error.code
            raise MCPError(
                code=_code(error, not_found), message=error.message, data=error.to_dict()
            ) from error


def exchange_of(context: Context) -> Exchange:
    """The exchange that the message was dispatched with."""
    exchange = context.request
    if not isinstance(exchange, Exchange):
        raise TypeError("a message was dispatched without its exchange")
    return exchange


def caller_of(exchange: Exchange) -> Caller:
    """Who sent a message that needs a tenant."""
    if exchange.caller is None:
        raise LookupError("a method that needs a tenant was let through without one")
    return exchange.caller


def check_cursor(params: PaginatedRequestParams | None, what: str) -> None:
    """Refuse a cursor: every list has one page. Raises MCPError."""
    if params is not None and params.cursor:
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown cursor: the list of {what} has one page.")


def _code(error: LodestoreError, not_found: int) -> int:
    if isinstance(error, NotFound):
        return not_found
    return INTERNAL_ERROR if isinstance(error, Unavailable) else INVALID_PARAMS
