"""What a `remember` does when something already stands at its key (design, section 3, "On 412").

Owns: that decision, as a pure function. Guarantees: every record leads to exactly one encounter; a memory that the
caller may not see is never described by it (P-TENANT).
Gives up: the writing; `services/remember` does it and comes back if it was displaced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto

from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory, Record, Stub
from lodestore.domain.statement import Fields, Statement, with_fields


class Address(Enum):
    """How the id came about."""

    CONTENT = auto()
    KEY = auto()
    OWN = auto()


@dataclass(frozen=True, slots=True)
class AlreadyKnown:
    """The same is stored; nothing to write. `changed`: it was updated since this very request was first answered."""

    memory: Memory
    changed: bool


@dataclass(frozen=True, slots=True)
class Enriched:
    """The same content is stored, and other given fields differ: write this over it."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Replaceable:
    """A stub or an expired memory: write a new memory over it."""


@dataclass(frozen=True, slots=True)
class WasForgotten:
    """The memory that this idempotency key belongs to is forgotten: write nothing."""


@dataclass(frozen=True, slots=True)
class Occupied:
    """Another memory lives at this content's id: take the next one."""


@dataclass(frozen=True, slots=True)
class Clash:
    """The caller's own id or key names other content. `version` is None where the memory is not theirs to see."""

    version: int | None


Encounter = AlreadyKnown | Enriched | Replaceable | WasForgotten | Occupied | Clash


def meet(
    current: Record,
    statement: Statement,
    caller: Caller,
    *,
    address: Address,
    idempotency: str | None,
    now: datetime,
) -> Encounter:
    """What the statement comes to at a key where `current` stands."""
    if isinstance(current, Stub):
        same_key = idempotency is not None and current.idempotency == idempotency
        return WasForgotten() if same_key else _meet_vacant(current, address=address)
    if current.expired_at(now):
        # Once swept it is a stub, and a late retry of its key would be told so; the sweep's timing must not matter.
        same_key = idempotency is not None and current.idempotency == idempotency
        return WasForgotten() if same_key else _meet_expired(current, caller, address=address)
    if not current.visible_to(caller) or current.scope is not statement.scope:
        version = current.version if current.visible_to(caller) else None
        return Occupied() if address is Address.CONTENT else Clash(version)
    if address is Address.CONTENT:
        if current.superseded_by or current.content != statement.content:
            return Occupied()
        return meet_same(current, statement)
    if current.origin == statement.origin:
        return AlreadyKnown(current, changed=current.version > 1)
    return meet_same(current, statement) if current.content == statement.content else Clash(current.version)


def _meet_expired(current: Memory, caller: Caller, *, address: Address) -> Encounter:
    if current.visible_to(caller):
        return _meet_vacant(current, address=address)
    return Occupied() if address is Address.CONTENT else Clash(None)


def _meet_vacant(current: Record, *, address: Address) -> Encounter:
    """A stub or an expired memory. Its id may still be superseded, and what was stored there would never be seen."""
    if not current.superseded_by:
        return Replaceable()
    return Occupied() if address is Address.CONTENT else Clash(None)


def meet_same(current: Memory, statement: Statement) -> AlreadyKnown | Enriched:
    """What it comes to where its content stands."""
    given = statement.fields
    if statement.ttl_days is not None and current.origin == statement.origin:
        given = replace(given, expires_at=None)
    merged, changed = with_fields(current, _added(current, given))
    return Enriched(merged) if changed else AlreadyKnown(current, changed=False)


def _added(current: Memory, given: Fields) -> Fields:
    """The given fields, with tags and supersedes added to those that are there."""
    return replace(
        given,
        tags=None if given.tags is None else tuple(dict.fromkeys([*current.tags, *given.tags])),
        supersedes=None
        if given.supersedes is None
        else tuple(dict.fromkeys([*current.supersedes, *given.supersedes])),
    )
