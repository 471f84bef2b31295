"""What is decided about a request before its message is read.

Owns: the paths and methods that exist, the size of a body, how it is encoded, and where a credential
stands.
Guarantees: nothing here needs storage or the MCP SDK, whose import costs a second of a cold start; GET on
/mcp is 405 at once, because an SDK's stream in its place would hold a function until its timeout.
Gives up: what is in the body.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from enum import Enum

from lodestore.domain.limits import BODY_BYTES
from mcp_server.http_event import JSON_TYPE, HttpRequest
from mcp_server.protected_resource import PATHS
from mcp_server.refusals import Refusal

_ALLOW_POST = {"allow": "POST"}
_ALLOW_GET = {"allow": "GET"}
_UTF_8 = ("", "utf-8", "utf8")


class Route(Enum):
    """What a request is for."""

    MCP = "mcp"
    PREFLIGHT = "preflight"
    HEALTH = "health"
    METADATA = "metadata"


def route(request: HttpRequest, *, metadata: bool = False) -> Route:
    """Where the request goes. Raises Refusal (404, 405).

    metadata   whether the OAuth well-known paths exist: if they did without OAuth, clients would drop their keys
    """
    path = request.path.removesuffix("/")
    if metadata and path in PATHS:
        if request.method == "GET":
            return Route.METADATA
        raise _wrong_method("The metadata of this server is read by GET.", _ALLOW_GET)
    if path == "/mcp":
        if request.method == "OPTIONS":
            return Route.PREFLIGHT
        if request.method == "POST":
            return Route.MCP
        raise _wrong_method("MCP messages are sent by POST; there is no stream to GET.", _ALLOW_POST)
    if path == "/health":
        if request.method == "GET":
            return Route.HEALTH
        raise _wrong_method("The health of the server is read by GET.", _ALLOW_GET)
    said = "There is nothing at this path."
    raise Refusal(404, "not_found", said, next_step="The MCP endpoint is POST /mcp.")


def read_credential(headers: Mapping[str, str]) -> str | None:
    """The API key that the request shows, None where it shows none. Raises Refusal (400)."""
    bearer = _bearer(headers.get("authorization", ""))
    plain = headers.get("x-api-key") or None
    for name, value in (("Authorization", bearer), ("X-API-Key", plain)):
        if value is not None and "," in value:
            raise _malformed(name, f"{name} was sent twice, or holds a comma.")
    if bearer is not None and plain is not None and bearer != plain:
        raise _malformed("X-API-Key", "Authorization and X-API-Key hold two different keys.")
    return bearer if bearer is not None else plain


def read_body(request: HttpRequest) -> bytes:
    """The body's bytes, at most `BODY_BYTES`. Raises Refusal (400, 413, 415)."""
    _check_content_type(request.headers.get("content-type"))
    if not request.is_base64:
        check_size(request)
        try:
            return request.body.encode()
        except UnicodeEncodeError:
            raise _malformed("body", "The body is not UTF-8.") from None
    try:
        decoded = base64.b64decode(request.body, validate=True)
    except (binascii.Error, ValueError):
        raise _malformed("body", "The body is said to be base64 and is not.") from None
    if len(decoded) > BODY_BYTES:
        raise _too_large(len(decoded))
    return decoded


def check_size(request: HttpRequest) -> None:
    """Refuse a body that is over the limit, without decoding it. Raises Refusal (413)."""
    body = request.body
    encoded = len(body) // 4 * 3 - body[-2:].count("=") if request.is_base64 else None
    size = len(body.encode(errors="replace")) if encoded is None else encoded
    if size > BODY_BYTES:
        raise _too_large(size)


def _bearer(value: str) -> str | None:
    scheme, _, token = value.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _check_content_type(value: str | None) -> None:
    if not value:
        return
    media_type, *parameters = (part.strip().lower() for part in value.split(";"))
    charset = next((p.partition("=")[2].strip('"') for p in parameters if p.startswith("charset=")), "")
    if media_type != JSON_TYPE or charset not in _UTF_8:
        raise Refusal(
            415,
            "invalid_argument",
            "The body must be JSON in UTF-8.",
            field="Content-Type",
            next_step="Send Content-Type: application/json.",
        )


def _wrong_method(message: str, allow: Mapping[str, str]) -> Refusal:
    return Refusal(
        405, "method_not_allowed", message, next_step=f"Use {allow['allow']} at this path.", headers=allow
    )


def _malformed(field: str, message: str) -> Refusal:
    step = f"Send {field} once, well-formed."
    return Refusal(400, "invalid_argument", message, field=field, next_step=step)


def _too_large(size: int) -> Refusal:
    return Refusal(
        413,
        "too_large",
        f"The body has {size:,} bytes; at most {BODY_BYTES:,}.",
        field="body",
        next_step="Send less in one message.",
    )
