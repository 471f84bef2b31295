"""A memory as it was read: what a proposal, an undo record and a merged memory say of the memories they are made of.

Owns: the digest by which it is told whether the memory still says the same. Guarantees: a digest changes
with everything that a person stated, and with being forgotten and said anew; it does not change with what upkeep
writes (vectors, notes of being superseded) nor with being restored. It holds no word.
Gives up: secrecy of a short text before who holds the digest and guesses all of its other fields to the millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from lodestore.domain.identity import digest
from lodestore.domain.memory import Member, Memory, Record
from lodestore.domain.moments import format_moment, milliseconds

DIGEST_CHARACTERS: Final = 64


class Standing(StrEnum):
    """How a member stands beside what was read."""

    AS_READ = "as read"
    CHANGED = "changed"
    FORGOTTEN = "forgotten"


def member_of(memory: Memory) -> Member:
    """The memory as it is."""
    return Member(memory.id, memory.revision, digest_of(memory))


def standing_of(member: Member, record: Record | None) -> Standing:
    """How what stands at the member's id now compares with what was read; None: nothing stands there."""
    if not isinstance(record, Memory):
        return Standing.FORGOTTEN
    return Standing.AS_READ if says(member, record) else Standing.CHANGED


def says(member: Member, memory: Memory) -> bool:
    """Whether the memory still states what was read."""
    return member.digest in (digest_of(memory), str(milliseconds(memory.created_at)))


def stands_since(member: Member) -> int | None:
    """Since when the memory has to stand there, in milliseconds since 1970; None: it has to state the same."""
    return None if len(member.digest) == DIGEST_CHARACTERS else int(member.digest)


def digest_of(memory: Memory) -> str:
    """SHA-256 in hex of what the memory states: its fields without the protocol's, with when it was first stored."""
    stated: Mapping[str, object] = {
        "scope": str(memory.scope),
        "conversation": memory.conversation,
        "type": str(memory.type),
        "category": memory.category,
        "content": memory.content,
        "tags": list(memory.tags),
        "importance": memory.importance,
        "pinned": memory.pinned,
        "source": memory.source,
        "metadata": dict(memory.metadata),
        "created_at": format_moment(memory.created_at),
        "valid_from": None if memory.valid_from is None else format_moment(memory.valid_from),
        "expires_at": None if memory.expires_at is None else format_moment(memory.expires_at),
    }
    canonical = json.dumps(stated, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return digest("member", memory.id, canonical)
