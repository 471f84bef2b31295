"""Levels of use as last folded, for who builds an index anew.

Owns: reading them alone. Guarantees: what `fold_counts` made the index show, so that a rebuild shows the same
(P-TRUTH); a snapshot that can't be read says nothing, is counted and stops nobody. Gives up: what is not folded yet.
"""

from __future__ import annotations

from lodestore.domain.counters import with_all_levels
from lodestore.domain.moments import milliseconds
from lodestore.domain.use_levels import Levels
from lodestore.format import keys
from lodestore.format.counts import InvalidCounts, decode_snapshot
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge

SNAPSHOT_BYTES = 64 * 1_048_576


class FoldedLevels:
    """The levels of all tenants."""

    def __init__(self, index: ObjectStore, meter: Meter) -> None:
        self._index = index
        self._meter = meter

    def read(self, tenant: str) -> Levels:
        """Levels by id. Raises StoreUnavailable."""
        try:
            found = self._index.get(keys.counts_snapshot(tenant), max_bytes=SNAPSHOT_BYTES)
            if not isinstance(found, Found):
                return {}
            return with_all_levels(decode_snapshot(found.body), milliseconds(found.last_modified)).levels
        except (InvalidCounts, ObjectTooLarge):
            self._meter.count("counts_quarantined")
            return {}
