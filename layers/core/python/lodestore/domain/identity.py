"""Ids: a caller's own, or derived from what is remembered.

Owns: the form of ids, the derivation from content or idempotency key, the digests of requests and conversations.
Guarantees: the same normalised content in the same scope has the same id in every process and version, so exact
duplicates meet at one key (decision record 0001). A digest shows nothing of what it was made from.
Gives up: secrecy of short contents: whoever holds an id may test guesses of the content against it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

MEMORY_ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
DERIVED_ATTEMPTS = 8
_DERIVED_HEX = 32


def is_memory_id(text: str) -> bool:
    """Whether `text` has the form of an id."""
    return re.fullmatch(MEMORY_ID_PATTERN, text, re.ASCII) is not None


def id_from_content(content: str, conversation: str | None, attempt: int) -> str:
    """The `attempt`th (0 to 7) id for this content.

    content        after redaction and normalisation
    conversation   given only where the scope is conversation
    """
    return _derived("content", _scope(conversation), content, str(attempt))


def id_from_source(content: str, source: str) -> str:
    """The id of this content as said by this source, where another source says it under the content's own id."""
    return _derived("source", source, content)


def id_from_key(idempotency_key: str, conversation: str | None) -> str:
    """The id for an idempotency key. A scoped note's key is its conversation's own, so no other one can meet it."""
    return _derived("key", _scope(conversation), idempotency_key)


def digest(*parts: str) -> str:
    """SHA-256 in hex over parts that can't run into each other."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def request_digest(fields: Mapping[str, object]) -> str:
    """The `origin` of a memory: a digest of the first request as it was understood."""
    canonical = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return digest("request", canonical)


def _scope(conversation: str | None) -> str:
    return "project" if conversation is None else f"conversation:{conversation}"


def _derived(kind: str, *parts: str) -> str:
    return f"m{digest(kind, *parts)[:_DERIVED_HEX]}"
