"""The SDK's view of one message that came without a stream.

Owns: `MessageContext`, an `mcp.shared.dispatcher.DispatchContext`.
Guarantees: the exchange reaches the tool handlers as `ctx.request`; the first `PROGRESS_MOST` reports of progress
that the client asked for are kept, to be sent in front of the answer in the same body.
Gives up: anything else beside the answer, and progress while it happens; there is nothing to send it on.

Source: MCP 2026-07-28 and 2025-11-25, "Progress".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext

from mcp_server.envelope import RequestId
from mcp_server.exchange import Exchange

PROGRESS_MOST = 100
_TRANSPORT = TransportContext(kind="single-message", can_send_request=False)


class MessageContext:
    """One message, answered once."""

    transport = _TRANSPORT
    can_send_request = False

    def __init__(
        self, request_id: RequestId | None, exchange: Exchange, *, progress_token: object = None
    ) -> None:
        self.request_id = request_id
        self.reports: list[Mapping[str, object]] = []
        self._token = progress_token
        self.message_metadata = ServerMessageMetadata(request_context=exchange)
        self.cancel_requested = anyio.Event()

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002 - the SDK's signature
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Always refused."""
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Dropped: notifications are advisory."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Kept as a notification in `reports` where the client gave a token."""
        if self._token is None or len(self.reports) >= PROGRESS_MOST:
            return
        given = {"progressToken": self._token, "progress": progress, "total": total, "message": message}
        params = {name: value for name, value in given.items() if value is not None}
        self.reports.append({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
