"""The headers that say for whom a request speaks, read strictly.

Owns: what a tenant header and X-Conversation-Id may hold, and what is said about one that is malformed.
Guarantees: a header sent twice comes from a function URL folded by a comma, and no comma passes here, so
two values are never read as one. What came is described by its length and never echoed.
Gives up: which tenant a key is for; that is `services/access`.
"""

from __future__ import annotations

import re

from lodestore.domain.limits import CONVERSATION_CHARACTERS
from lodestore.errors import InvalidArgument
from lodestore.settings import is_tenant

CONVERSATION_HEADER = "X-Conversation-Id"
CONVERSATION_LIMIT = f"1 to {CONVERSATION_CHARACTERS} printable ASCII characters without space or comma"
TENANT_LIMIT = "1 to 128 characters A-Z a-z 0-9 . _ - and a letter or digit first"
FOR_THE_OPERATOR = "The model cannot fix this; its operator can."
_CONVERSATION = re.compile(rf"[!-+\--~]{{1,{CONVERSATION_CHARACTERS}}}", re.ASCII)


def read_tenant(name: str, value: str) -> str:
    """The tenant that the header or variable `name` holds. Raises InvalidArgument."""
    if not is_tenant(value):
        raise _malformed(name, "is no tenant's name", TENANT_LIMIT, value)
    return value


def read_conversation(value: str) -> str:
    """The conversation that X-Conversation-Id holds. Raises InvalidArgument."""
    if not _CONVERSATION.fullmatch(value):
        raise _malformed(CONVERSATION_HEADER, "is no conversation's id", CONVERSATION_LIMIT, value)
    return value


def _malformed(name: str, fault: str, limit: str, value: str) -> InvalidArgument:
    said = "was sent twice, or holds a comma" if "," in value else fault
    return InvalidArgument(
        f"{name} {said}.",
        field=name,
        limit=limit,
        got=f"{len(value):,} characters",
        next_step=f"Send {name} once: {limit}. {FOR_THE_OPERATOR}",
    )
