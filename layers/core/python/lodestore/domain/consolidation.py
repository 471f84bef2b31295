"""The merged memory: what stands for several that say the same.

Owns: how it is made of its members, and its id. Guarantees: pure, and the same for the same members in whatever order
they come and by whatever steps they were gathered; every tag stays, and the earliest time; the longest member's own
words stand; nothing is said that no member says. Gives up: more members than MEMBERS_MOST, and more tags than a memory
may have; such a group stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from lodestore.domain.identity import digest
from lodestore.domain.limits import TAGS
from lodestore.domain.member import member_of
from lodestore.domain.memory import Memory

MEMBERS_MOST: Final = 128
_DERIVED_HEX: Final = 32


def merged_id(members: Sequence[Memory]) -> str:
    """The id: by the members' ids and what they state, so that what was undone is known again."""
    reads = sorted((member_of(memory) for memory in members), key=lambda member: member.id)
    parts = [part for member in reads for part in (member.id, member.digest)]
    return f"m{digest('merged', *parts)[:_DERIVED_HEX]}"


def merged(members: Sequence[Memory]) -> Memory | None:
    """The memory that stands for them, all of one scope, type and category; None where there can be none.

    Its revision and `recent` are those of no write yet.
    """
    ordered = sorted(members, key=lambda memory: memory.id)
    tags = tuple(sorted({tag for memory in ordered for tag in memory.tags}))
    if not 1 < len(ordered) <= MEMBERS_MOST or len(tags) > TAGS:
        return None
    longest = min(ordered, key=lambda memory: (-len(memory.content), memory.content, memory.id))
    memory_id = merged_id(ordered)
    ids = tuple(memory.id for memory in ordered)
    return replace(
        longest,
        id=memory_id,
        tags=tags,
        importance=max(memory.importance for memory in ordered),
        created_at=min(memory.created_at for memory in ordered),
        updated_at=max(memory.updated_at for memory in ordered),
        supersedes=ids,
        superseded_by=(),
        consolidated_from=ids,
        consolidated_reads=tuple(member_of(memory) for memory in ordered),
        version=1,
        recent=(),
        origin=digest("merged", memory_id),
        idempotency=None,
    )
