"""Undo records as stored.

Owns: `undo/`. Guarantees: a record is there before what it undoes is done; it is written once, and once more when it is
undone, by compare-and-swap. Gives up: an object that is no record; it is counted and left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from lodestore.domain.undo_record import UndoRecord
from lodestore.errors import Unavailable
from lodestore.format import keys
from lodestore.format.undo_records import InvalidUndo, decode_undo, encode_undo
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable, Won

UNDO_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class StoredUndo:
    """A record, and the ETag that a replacement must name."""

    record: UndoRecord
    etag: str


class UndoLog:
    """The undo records of all tenants."""

    def __init__(self, index: ObjectStore, meter: Meter) -> None:
        self._index = index
        self._meter = meter

    def get(self, tenant: str, undo_id: str) -> StoredUndo | None:
        """One record; None where there is none that can be read. Raises Unavailable."""
        try:
            found = self._index.get(keys.undo(tenant, undo_id), max_bytes=UNDO_BYTES)
            if not isinstance(found, Found):
                return None
            return StoredUndo(decode_undo(found.body, tenant, undo_id), found.etag)
        except (InvalidUndo, ObjectTooLarge):
            self._meter.count("undo_quarantined")
            return None
        except StoreUnavailable:
            raise Unavailable("The store did not answer a read.") from None

    def is_empty(self, tenant: str) -> bool:
        """Whether nothing was ever merged or decided: one page of a listing. Raises Unavailable."""
        try:
            return not any(page.entries for page in islice(self._index.list(keys.undo_of(tenant)), 1))
        except StoreUnavailable:
            raise Unavailable("The store did not answer a listing.") from None

    def ensure(self, record: UndoRecord) -> UndoRecord:
        """Store it where none is; what stands there then. Raises Unavailable: nothing may be done without one."""
        try:
            outcome = self._index.create(keys.undo(record.tenant, record.id), encode_undo(record))
        except StoreUnavailable:
            raise Unavailable("The store did not take the undo record; nothing was done.") from None
        if isinstance(outcome, Won):
            return record
        standing = self.get(record.tenant, record.id)
        if standing is None:
            raise Unavailable("The store did not take the undo record; nothing was done.")
        return standing.record

    def replace(self, stored: StoredUndo, record: UndoRecord) -> bool:
        """Put `record` over what was read; whether it stands. Raises Unavailable."""
        try:
            key = keys.undo(record.tenant, record.id)
            if isinstance(self._index.replace(key, encode_undo(record), expected=stored.etag), Won):
                return True
        except StoreUnavailable:
            raise Unavailable("The store did not take the undo record.", written=True) from None
        now = self.get(record.tenant, record.id)
        return now is not None and now.record == record
