"""What an arriving record may take away from what is live here.

Owns: the links of a record from a file: what it supersedes, and what a merged memory is made of. Guarantees: what was
changed here since the record was written is never hidden by it (P-NO-LOST-UPDATE); unless it is asked to overwrite, a
stub hides and forgets nothing that is live here; what a stub does forget here is forgotten now, so that it can be
restored as long as anything else (P-FORGOTTEN); a merged memory without its members, which no reader would show, is
refused by name (P-SILENT-NEVER).
Gives up: what changes between this look and the write; the next import says it.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import TypeVar

from lodestore.domain.arrival import OnConflict
from lodestore.domain.member import Standing, standing_of
from lodestore.domain.memory import Memory, Record, Stub
from lodestore.errors import InvalidArgument
from lodestore.ports.clock import Clock
from lodestore.services.ledger import Ledger

_R = TypeVar("_R", Memory, Stub)


class ImportLinks:
    """The links of records of all tenants. `brought`: ids that stand here as this same import has them."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    def settled(
        self, record: Record, current: Record | None, on_conflict: OnConflict, brought: Set[str]
    ) -> Record:
        """The record with those links that may hold, over `current`. Raises StoreUnavailable."""
        live = self._live(record, brought)
        newer = {memory_id for memory_id, memory in live.items() if memory.revision > record.revision}
        members = {member.id for member in record.consolidated_reads}
        if isinstance(record, Memory):
            # Every reader looks at the members of a merged memory by itself.
            return _without(record, newer - members)
        taken = live.keys() - newer if on_conflict is OnConflict.OVERWRITE else set[str]()
        left = live.keys() - taken
        stub = _without(record, left | members if left & members else left)
        if isinstance(current, Memory) or set(stub.supersedes) & taken:
            return replace(stub, forgotten_at=max(self._clock.now(), record.forgotten_at))
        return stub

    def check_members(self, record: Record, brought: Set[str], *, dry_run: bool) -> None:
        """Raises InvalidArgument: a merged memory of which a member is not here as it was read."""
        if not isinstance(record, Memory) or not record.consolidated_reads:
            return
        reads = {member.id: member for member in record.consolidated_reads}
        for memory_id, standing in self._ledger.read_many(record.tenant, tuple(reads)).items():
            now = standing.record if standing is not None else None
            if dry_run and now is None and memory_id in brought:
                continue
            if standing_of(reads[memory_id], now) is not Standing.AS_READ:
                raise InvalidArgument(
                    f"consolidated_reads: {memory_id} is not here as this memory was merged from it; "
                    "import it too, or leave this one out: what is merged is no statement of its own.",
                    field="consolidated_reads",
                    limit="ids of memories that are here as they were read",
                    got=memory_id,
                )

    def _live(self, record: Record, brought: Set[str]) -> dict[str, Memory]:
        """What the record would hide and did not hide before."""
        wanted = tuple(older for older in record.supersedes if older not in brought)
        found = self._ledger.read_many(record.tenant, wanted) if wanted else {}
        return {
            memory_id: standing.record
            for memory_id, standing in found.items()
            if standing is not None
            and isinstance(standing.record, Memory)
            and record.id not in standing.record.superseded_by
        }


def _without(record: _R, ids: Set[str]) -> _R:
    return (
        replace(record, supersedes=tuple(older for older in record.supersedes if older not in ids))
        if ids
        else record
    )
