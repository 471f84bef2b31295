"""Forget: a stub takes the memory's place, and stays.

Owns: design section 3 for every removal: the stub, its marker, the copy among the tombstones.
Guarantees: nothing is deleted, so no late write can find an empty place and bring the memory back (P-FORGOTTEN); an
unknown, forgotten, foreign or hidden id all get the same answer.
Gives up: the old versions and derived data at once; upkeep removes them within the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory, Record, Stub, continued
from lodestore.errors import Unavailable
from lodestore.ports.clock import Clock
from lodestore.services.arguments import Arguments
from lodestore.services.ledger import Ledger, Overtaken, Standing
from lodestore.services.statements import Screen
from lodestore.services.tombstones import Tombstones
from lodestore.settings import SecretPolicy

ARGUMENTS = ("id", "reason")
FORGOTTEN = "forgotten"
NOT_FOUND = "not_found"
_TRIES = 64


@dataclass(frozen=True, slots=True)
class Removal:
    """Why and by whom; a `reason` is the caller's words, screened for secrets."""

    reason: str | None
    by: str
    at: datetime


class Forget:
    """The tool `forget`."""

    def __init__(
        self, ledger: Ledger, tombstones: Tombstones, clock: Clock, *, secrets: SecretPolicy
    ) -> None:
        self._ledger = ledger
        self._tombstones = tombstones
        self._clock = clock
        self._secrets = secrets

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{deleted, id, reason}. Raises InvalidArgument, TooLarge, Unavailable."""
        arguments = Arguments("forget", given, ARGUMENTS)
        memory_id = arguments.required_identifier()
        reason = Screen(self._secrets).text(
            "reason", arguments.text("reason", most_bytes=limits.REASON_BYTES)
        )
        removal = Removal(reason, str(caller.role), self._clock.now())
        deleted = self.remove(caller, memory_id, removal)
        return {"deleted": deleted, "id": memory_id, "reason": FORGOTTEN if deleted else NOT_FOUND}

    def remove(self, caller: Caller, memory_id: str, removal: Removal) -> bool:
        """Put a stub in the memory's place; False where the caller sees no such memory."""
        current = self._ledger.read(caller.tenant, memory_id)
        for _ in range(_TRIES):
            if current is None:
                return False
            if isinstance(current.record, Stub):
                # Whoever forgot it may have died before its marker landed.
                self._ledger.ensure_marked(caller.tenant, memory_id, current.record.revision)
                return False
            if not current.record.visible_to(caller):
                return False
            result = self._ledger.write(caller.tenant, memory_id, current, _stub(current.record, removal))
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
