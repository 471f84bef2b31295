"""Access tokens, as a port.

Owns: `Tokens`. Guarantees (every adapter): claims come back only of a token that the issuer signed, that is valid now
and meant for us. Gives up: what the claims mean; that is `services/oauth_access`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class InvalidToken(Exception):
    """The token is not good; the text says which check failed, and nothing of the token."""


class IssuerUnavailable(Exception):
    """The issuer's keys can't be had right now."""


class Tokens(Protocol):
    """One issuer's tokens. Thread-safe."""

    def claims(self, token: str) -> Mapping[str, object]:
        """The claims of a good token. Raises InvalidToken, IssuerUnavailable."""
        ...
