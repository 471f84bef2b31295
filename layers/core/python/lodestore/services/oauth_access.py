"""From an access token's claims to what its bearer may do.

Owns: which claim is the tenant, which scope is which role, and Cognito's shape (no audience: `client_id` must be on
our list, `token_use` must be access, scopes are written `<resource server>/<scope>`). Guarantees: a token without a
well-formed tenant, or without a scope of ours, is known and may do nothing (403); nothing of a token is in an error.
Gives up: consent and log-in; those are the issuer's.
"""

from __future__ import annotations

from collections.abc import Mapping

from lodestore.domain.caller import Grant, Role
from lodestore.errors import Forbidden, Unauthenticated, Unavailable
from lodestore.ports.tokens import InvalidToken, IssuerUnavailable, Tokens
from lodestore.services.caller_headers import FOR_THE_OPERATOR
from lodestore.settings import is_tenant

SCOPES: Mapping[str, Role] = {
    "memory:read": Role.READER,
    "memory:write": Role.WRITER,
    "memory:admin": Role.ADMIN,
}
SCOPE = "scope"
MOST_TENANTS = 256


class OAuthAccess:
    """Grants by token. `client_ids` not empty: tokens of these clients only, whatever the audience."""

    def __init__(self, tokens: Tokens, *, tenant_claim: str, client_ids: frozenset[str]) -> None:
        self._tokens = tokens
        self._tenant_claim = tenant_claim
        self._client_ids = client_ids

    def grant(self, credential: str | None, _principal: str | None) -> Grant:
        """What the bearer may do. Raises Unauthenticated, Forbidden, Unavailable."""
        if credential is None:
            raise _unauthenticated("This server needs an access token, and the request has none.")
        try:
            claims = self._tokens.claims(credential)
        except InvalidToken as fault:
            raise _unauthenticated(f"The access token is not accepted: {fault}.") from None
        except IssuerUnavailable:
            raise Unavailable("The access token can't be checked right now.") from None
        if self._client_ids:
            self._check_client(claims)
        return Grant(self._role(claims), self._tenants(claims))

    def _check_client(self, claims: Mapping[str, object]) -> None:
        client = claims.get("client_id", claims.get("azp"))
        if client not in self._client_ids:
            raise _unauthenticated("The access token is not accepted: it was made for another client.")
        if claims.get("token_use", "access") != "access":
            raise _unauthenticated("The access token is not accepted: it is no access token.")

    def _role(self, claims: Mapping[str, object]) -> Role:
        held = _texts(claims.get(SCOPE, claims.get("scp")))
        names = [scope.rpartition("/")[2] if self._client_ids else scope for scope in held]
        roles = [SCOPES[name] for name in names if name in SCOPES]
        if not roles:
            raise Forbidden(
                "The access token has no scope of this server.",
                field=SCOPE,
                limit=" | ".join(SCOPES),
                next_step=f"Ask the issuer for the scope memory:read or memory:write. {FOR_THE_OPERATOR}",
            )
        return max(roles, key=list(Role).index)

    def _tenants(self, claims: Mapping[str, object]) -> tuple[str, ...]:
        value = claims.get(self._tenant_claim)
        named = tuple(value) if isinstance(value, list) else (value,)
        tenants = tuple(tenant for tenant in named if isinstance(tenant, str) and is_tenant(tenant))
        if not tenants or tenants != named or len(tenants) > MOST_TENANTS:
            raise Forbidden(
                "The access token names no tenant.",
                field=self._tenant_claim,
                next_step=f"The issuer has to write the tenant's name in this claim. {FOR_THE_OPERATOR}",
            )
        return tenants


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split()
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _unauthenticated(message: str) -> Unauthenticated:
    how = "Log in at the authorization server that /.well-known/oauth-protected-resource/mcp names."
    return Unauthenticated(message, next_step=f"{how} {FOR_THE_OPERATOR}")
