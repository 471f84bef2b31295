"""What a memory said before: its kept versions, back to when it was last stored anew.

Owns: reading old versions of a memory that stands. Guarantees: nothing from before it was last forgotten or stored anew
is among them (P-FORGOTTEN), and nothing of another conversation. Bounded per memory.
Gives up: what the store does not keep, and what lies behind a version that can't be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from lodestore.domain import limits
from lodestore.domain.member import Standing, standing_of
from lodestore.domain.memory import Memory
from lodestore.errors import Unavailable
from lodestore.format import keys
from lodestore.format.records import InvalidRecord, decode_record
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable
from lodestore.services.truth import Truth

VERSIONS_READ = 50
# For a question about one time, of each memory found.
VERSIONS_READ_FOR_A_HIT = 20


class OldVersions:
    """Old versions of the memories of all tenants."""

    def __init__(self, state: ObjectStore, truth: Truth) -> None:
        self._state = state
        self._truth = truth

    def before(self, memory: Memory, most: int = VERSIONS_READ) -> Iterator[Memory]:
        """Its earlier states, newest first, as kept; of at most so many versions. Raises StoreUnavailable.

        They end at one that was merged from a memory that does not stand as it was read: its words may be forgotten.
        """
        for older in self.every(memory, most):
            if not self._is_founded(older):
                return
            yield older

    def every(self, memory: Memory, most: int = VERSIONS_READ) -> Iterator[Memory]:
        """The same, whatever became of what they were merged from. For upkeep; never to be shown."""
        key = keys.memory(memory.tenant, memory.id)
        of_key = (version for version in self._state.versions(key) if version.key == key)
        for version in islice(of_key, most):
            older = self._read(memory, key, version.version_id)
            if older is None or older.created_at != memory.created_at:
                return
            if older.revision < memory.revision:
                yield older

    def at(self, memory: Memory, moment: datetime) -> Memory | None:
        """The state that stood at that time; None where it is not kept, or was not stored yet. Raises Unavailable."""
        try:
            states = self.before(memory, VERSIONS_READ_FOR_A_HIT)
            return next((older for older in states if older.updated_at <= moment), None)
        except StoreUnavailable:
            raise Unavailable("The store did not answer a read.") from None

    def _is_founded(self, memory: Memory) -> bool:
        truth = self._truth.read_many(memory.tenant, (member.id for member in memory.consolidated_reads))
        return all(
            standing_of(member, truth[member.id].record) is Standing.AS_READ
            for member in memory.consolidated_reads
        )

    def _read(self, memory: Memory, key: str, version_id: str) -> Memory | None:
        try:
            found = self._state.get_version(key, version_id, max_bytes=limits.OBJECT_BYTES)
            record = decode_record(found.body, memory.tenant, memory.id) if isinstance(found, Found) else None
        except (InvalidRecord, ObjectTooLarge):
            return None
        return record if isinstance(record, Memory) else None
