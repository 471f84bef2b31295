"""Whether anything of a tenant changed since its last whole sleep, told by two listings.

Owns: `index/<tenant>/slept/<digest>`, an empty object whose name is what the listings then showed. Guarantees: an
object of the truth, the manifest or a segment that was put, replaced or removed since, by whomever, is a change; so is
another model, or a step that was switched on or off (`off`: those that were). An unchanged tenant of up to 1,000
memories costs two requests, and a page more for each 1,000.
Gives up: tombstones taken away by hand; they are written again with the next change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping

from lodestore.format import keys
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import ObjectStore, StoreUnavailable


class Unchanged:
    """The notes of all tenants. `model`: whose vectors this process makes."""

    def __init__(self, state: ObjectStore, index: ObjectStore, meter: Meter, *, model: str | None) -> None:
        self._state = state
        self._index = index
        self._meter = meter
        self._model = model

    def holds(self, tenant: str, off: Collection[str] = ()) -> bool:
        """Whether all is as the last whole sleep left it. Raises StoreUnavailable."""
        indexed, noted = self._index_listing(tenant)
        if not noted:
            return False
        objects = {
            name.id: entry.etag
            for page in self._state.list(keys.memories_of(tenant))
            for entry in page.entries
            if (name := keys.parse_memory(entry.key)) is not None
        }
        return self._digest(objects, indexed, off) in noted

    def note(self, tenant: str, objects: Mapping[str, str], off: Collection[str] = ()) -> None:
        """Note that a whole sleep saw these objects (id to ETag) and left the index as it is. Never raises."""
        try:
            indexed, noted = self._index_listing(tenant)
            digest = self._digest(objects, indexed, off)
            if digest not in noted:
                self._index.create(keys.slept(tenant, digest), b"")
            for old in noted - {digest}:
                self._index.delete(keys.slept(tenant, old))
        except StoreUnavailable:
            self._meter.count("sleep_not_noted")

    def _index_listing(self, tenant: str) -> tuple[dict[str, str], frozenset[str]]:
        """Key to ETag of the manifest and the segments, and the digests that are noted."""
        entries = {
            entry.key: entry.etag
            for page in self._index.list(keys.index_of(tenant))
            for entry in page.entries
        }
        noted = {key: digest for key in entries if (digest := keys.parse_slept(key)) is not None}
        return {key: etag for key, etag in entries.items() if key not in noted}, frozenset(noted.values())

    def _digest(self, objects: Mapping[str, str], indexed: Mapping[str, str], off: Collection[str]) -> str:
        digest = hashlib.sha256(f"{self._model} {' '.join(sorted(off))}\n".encode())
        for part in (objects, indexed):
            for line in _lines(part):
                digest.update(line)
            digest.update(b"\n")
        return digest.hexdigest()


def _lines(part: Mapping[str, str]) -> Iterable[bytes]:
    return (f"{name} {etag}\n".encode() for name, etag in sorted(part.items()))
