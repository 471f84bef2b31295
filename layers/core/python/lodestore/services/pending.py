"""Markers: which ids changed to which revisions, as one listing shows it.

Owns: reading `pending/`. Guarantees: all pages, so no marker is passed over; other keys are counted.
Gives up: order between ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime

from lodestore.format import keys
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import ObjectStore, StoreUnavailable


@dataclass(frozen=True, slots=True)
class SeenMarker:
    """One marker; `stored_at` is the store's LastModified."""

    id: str
    revision: str
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class PendingList:
    """All markers of a tenant; `at` is the store's clock at the last page."""

    markers: tuple[SeenMarker, ...]
    at: datetime

    def highest(self) -> Mapping[str, str]:
        """Id to the highest revision that a marker names."""
        highest: dict[str, str] = {}
        for marker in self.markers:
            highest[marker.id] = max(marker.revision, highest.get(marker.id, ""))
        return highest


class Pending:
    """The markers of all tenants."""

    def __init__(self, index: ObjectStore, *, workers: Executor, meter: Meter) -> None:
        self._index = index
        self._workers = workers
        self._meter = meter

    def list(self, tenant: str) -> PendingList:
        """Every marker of the tenant. Raises StoreUnavailable."""
        markers: list[SeenMarker] = []
        at: datetime | None = None
        for page in self._index.list(keys.pending_of(tenant)):
            at = page.at
            for entry in page.entries:
                marker = keys.parse_pending(entry.key)
                if marker is None:
                    self._meter.count("foreign_object_skipped")
                else:
                    markers.append(SeenMarker(marker.id, marker.revision, entry.last_modified))
        assert at is not None, "a listing has at least one page"
        return PendingList(tuple(markers), at)

    def delete(self, tenant: str, markers: Iterable[SeenMarker]) -> int:
        """Remove markers side by side; how many went. What fails is counted, and left to a later run."""
        return sum(self._workers.map(lambda marker: self._delete(tenant, marker), markers))

    def _delete(self, tenant: str, marker: SeenMarker) -> bool:
        try:
            self._index.delete(keys.pending(tenant, marker.revision, marker.id))
        except StoreUnavailable:
            self._meter.count("marker_left_behind")
            return False
        return True
