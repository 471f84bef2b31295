"""Which web pages and which host names may reach the server.

Owns: the Origin check, the Host check of open mode, and CORS.
Guarantees: a page of another origin is refused with 403 before its request has any effect (MCP, Streamable
HTTP, security warning); in open mode a name that was rebound to loopback is refused too, and so is every
name of a public URL, so that a function deployed with AUTH=open serves nobody.
Gives up: Host in key mode, where the key is the proof. A request without Origin or Host comes from no
browser page.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from lodestore.errors import SettingsError
from lodestore.settings import LOOPBACK_HOSTS
from mcp_server.http_event import HttpAnswer, HttpRequest
from mcp_server.refusals import Refusal

PREFLIGHT_SECONDS = 600
SCHEMES = ("http", "https")
ALLOWED_HEADERS = ", ".join(
    (
        "Accept",
        "Authorization",
        "Content-Type",
        "Last-Event-ID",
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
        "Mcp-Session-Id",
        "X-API-Key",
        "X-Conversation-Id",
        "X-Memory-Tenant",
        "X-Tenant-Id",
    )
)


def parse_origins(text: str) -> frozenset[str]:
    """The origins in ALLOWED_ORIGINS, separated by commas or spaces. Raises SettingsError."""
    origins = frozenset(text.replace(",", " ").split())
    for origin in origins:
        if origin.partition("://")[0] not in SCHEMES or not _host_name(origin):
            raise SettingsError(f"ALLOWED_ORIGINS holds origins such as https://app.example, not {origin!r}")
    return origins


class Origins:
    """The rule of one process.

    loopback_only   open mode: Host must be loopback, and pages served from loopback are allowed
    allowed         further origins, each `scheme://host[:port]` as a browser sends it
    """

    def __init__(self, *, loopback_only: bool, allowed: frozenset[str] = frozenset()) -> None:
        self._loopback_only = loopback_only
        self._allowed = allowed

    def check(self, request: HttpRequest) -> None:
        """Raises Refusal (403)."""
        origin = request.headers.get("origin")
        if origin is not None and not self._admits(origin):
            raise Refusal(
                403,
                "forbidden",
                "Pages of this Origin may not call this server.",
                field="Origin",
                next_step="An operator can add the origin to ALLOWED_ORIGINS.",
            )
        host = request.headers.get("host")
        if self._loopback_only and host is not None and _host_name(f"//{host}") not in LOOPBACK_HOSTS:
            raise Refusal(
                403,
                "forbidden",
                "AUTH=open answers on a loopback address only.",
                field="Host",
                next_step="Call http://127.0.0.1, or start the server with AUTH=keys.",
            )

    def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """What lets an admitted page read the answer; nothing for other callers."""
        origin = request.headers.get("origin")
        if origin is None or not self._admits(origin):
            return {}
        return {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": "WWW-Authenticate",
            "vary": "Origin",
        }

    def preflight(self, request: HttpRequest) -> HttpAnswer:
        """The answer to OPTIONS. Raises Refusal (403)."""
        self.check(request)
        return HttpAnswer(
            status=204,
            headers={
                "allow": "POST, OPTIONS",
                "access-control-allow-methods": "POST",
                "access-control-allow-headers": ALLOWED_HEADERS,
                "access-control-max-age": str(PREFLIGHT_SECONDS),
            },
        )

    def _admits(self, origin: str) -> bool:
        if origin in self._allowed:
            return True
        scheme = origin.partition("://")[0]
        return self._loopback_only and scheme in SCHEMES and _host_name(origin) in LOOPBACK_HOSTS


def _host_name(address: str) -> str:
    """The host of `scheme://host:port` or `//host:port`, lower case; "" where it is anything else."""
    try:
        parts = urlsplit(address)
        strays = parts.path or parts.query or parts.fragment or parts.username is not None
        # Reading the port checks it: a number in range, or none.
        return "" if strays or parts.port == 0 else parts.hostname or ""
    except ValueError:
        return ""
