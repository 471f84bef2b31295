"""The two eras of MCP, and which one a message belongs to.

Owns: the rule (2026-07-28 carries its version in every message, before it a handshake agreed on one) and
the SDK connection that each message gets.
Guarantees: a message that says one version in its header and another in its body is refused, never served
by the rules of either; the SDK goes by the header alone, and would.
Gives up: what the versions differ in; the SDK knows.

Source: MCP 2026-07-28, "Versioning" and "Streamable HTTP", protocol version header.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcp.server.connection import Connection
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    unsupported_protocol_version_rejection,
)
from mcp_types import HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY, ErrorData
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from mcp_server.envelope import Message

OK = 200


class Rejected(Exception):
    """The message fits neither era; `error` is what JSON-RPC says of it."""

    def __init__(self, rejection: InboundLadderRejection) -> None:
        super().__init__(rejection.message)
        self.error = ErrorData(code=rejection.code, message=rejection.message, data=rejection.data)


def is_modern(message: Message, headers: Mapping[str, str] | None) -> bool:
    """Whether the message is of 2026-07-28 or later. `headers` None: the transport has none."""
    if _names_modern_version(headers):
        return True
    meta = (message.params or {}).get("_meta")
    return message.method != "initialize" and isinstance(meta, Mapping) and PROTOCOL_VERSION_META_KEY in meta


def connect(message: Message, headers: Mapping[str, str] | None) -> Connection:
    """The SDK's connection for this one request. Raises Rejected."""
    _check_version_once(headers)
    if not is_modern(message, headers):
        version = (headers or {}).get(MCP_PROTOCOL_VERSION_HEADER, LATEST_HANDSHAKE_VERSION)
        return Connection.from_envelope(version, None, None)
    verdict = classify_inbound_request({"method": message.method, "params": message.params}, headers=headers)
    if isinstance(verdict, InboundLadderRejection):
        raise Rejected(verdict)
    return Connection.from_envelope(
        verdict.protocol_version, verdict.client_info, verdict.client_capabilities
    )


def check_notification(headers: Mapping[str, str] | None) -> None:
    """A notification is taken whatever it says, but one of an unknown version is told so. Raises Rejected."""
    _check_version_once(headers)
    if not _names_modern_version(headers) or headers is None:
        return
    rejection = unsupported_protocol_version_rejection(headers[MCP_PROTOCOL_VERSION_HEADER])
    if rejection is not None:
        raise Rejected(rejection)


def _check_version_once(headers: Mapping[str, str] | None) -> None:
    if headers is not None and "," in headers.get(MCP_PROTOCOL_VERSION_HEADER, ""):
        said = f"{MCP_PROTOCOL_VERSION_HEADER} header appears more than once"
        raise Rejected(InboundLadderRejection(code=HEADER_MISMATCH, message=said))


def status_of(error: ErrorData, *, modern: bool) -> int:
    """2026-07-28 gives error codes an HTTP status; before it, a well-formed request was answered with 200."""
    return ERROR_CODE_HTTP_STATUS.get(error.code, OK) if modern else OK


def _names_modern_version(headers: Mapping[str, str] | None) -> bool:
    version = None if headers is None else headers.get(MCP_PROTOCOL_VERSION_HEADER)
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
