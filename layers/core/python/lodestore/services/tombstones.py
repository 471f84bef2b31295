"""Tombstones: copies of stubs, so that the forgotten can be listed without reading every memory.

Owns: `tombstones/`. Guarantees: a copy never replaces one of a higher revision.
Gives up: being there at once. The stub at the memory's own key is the truth; upkeep writes a missing copy.
"""

from __future__ import annotations

from lodestore.domain import limits
from lodestore.domain.memory import Stub
from lodestore.format import keys
from lodestore.format.records import InvalidRecord, decode_record, encode_record
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable, Won

_TRIES = 8


class Tombstones:
    """The copies of one state bucket."""

    def __init__(self, state: ObjectStore, meter: Meter) -> None:
        self._state = state
        self._meter = meter

    def ids(self, tenant: str) -> frozenset[str]:
        """The ids that have a copy. Raises StoreUnavailable."""
        found = (
            keys.parse_tombstone(entry.key)
            for page in self._state.list(keys.tombstones_of(tenant))
            for entry in page.entries
        )
        return frozenset(name.id for name in found if name is not None)

    def read(self, tenant: str, memory_id: str) -> Stub | None:
        """The copy; None where there is none, or what is there is no stub. Raises StoreUnavailable."""
        try:
            found = self._state.get(keys.tombstone(tenant, memory_id), max_bytes=limits.OBJECT_BYTES)
            record = decode_record(found.body, tenant, memory_id) if isinstance(found, Found) else None
        except (InvalidRecord, ObjectTooLarge):
            self._meter.count("tombstone_quarantined")
            return None
        return record if isinstance(record, Stub) else None

    def copy(self, stub: Stub) -> None:
        """Write the stub's copy by compare-and-swap. Never raises: a copy that fails is counted, and swept later."""
        key, body = keys.tombstone(stub.tenant, stub.id), encode_record(stub)
        try:
            for _ in range(_TRIES):
                if isinstance(self._state.create(key, body), Won):
                    return
                standing = self._state.get(key, max_bytes=limits.OBJECT_BYTES)
                if isinstance(standing, Found):
                    if _revision(standing, stub) >= stub.revision:
                        return
                    if isinstance(self._state.replace(key, body, expected=standing.etag), Won):
                        return
        except (StoreUnavailable, ObjectTooLarge):
            pass
        self._meter.count("tombstone_not_copied")


def _revision(found: Found, stub: Stub) -> str:
    try:
        return decode_record(found.body, stub.tenant, stub.id).revision
    except InvalidRecord:
        return ""
