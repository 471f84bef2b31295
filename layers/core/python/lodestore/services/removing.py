"""Removing: the one way by which a memory becomes a stub.

Owns: design section 3's protocol of every removal, be it by a caller, by expiry or by a policy: the stub over exactly
what was read, its marker, the copy among the tombstones. Guarantees: nothing is deleted, so no late write can find an
empty place and bring the memory back (P-FORGOTTEN); a newer write is read and judged anew (P-NO-LOST-UPDATE).
Gives up: the old versions and derived data at once; the purge removes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from lodestore.domain.memory import Memory, Record, Stub, continued
from lodestore.errors import Unavailable
from lodestore.services.ledger import Ledger, Overtaken, Standing
from lodestore.services.tombstones import Tombstones

_TRIES = 64


@dataclass(frozen=True, slots=True)
class Removal:
    """Why and by whom; a `reason` is the caller's words, screened for secrets."""

    reason: str | None
    by: str
    at: datetime


class Removing:
    """Removals of single memories of all tenants."""

    def __init__(self, ledger: Ledger, tombstones: Tombstones) -> None:
        self._ledger = ledger
        self._tombstones = tombstones

    def remove(self, tenant: str, memory_id: str, removal: Removal, admits: Callable[[Memory], bool]) -> bool:
        """Put a stub in the memory's place; False where none stands there that `admits` says may go.

        admits   asked again for every newer state that another writer put there meanwhile
        Raises Unavailable.
        """
        current = self._ledger.read(tenant, memory_id)
        for _ in range(_TRIES):
            if current is None:
                return False
            if isinstance(current.record, Stub):
                # Whoever forgot it may have died before its marker landed.
                self._ledger.ensure_marked(tenant, memory_id, current.record.revision)
                return False
            if not admits(current.record):
                return False
            result = self._ledger.write(tenant, memory_id, current, _stub(current.record, removal))
            if isinstance(result, Standing | Overtaken):
                if isinstance(result.record, Stub):
                    self._tombstones.copy(result.record)
                return True
            current = result.current
        raise Unavailable("Too many writers at once on this memory; it was not forgotten.")


def _stub(memory: Memory, removal: Removal) -> Callable[[str], Record]:
    def draft(revision: str) -> Record:
        return Stub(
            id=memory.id,
            tenant=memory.tenant,
            revision=revision,
            recent=continued(memory, revision),
            reason=removal.reason,
            forgotten_by=removal.by,
            forgotten_at=removal.at,
            idempotency=memory.idempotency,
            supersedes=memory.supersedes,
            superseded_by=memory.superseded_by,
        )

    return draft
