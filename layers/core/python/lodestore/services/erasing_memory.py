"""Erasing one memory for good, without waiting for the forget window.

Owns: the order: stub, index, old versions, segments, counts. Guarantees: the stub stays, so nothing brings the memory
back (P-FORGOTTEN); what is gone is looked at anew, not remembered. Safe to repeat from any point.
Gives up: a retired segment's object, for readers of an older manifest; it goes 70 minutes later.
"""

from __future__ import annotations

from dataclasses import dataclass

from lodestore.domain.memory import Memory
from lodestore.format import keys
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import ObjectStore, StoreUnavailable
from lodestore.services.purging import Purging
from lodestore.services.removing import Removal, Removing
from lodestore.services.sleeping import Sleeping
from lodestore.services.truth import Truth
from lodestore.services.upkeep_steps import FOLD, INDEX, PURGE
from lodestore.services.vector_filling import EngineFailed
from lodestore.services.vector_sweeping import VectorSweeping
from lodestore.services.withdrawing import Withdrawing

REASON = "erased"
BY = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedMemory:
    """How one memory stands. `gone`: no memory, no old version and no vector is there; `versions` old ones went now."""

    gone: bool
    old_versions: int
    vectors: int = 0
    versions: int = 0
    steps_complete: bool = True


class ErasingMemory:
    """Erasures of single memories."""

    def __init__(
        self,
        state: ObjectStore,
        truth: Truth,
        removing: Removing,
        withdrawing: Withdrawing,
        purging: Purging,
        sleeping: Sleeping,
        vectors: VectorSweeping | None,
        clock: Clock,
    ) -> None:
        self._state = state
        self._truth = truth
        self._removing = removing
        self._withdrawing = withdrawing
        self._purging = purging
        self._sleeping = sleeping
        self._vectors = vectors
        self._clock = clock

    def is_known(self, tenant: str, memory_id: str) -> bool:
        """Whether anything stands at the id's key. Raises StoreUnavailable."""
        return self._truth.read(tenant, memory_id).etag is not None

    def look(self, tenant: str, memory_id: str) -> ErasedMemory:
        """How it stands. Raises StoreUnavailable."""
        key = keys.memory(tenant, memory_id)
        old = sum(version.key == key and not version.latest for version in self._state.versions(key))
        read = self._truth.read(tenant, memory_id)
        vectors = self._vectors_of(tenant, memory_id)
        gone = not isinstance(read.record, Memory) and not read.invalid and not old and not vectors
        return ErasedMemory(gone=gone, old_versions=old, vectors=vectors)

    def run(self, tenant: str, memory_id: str) -> ErasedMemory:
        """Erase it. Raises StoreUnavailable, Unavailable."""
        record = self._truth.read(tenant, memory_id).record
        members = [] if record is None else [member.id for member in record.consolidated_reads]
        self._removing.remove_with_members(
            tenant, memory_id, Removal(REASON, BY, self._clock.now()), lambda _: True
        )
        # What it was merged into holds its words, what it was merged from the same; both go now, not with the window.
        merged = self._withdrawing.run(tenant)
        purged = self._purging.run_one(tenant, memory_id)
        for other in {*members, *merged.ids, *merged.forgotten}:
            self._purging.run_one(tenant, other)
        old = self._purging.run_merged_from(tenant, memory_id)
        slept = self._sleeping.run(tenant, frozenset({INDEX, PURGE, FOLD}))
        stands = self.look(tenant, memory_id)
        return ErasedMemory(
            gone=stands.gone,
            old_versions=stands.old_versions,
            vectors=stands.vectors,
            versions=purged.versions + old.versions,
            steps_complete=slept.report.complete,
        )

    def _vectors_of(self, tenant: str, memory_id: str) -> int:
        try:
            return 0 if self._vectors is None else self._vectors.vectors_of(tenant, memory_id)
        except EngineFailed:
            raise StoreUnavailable("the vector engine did not answer") from None
