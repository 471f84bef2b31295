"""The merged memory: what stands for several that say the same.

Owns: how it is made of its members, and its id. Guarantees: pure, and the same for the same members in whatever order
they come and by whatever steps they were gathered; every tag stays; it is as new as the newest member, so that what
was said again counts as said then; the longest member's own words stand; nothing is said that no member says.
Gives up: more members than MEMBERS_MOST, and more tags than a memory may have; such a group stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from lodestore.domain.identity import digest
from lodestore.domain.limits import TAGS
from lodestore.domain.member import member_of, says, stands_since
from lodestore.domain.memory import Member, Memory, MemoryType
from lodestore.domain.moments import milliseconds

MEMBERS_MOST: Final = 128
_DERIVED_HEX: Final = 32
_DERIVED: Final = re.compile(rf"[mp][0-9a-f]{{{_DERIVED_HEX}}}", re.ASCII)


def merged_id(members: Sequence[Memory]) -> str:
    """The id: by the members' ids and what they state, so that what was undone is known again."""
    return _id_of([member_of(memory) for memory in members])


def may_be_merged(memory_id: str) -> bool:
    """Whether it looks like the id of a merged memory or of an accepted proposal; an own id may look so too."""
    return _DERIVED.fullmatch(memory_id) is not None


def says_what_each_says(memory: Memory) -> bool:
    """Whether its words are those of each member, so that it may be merged with more: not what a model wrote."""
    return not memory.consolidated_reads or memory.id == _id_of(memory.consolidated_reads)


def taken_over(memory: Memory, members: Mapping[str, Memory]) -> Memory:
    """The merged memory as a person's own, who changed it: it holds while its members stand, whatever they say."""
    reads = tuple(
        replace(member, digest=str(milliseconds(now.created_at)))
        if (now := members.get(member.id)) is not None
        and says(member, now)
        and milliseconds(now.created_at) >= 0
        else member
        for member in memory.consolidated_reads
    )
    return replace(memory, consolidated_reads=reads)


def is_taken_over(memory: Memory) -> bool:
    """Whether a person changed it since it was merged."""
    return any(stands_since(member) is not None for member in memory.consolidated_reads)


def noting(memory: Memory) -> tuple[str, ...]:
    """Those of what it supersedes that note it; what it was merged from does not, and shows by itself once it goes."""
    return tuple(older for older in memory.supersedes if older not in memory.consolidated_from)


def _id_of(members: Sequence[Member]) -> str:
    reads = sorted(members, key=lambda member: member.id)
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
    newest = max(ordered, key=lambda memory: (memory.holds_from, memory.created_at, memory.id))
    memory_id = merged_id(ordered)
    ids = tuple(memory.id for memory in ordered)
    return replace(
        longest,
        id=memory_id,
        tags=tags,
        importance=max(memory.importance for memory in ordered),
        created_at=newest.created_at,
        valid_from=newest.valid_from,
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


def worded(memory_id: str, members: Sequence[Memory], text: str) -> Memory | None:
    """As `merged`, with a text that a model wrote and an admin accepted."""
    made = merged(members)
    return None if made is None else _with_text(made, memory_id, members, text)


def summed_up(memory_id: str, events: Sequence[Memory], text: str) -> Memory:
    """The summary that stands for these events of one scope: what all of them share, and the newest time."""
    tags = set(events[0].tags).intersection(*(event.tags for event in events))
    made = merged([replace(event, tags=tuple(sorted(tags))) for event in events])
    if made is None:
        raise ValueError(f"2 to {MEMBERS_MOST} events")
    ordered = sorted(events, key=lambda event: event.id)
    same_metadata = all(event.metadata == events[0].metadata for event in events)
    summary = replace(
        made,
        type=MemoryType.SUMMARY,
        category=_shared([event.category for event in events]),
        metadata=events[0].metadata if same_metadata else {},
        consolidated_reads=tuple(member_of(event) for event in ordered),
    )
    return _with_text(summary, memory_id, events, text)


def _with_text(made: Memory, memory_id: str, members: Sequence[Memory], text: str) -> Memory:
    return replace(
        made,
        id=memory_id,
        content=text,
        source=_shared([member.source for member in members]),
        origin=digest("worded", memory_id, text),
        embedding=None,
    )


def _shared(values: Sequence[str | None]) -> str | None:
    return values[0] if len(set(values)) == 1 else None
