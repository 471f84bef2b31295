"""Requests that are refused over HTTP, before any MCP message is looked at.

Owns: the JSON that 4xx and 503 answers carry: {error, message, next_step} and, where one is at fault, the
field.
Guarantees: an answer says why in its body, because a function URL renames WWW-Authenticate (B90).
Gives up: JSON-RPC errors; those belong to a message, and `envelope` and `dispatch` make them.
"""

from __future__ import annotations

import math
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


def refusal_of(error: LodestoreError, challenge: Mapping[str, str] | None = None) -> Refusal:
    """The HTTP refusal that says the same; `challenge` takes the place of the plain one."""
    status, headers = _STATUS.get(type(error), (503, RETRY))
    chosen = {**headers, **(challenge or {})}
    return Refusal(
        status, error.code, error.message, next_step=error.next_step, field=error.field, headers=chosen
    )


def throttled(seconds: float) -> Refusal:
    """429: this tenant asks more of this process than it may; one request passes after `seconds`."""
    wait = max(1, math.ceil(seconds))
    return Refusal(
        429,
        "unavailable",
        "Too many requests of this tenant.",
        next_step=f"Repeat the request after {wait} s; nothing was read or written.",
        headers={"retry-after": str(wait)},
    )
