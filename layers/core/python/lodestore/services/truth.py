"""The truth of many ids at once: each read, decoded, or said to be missing or invalid.

Owns: reading memory objects in bulk for the index and the tail. Guarantees: bounded side by side; an object that is no
record for its key is quarantined and counted, never taken for absent. Gives up: consistency between ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass

from lodestore.domain import limits
from lodestore.domain.memory import Record
from lodestore.format import keys
from lodestore.format.records import InvalidRecord, decode_record
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, NotModified, ObjectStore, ObjectTooLarge


@dataclass(frozen=True, slots=True)
class Read:
    """What stands at an id's key. `record` None with an ETag: it is no record; without: nothing stands there.

    flaw   why it is no record; "" where it is one or nothing stands there
    """

    record: Record | None
    etag: str | None
    flaw: str = ""

    @property
    def invalid(self) -> bool:
        """Whether something stands there that is no record."""
        return self.record is None and self.etag is not None


class Truth:
    """Reads of one state bucket."""

    def __init__(self, state: ObjectStore, *, workers: Executor, meter: Meter) -> None:
        self._state = state
        self._workers = workers
        self._meter = meter

    def read_many(
        self, tenant: str, memory_ids: Iterable[str], known: Mapping[str, Read] | None = None
    ) -> dict[str, Read]:
        """The truth of each id, side by side; `known` saves the bytes of those that did not change.

        Raises StoreUnavailable.
        """
        wanted = tuple(dict.fromkeys(memory_ids))
        before = known or {}
        answers = self._workers.map(
            lambda memory_id: self.read(tenant, memory_id, before.get(memory_id)), wanted
        )
        return dict(zip(wanted, answers, strict=True))

    def read(self, tenant: str, memory_id: str, known: Read | None = None) -> Read:
        """The truth of one id. Raises StoreUnavailable."""
        etag = known.etag if known is not None and known.record is not None else None
        try:
            found = self._state.get(
                keys.memory(tenant, memory_id), known_etag=etag, max_bytes=limits.OBJECT_BYTES
            )
        except ObjectTooLarge:
            self._meter.count("record_quarantined")
            return Read(None, "too large", "larger than any record")
        if isinstance(found, NotModified) and known is not None:
            return known
        if not isinstance(found, Found):
            return Read(None, None)
        try:
            return Read(decode_record(found.body, tenant, memory_id), found.etag)
        except InvalidRecord as why:
            self._meter.count("record_quarantined")
            return Read(None, found.etag, str(why))

    def ids(self, tenant: str) -> Iterator[str]:
        """The id of everything under the tenant's memories, page by page. Raises StoreUnavailable."""
        for page in self._state.list(keys.memories_of(tenant)):
            for entry in page.entries:
                name = keys.parse_memory(entry.key)
                if name is None:
                    self._meter.count("foreign_object_skipped")
                else:
                    yield name.id
