"""What a caller states, and how it becomes or changes a memory.

Owns: `Fields` (what may be given to remember and to update), `Statement` (a whole remember), and the two pure
operations on them: a new memory, and a memory with some fields set.
Guarantees: a field that was not given is not touched (B50); a new memory takes nothing from what stood there before
but its line of revisions.
Gives up: deciding which of the two applies; that is `domain/encounter`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from lodestore.domain.identity import request_digest
from lodestore.domain.memory import Embedding, Memory, MemoryType, Record, Scope, continued

DEFAULT_IMPORTANCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Fields of a memory as given by a caller, cleaned and redacted; None: not given."""

    content: str | None = None
    type: MemoryType | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    importance: float | None = None
    pinned: bool | None = None
    source: str | None = None
    metadata: Mapping[str, object] | None = None
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    supersedes: tuple[str, ...] | None = None

    def given(self) -> dict[str, object]:
        """Name to value of those that were given."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One `remember`, understood.

    ttl_days     given instead of an `expires_at`; part of the request's digest, so that a retry is known as one
    redacted     the names of fields in which a secret was replaced
    """

    content: str
    fields: Fields
    scope: Scope
    conversation: str | None
    ttl_days: float | None = None
    own_id: str | None = None
    idempotency_key: str | None = None
    redacted: tuple[str, ...] = ()
    origin: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", self._digest())

    @property
    def scope_conversation(self) -> str | None:
        """The conversation where it is part of the identity."""
        return self.conversation if self.scope is Scope.CONVERSATION else None

    def _digest(self) -> str:
        given = self.fields.given()
        if self.ttl_days is not None:
            # The moment a lifetime ends differs between a request and its retry; the lifetime does not.
            given["expires_at"] = f"{self.ttl_days} days"
        return request_digest(given | {"content": self.content, "scope": str(self.scope)})


def new_memory(
    statement: Statement,
    *,
    tenant: str,
    memory_id: str,
    idempotency: str | None,
    over: Record | None,
    revision: str,
    now: datetime,
    embedding: Embedding | None = None,
) -> Memory:
    """The statement as version 1 of a memory; `over` is the expired memory or the stub that it takes the place of."""
    given = statement.fields
    return Memory(
        id=memory_id,
        tenant=tenant,
        scope=statement.scope,
        conversation=statement.conversation,
        type=given.type or MemoryType.FACT,
        category=given.category,
        content=statement.content,
        tags=given.tags or (),
        importance=DEFAULT_IMPORTANCE if given.importance is None else given.importance,
        pinned=bool(given.pinned),
        source=given.source,
        metadata=given.metadata or {},
        created_at=now,
        updated_at=now,
        valid_from=given.valid_from,
        expires_at=given.expires_at,
        supersedes=given.supersedes or (),
        version=1,
        revision=revision,
        recent=continued(over, revision),
        origin=statement.origin,
        idempotency=idempotency,
        embedding=embedding,
    )


def with_fields(
    memory: Memory, given: Fields, cleared: tuple[str, ...] = ()
) -> tuple[Memory, tuple[str, ...]]:
    """`memory` with the given fields set and the cleared ones back at their defaults, and the names that differ.

    Version, revision and times are the caller's to set, once it knows that something differs. A new content or
    source has no vectors yet.
    """
    values = {name: _EMPTY[name] for name in cleared} | given.given()
    changed = tuple(sorted(name for name, value in values.items() if getattr(memory, name) != value))
    if not changed:
        return memory, ()
    embedding = None if {"content", "source"} & set(changed) else memory.embedding
    return replace(memory, **values, embedding=embedding), changed  # type: ignore[arg-type]


def revised(memory: Memory, *, over: Memory, revision: str, now: datetime) -> Memory:
    """`memory` as the next version of `over`."""
    return replace(
        memory, version=over.version + 1, revision=revision, recent=continued(over, revision), updated_at=now
    )


_EMPTY: Mapping[str, object] = {
    "category": None,
    "tags": (),
    "importance": DEFAULT_IMPORTANCE,
    "pinned": False,
    "source": None,
    "metadata": {},
    "valid_from": None,
    "expires_at": None,
    "supersedes": (),
    "type": MemoryType.FACT,
}
CLEARABLE = tuple(sorted(_EMPTY))
