"""Records held in memory between calls, by ETag.

Owns: the only cache of records an instance has. Guarantees: what is held is used only where the store's listing shows
the same ETag, so a stale record is never an answer; bounded, least recently used tenants go first.
Gives up: surviving the process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from lodestore.domain.memory import Record
from lodestore.retrieval.bm25 import TermCounts
from lodestore.services.rows import terms_of

RECORDS_HELD = 200_000


@dataclass(frozen=True, slots=True)
class Held:
    """One object as last read. `record` None: it is no record for its key. `terms` None: it has no text."""

    etag: str
    record: Record | None
    terms: TermCounts | None

    @classmethod
    def of(cls, etag: str, record: Record | None) -> Held:
        """The record with its terms counted."""
        return cls(etag, record, None if record is None else terms_of(record))


class HeldRecords:
    """Tenant to id to `Held`. Thread-safe."""

    def __init__(self, most: int = RECORDS_HELD) -> None:
        self._most = most
        self._tenants: OrderedDict[str, dict[str, Held]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, tenant: str) -> dict[str, Held]:
        """A copy of what is held of a tenant."""
        with self._lock:
            return dict(self._tenants.get(tenant, {}))

    def some(self, tenant: str, memory_ids: Iterable[str]) -> dict[str, Held]:
        """Those of these ids that are held."""
        with self._lock:
            held = self._tenants.get(tenant, {})
            return {memory_id: held[memory_id] for memory_id in memory_ids if memory_id in held}

    def latest(self, tenant: str, most: int) -> list[Held]:
        """Those of a tenant that were taken in last, at most `most`, latest first."""
        with self._lock:
            return list(islice(reversed(self._tenants.get(tenant, {}).values()), most))

    def put(self, tenant: str, memory_id: str, held: Held) -> None:
        """Take in one record."""
        with self._lock:
            records = self._tenants.setdefault(tenant, {})
            records.pop(memory_id, None)
            records[memory_id] = held
            self._touch(tenant)

    def replace(self, tenant: str, records: Mapping[str, Held]) -> None:
        """Take in a whole view; ids that are not in it are dropped."""
        with self._lock:
            self._tenants[tenant] = dict(records)
            self._touch(tenant)

    def _touch(self, tenant: str) -> None:
        self._tenants.move_to_end(tenant)
        while len(self._tenants) > 1 and sum(map(len, self._tenants.values())) > self._most:
            self._tenants.popitem(last=False)
