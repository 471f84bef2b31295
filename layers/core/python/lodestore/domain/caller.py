"""Who is calling: the one place where tenant, conversation and role come together.

Owns: `Role`, `Grant` (what a credential allows) and `Caller` (who this request is).
Guarantees: a `Caller` exists only for a well-formed tenant; no tool has a tenant argument (P-TENANT).
Gives up: how a credential is checked, which is `services/access`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Each role includes those before it (`interface.md`, "Who is calling")."""

    READER = "reader"
    WRITER = "writer"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Grant:
    """What a credential allows. `tenants` None: any tenant (open mode and stdio only)."""

    role: Role
    tenants: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Caller:
    """One request's identity. `conversation` None: not in a conversation, so no conversation's notes are visible."""

    tenant: str
    conversation: str | None
    role: Role
