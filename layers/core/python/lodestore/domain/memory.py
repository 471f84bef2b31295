"""A memory, and the stub that a forgotten one leaves.

Owns: schema 1 of both, and what can be read off one record alone: visible to whom, expired when.
Guarantees: a stub holds no content (P-FORGOTTEN); values never change, a change is a new value.
Gives up: whether another memory supersedes this one; that takes a view over all (`domain/lineage`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from lodestore.domain.caller import Caller
from lodestore.domain.limits import RECENT_REVISIONS

SCHEMA = 1


class MemoryType(StrEnum):
    """What kind of statement; it sets the half-life (design, section 2)."""

    FACT = "fact"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    DECISION = "decision"
    OBSERVATION = "observation"
    EVENT = "event"
    SUMMARY = "summary"
    REFLECTION = "reflection"


class Scope(StrEnum):
    """Who in the tenant sees it: everyone, or the conversation that wrote it."""

    PROJECT = "project"
    CONVERSATION = "conversation"


_EPISODIC_DAYS = 30.0
_SEMANTIC_DAYS = 180.0
HALF_LIFE_DAYS: Mapping[MemoryType, float | None] = {
    MemoryType.EVENT: _EPISODIC_DAYS,
    MemoryType.SUMMARY: _EPISODIC_DAYS,
    MemoryType.FACT: _SEMANTIC_DAYS,
    MemoryType.OBSERVATION: _SEMANTIC_DAYS,
    MemoryType.DECISION: _SEMANTIC_DAYS,
    MemoryType.REFLECTION: _SEMANTIC_DAYS,
    MemoryType.INSTRUCTION: None,
    MemoryType.PREFERENCE: None,
}


@dataclass(frozen=True, slots=True)
class Embedding:
    """Vectors of one text: `vectors` is float16, row after row, one row of `dim` for each span of characters."""

    model: str
    dim: int
    spans: tuple[tuple[int, int], ...]
    vectors: bytes


@dataclass(frozen=True, slots=True)
class Member:
    """A memory as it was read: its id, its revision, and the digest of what it stated (`domain/member.digest_of`).

    Where that is a number: since when it has stood, in milliseconds since 1970; then it may state anything.
    """

    id: str
    revision: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory (schema 1).

    conversation    who wrote it, whatever the scope; visibility depends on it only where scope is conversation
    recent          the last 16 revisions, this one last, so that a writer can find its own lost answer
    origin          digest of the first request; no update changes it
    idempotency     digest of the idempotency key it was first stored under, if any
    consolidated_from    ids that a merged memory is made of; `consolidated_reads` the same as they were read, and
                         it holds only while each of them still says that (services/founded); once a person changed
                         it, while each of them stands since then, whatever it says
    """

    id: str
    tenant: str
    scope: Scope
    conversation: str | None
    type: MemoryType
    category: str | None
    content: str
    tags: tuple[str, ...]
    importance: float
    pinned: bool
    source: str | None
    metadata: Mapping[str, object] = field(default_factory=dict)
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None
    expires_at: datetime | None
    supersedes: tuple[str, ...]
    superseded_by: tuple[str, ...] = ()
    consolidated_from: tuple[str, ...] = ()
    consolidated_reads: tuple[Member, ...] = ()
    version: int
    revision: str
    recent: tuple[str, ...]
    origin: str
    idempotency: str | None
    embedding: Embedding | None = None

    def visible_to(self, caller: Caller) -> bool:
        """Exact match of tenant, and of the conversation where the scope says so (P-TENANT)."""
        return self.tenant == caller.tenant and (
            self.scope is Scope.PROJECT
            or (self.conversation is not None and self.conversation == caller.conversation)
        )

    def expired_at(self, moment: datetime) -> bool:
        """Whether the writer's own expiry has passed: visible until, and not at, `expires_at`."""
        return self.expires_at is not None and self.expires_at <= moment

    @property
    def holds_from(self) -> datetime:
        """Since when it is true: `valid_from`, else when it was stored."""
        return self.valid_from or self.created_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """What stands at a forgotten memory's key: who, when, why, and no content.

    supersedes     carried on, so that forgetting a successor does not revive what it replaced
    superseded_by  carried on, so that nothing new is stored under an id that is superseded by what stands elsewhere
    idempotency    lets a late retry of the first request be told that it was forgotten
    consolidated_reads  of a merged memory: with `supersedes`, what is forgotten with it; without, what stays apart
    """

    id: str
    tenant: str
    revision: str
    recent: tuple[str, ...]
    reason: str | None
    forgotten_by: str
    forgotten_at: datetime
    idempotency: str | None
    supersedes: tuple[str, ...]
    superseded_by: tuple[str, ...] = ()
    consolidated_reads: tuple[Member, ...] = ()


Record = Memory | Stub


def continued(predecessor: Record | None, revision: str) -> tuple[str, ...]:
    """The `recent` of a record with this revision that replaces `predecessor`."""
    before = predecessor.recent if predecessor is not None else ()
    return (*before, revision)[-RECENT_REVISIONS:]
