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
from enum import Enum, auto
from functools import partial

from lodestore.domain.member import says
from lodestore.domain.memory import Member, Memory, Record, Stub, continued
from lodestore.errors import Unavailable
from lodestore.services.ledger import Ledger, Overtaken, Standing
from lodestore.services.tombstones import Tombstones

_TRIES = 64


class Ending(Enum):
    """What a removal means for what the memory superseded and was merged from.

    FORGET     both go on: what it superseded stays hidden, and what it was merged from is forgotten with it
    WITHDRAW   a merged memory never was: its members show again, and may be merged anew
    UNDO       the same by a person's word: its members show again, and are never merged unattended again
    """

    FORGET = auto()
    WITHDRAW = auto()
    UNDO = auto()


@dataclass(frozen=True, slots=True)
class Removal:
    """Why and by whom; a `reason` is the caller's words, screened for secrets."""

    reason: str | None
    by: str
    at: datetime
    ending: Ending = Ending.FORGET


class Removing:
    """Removals of single memories of all tenants."""

    def __init__(self, ledger: Ledger, tombstones: Tombstones) -> None:
        self._ledger = ledger
        self._tombstones = tombstones

    def remove_with_members(
        self, tenant: str, memory_id: str, removal: Removal, admits: Callable[[Memory], bool]
    ) -> bool:
        """The same; what a merged memory was made of, and still says what was read, is forgotten after it.

        Whoever dies in between leaves members that the stub hides; the purge forgets them. Raises Unavailable, with
        written True once the memory itself is forgotten.
        """
        seen: list[Memory] = []

        def admitted(memory: Memory) -> bool:
            seen.append(memory)
            return admits(memory)

        if not self.remove(tenant, memory_id, removal, admitted):
            return False
        try:
            self.remove_members(tenant, seen[-1].consolidated_reads, removal)
        except Unavailable:
            raise Unavailable(
                "The memory is forgotten; what it was merged from is hidden, and forgotten by the next sleep.",
                written=True,
                memory_id=memory_id,
            ) from None
        return True

    def remove_members(self, tenant: str, members: tuple[Member, ...], removal: Removal) -> tuple[str, ...]:
        """Forget those that still say what was read; their ids. Raises Unavailable."""
        return tuple(
            member.id for member in members if self.remove(tenant, member.id, removal, partial(says, member))
        )

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


def _superseded_still(memory: Memory, ending: Ending) -> tuple[str, ...]:
    members = () if ending is Ending.FORGET else memory.consolidated_from
    return tuple(older for older in memory.supersedes if older not in members)


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
            supersedes=_superseded_still(memory, removal.ending),
            superseded_by=memory.superseded_by,
            consolidated_reads=() if removal.ending is Ending.WITHDRAW else memory.consolidated_reads,
        )

    return draft
