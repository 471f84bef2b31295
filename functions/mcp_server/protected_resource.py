"""What an OAuth client is told about this resource server.

Owns: the protected-resource metadata and the challenges of 401 and 403. Guarantees: the server's own name comes from
the platform (`requestContext.domainName`) and never from a header of the client; both well-known paths say the same.
Gives up: the authorization server; its metadata is its own.

Sources: RFC 9728 (metadata, `resource_metadata`), RFC 6750 (challenges), MCP "Authorization".
"""

from __future__ import annotations

from lodestore.errors import Forbidden, LodestoreError, Unauthenticated
from lodestore.services.oauth_access import SCOPE, SCOPES
from lodestore.settings import LOOPBACK_HOSTS, Settings
from mcp_server.http_event import HttpAnswer, HttpRequest

WELL_KNOWN = "/.well-known/oauth-protected-resource"
PATHS = (WELL_KNOWN, f"{WELL_KNOWN}/mcp")
ASKED_FOR = ("memory:read", "memory:write")


class ProtectedResource:
    """One server's word about itself."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def metadata(self, request: HttpRequest) -> HttpAnswer:
        """The answer at both well-known paths."""
        audience = self._settings.oauth_audience
        is_address = audience.startswith(("http://", "https://"))
        payload = {
            "resource": audience if is_address else f"{_base(request)}/mcp",
            "authorization_servers": [self._settings.oauth_issuer],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
        }
        return HttpAnswer(status=200, payload=payload, headers={"access-control-allow-origin": "*"})

    def challenge(self, request: HttpRequest, error: LodestoreError, *, token_sent: bool) -> dict[str, str]:
        """The header of a 401, or of a 403 for want of a scope; {} for every other error."""
        parts = [f'resource_metadata="{_base(request)}{WELL_KNOWN}/mcp"', f'scope="{" ".join(ASKED_FOR)}"']
        if isinstance(error, Unauthenticated):
            parts += ['error="invalid_token"'] if token_sent else []
        elif isinstance(error, Forbidden) and error.field == SCOPE:
            parts.append('error="insufficient_scope"')
        else:
            return {}
        return {"www-authenticate": f"Bearer {', '.join(parts)}"}


def _base(request: HttpRequest) -> str:
    host = (
        request.domain.rpartition(":")[0]
        if request.domain[-1:].isdigit() and ":" in request.domain
        else request.domain
    )
    scheme = "http" if host.strip("[]") in LOOPBACK_HOSTS else "https"
    return f"{scheme}://{request.domain}"
