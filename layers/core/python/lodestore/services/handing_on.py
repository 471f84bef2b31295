"""Handing on: what a merged memory leaves to its members when it goes.

Owns: what a person set in a merged memory that goes since a member is forgotten: the newest of the members that stand
gets it (P-NO-LOST-UPDATE), before the merged one goes. Guarantees: nothing that only the forgotten member said is
handed on (P-FORGOTTEN): of the tags only those that a person gave; safe to repeat. Gives up: fields set in a summary,
which none of its events stands for.
"""

from __future__ import annotations

from typing import Final

from lodestore.domain.consolidation import is_taken_over
from lodestore.domain.memory import Memory, MemoryType, Record
from lodestore.domain.statement import Fields, revised, with_fields
from lodestore.errors import Unavailable
from lodestore.ports.clock import Clock
from lodestore.services.ledger import Displaced, Ledger, Standing
from lodestore.services.old_versions import OldVersions

_TRIES: Final = 16


class HandingOn:
    """The handing on of all tenants."""

    def __init__(self, ledger: Ledger, versions: OldVersions, clock: Clock) -> None:
        self._ledger = ledger
        self._versions = versions
        self._clock = clock

    def run(self, merged: Memory) -> None:
        """Before `merged` goes. Raises StoreUnavailable, Unavailable."""
        if not is_taken_over(merged) or merged.type is MemoryType.SUMMARY:
            return
        found = self._ledger.read_many(merged.tenant, merged.consolidated_from).values()
        standing = [stands for stands in found if stands is not None and isinstance(stands.record, Memory)]
        if standing:
            heir = max(standing, key=lambda stands: (_memory(stands).holds_from, stands.record.id))
            self._give(merged, heir)

    def _give(self, merged: Memory, heir: Standing) -> None:
        first = next((older for older in self._versions.every(merged) if not is_taken_over(older)), None)
        current: Standing | None = heir
        for _ in range(_TRIES):
            if current is None or not isinstance(current.record, Memory):
                return
            memory = current.record
            altered, changed = with_fields(memory, _set_by_a_person(merged, first, memory))
            if not changed:
                self._ledger.ensure_marked(merged.tenant, memory.id, memory.revision)
                return

            def draft(revision: str, altered: Memory = altered, over: Memory = memory) -> Record:
                return revised(altered, over=over, revision=revision, now=self._clock.now())

            result = self._ledger.write(merged.tenant, memory.id, current, draft)
            if not isinstance(result, Displaced):
                return
            current = result.current
        raise Unavailable("Too many writers at once on a member; what a person set is not handed on yet.")


def _set_by_a_person(merged: Memory, first: Memory | None, heir: Memory) -> Fields:
    """What differs from the merged memory as it was made; where that is not kept, all but the tags."""
    added = () if first is None else tuple(tag for tag in merged.tags if tag not in first.tags)
    return Fields(
        pinned=merged.pinned or None,
        importance=merged.importance if first is None or merged.importance != first.importance else None,
        metadata=dict(merged.metadata) if first is None or merged.metadata != first.metadata else None,
        category=merged.category if first is None or merged.category != first.category else None,
        type=merged.type if first is None or merged.type is not first.type else None,
        expires_at=merged.expires_at if first is None or merged.expires_at != first.expires_at else None,
        tags=tuple(dict.fromkeys([*heir.tags, *added])) if added else None,
    )


def _memory(standing: Standing) -> Memory:
    assert isinstance(standing.record, Memory)
    return standing.record
