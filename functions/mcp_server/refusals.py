"""Requests that are refused over HTTP, before any MCP message is looked at.

Owns: the JSON that 4xx and 503 answers carry: {error, message, next_step} and, where one is at fault, the
field.
Guarantees: an answer says why in its body, because a function URL renames WWW-Authenticate (B90).
Gives up: JSON-RPC errors; those belong to a message, and `envelope` and `dispatch` make them.
"""

from __future__ import annotations

from collections.abc import Mapping

from lodestore.errors import (
    Forbidden,
    InvalidArgument,
    LodestoreError,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from mcp_server.http_event import HttpAnswer

# In key mode nothing more: metadata in the challenge makes clients start OAuth and drop their configured key.
CHALLENGE = {"www-authenticate": "Bearer"}
RETRY = {"retry-after": "1"}


class Refusal(Exception):
    """An answer instead of a result. `code` is the body's `error` and what the metrics count."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        next_step: str,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        payload = {"error": code, "message": message, "next_step": next_step}
        shown = payload if field is None else payload | {"field": field}
        self.answer = HttpAnswer(status=status, payload=shown, headers=headers or {})


_STATUS: Mapping[type[LodestoreError], tuple[int, Mapping[str, str]]] = {
    Unauthenticated: (401, CHALLENGE),
    Forbidden: (403, {}),
    InvalidArgument: (400, {}),
    TooLarge: (413, {}),
    Unavailable: (503, RETRY),
}


def refusal_of(error: LodestoreError) -> Refusal:
    """The HTTP refusal that says the same."""
    status, headers = _STATUS.get(type(error), (503, RETRY))
    return Refusal(
        status, error.code, error.message, next_step=error.next_step, field=error.field, headers=headers
    )
